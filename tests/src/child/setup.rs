//! What a host is started with: its folder, `wonce.toml`, the probe handler and its manifest.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;

use tempfile::TempDir;

use super::database::Database;
use crate::target;

/// One host's folder. A host that is started again from it is the same host.
#[derive(Debug)]
pub struct Setup {
    folder: TempDir,
    database_url: String,
    receiver: SocketAddr,
    component: PathBuf,
}

impl Setup {
    /// A host on this database whose sink `out` is this receiver.
    #[must_use]
    pub fn new(database: &Database, receiver: SocketAddr) -> Self {
        let folder = tempfile::Builder::new().prefix("wonce-host-").tempdir().expect("a folder");
        target::share_compiled(folder.path());
        let component = target::component("probe");
        let setup = Self { folder, database_url: database.url.clone(), receiver, component };
        setup.write();
        setup.write_manifest("");
        setup
    }

    /// With deliveries in order by a member of the payload.
    #[must_use]
    pub fn ordered_by(self, pointer: &str) -> Self {
        self.write_manifest(&format!("order_by = [\"{pointer}\"]"));
        self
    }

    /// With another version of the handler: the same component and one more custom section.
    #[must_use]
    pub fn with_another_version(mut self) -> Self {
        let mut component = fs::read(&self.component).expect("`make plugins` built it");
        component.extend_from_slice(b"\x00\x08\x07another");
        self.component = self.folder.path().join("another.wasm");
        fs::write(&self.component, component).expect("written");
        self.write();
        self
    }

    /// The configuration file.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("wonce.toml")
    }

    fn write_manifest(&self, order: &str) {
        let manifest = format!(
            "contract = \"wonce:handler@1.0.0\"\nname = \"probe\"\nversion = \"1.0.0\"\nemits = [\"out\"]\n\
             [[subscription]]\ntypes = [\"probe.*\"]\n{order}\n[settings]\ngreeting = \"hello\"\n"
        );
        fs::write(self.folder.path().join("handler.toml"), manifest).expect("written");
    }

    fn write(&self) {
        let text = format!(
            r#"data_dir = "data"
[database]
url = "{url}"
max_connections = 5
[http]
listen = "127.0.0.1:0"
[admin]
listen = "127.0.0.1:0"
[dispatch]
invocations = 8
poll_interval = "20ms"
drain = "60s"
[sinks.out]
kind = "http"
url = "http://{receiver}/effects"
timeout = "2s"
retry = {{ first = "20ms", ceiling = "200ms", jitter = "10ms", max_attempts = 100 }}
[handlers.probe]
component = "{component}"
manifest = "handler.toml"
retry = {{ first = "20ms", ceiling = "100ms", jitter = "10ms", max_attempts = 5 }}
limits = {{ deadline = "60s" }}
[handlers.probe.tables]
"app.entry" = ["select", "insert", "update"]
"app.gate" = ["select", "insert"]
[log]
format = "json"
"#,
            url = self.database_url,
            receiver = self.receiver,
            component = self.component.display(),
        );
        fs::write(self.file(), text).expect("written");
    }
}
