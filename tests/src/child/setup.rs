//! What a host is started with: its folder, `wonce.toml`, the probe handler and its manifest.

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use tempfile::TempDir;

use super::database::{BUSINESS, Database};
use super::pooler::Pooler;
use crate::target;

/// One host's folder. A host that is started again from it is the same host.
#[derive(Debug)]
pub struct Setup {
    folder: TempDir,
    /// The table `[database]`.
    database: String,
    receiver: SocketAddr,
    /// None: the handler is deployed while hosts run.
    component: Option<PathBuf>,
    /// More tables.
    more: String,
}

impl Setup {
    /// A host on this database whose sink `out` is this receiver.
    #[must_use]
    pub fn new(database: &Database, receiver: SocketAddr) -> Self {
        Self::with(format!("url = \"{}\"", database.url), receiver)
    }

    /// A host that makes and runs its own Postgres, from the programs of `WONCE_PG_BIN` if it is set.
    #[must_use]
    pub fn with_private_postgres(receiver: SocketAddr) -> Self {
        let bin_dir = std::env::var("WONCE_PG_BIN").ok();
        let bin_dir = bin_dir.map(|bin| format!("embedded.bin_dir = \"{bin}\""));
        let setup = Self::with(bin_dir.unwrap_or_default(), receiver);
        // The account that runs Postgres passes through.
        let passable = fs::Permissions::from_mode(0o711);
        for folder in [setup.folder.path(), &setup.folder.path().join("data")] {
            fs::set_permissions(folder, passable.clone()).expect("a folder of ours");
        }
        setup
    }

    fn with(database: String, receiver: SocketAddr) -> Self {
        let folder = tempfile::Builder::new().prefix("wonce-host-").tempdir().expect("a folder");
        target::share_compiled(folder.path());
        let component = Some(target::component("probe"));
        let setup = Self { folder, database, receiver, component, more: String::new() };
        setup.write();
        setup.write_manifest("");
        setup
    }

    /// With everything but invocations by way of a pooler.
    #[must_use]
    pub fn through(mut self, pooler: &Pooler) -> Self {
        let direct = self.database.replacen("url", "direct_url", 1);
        self.database = format!("url = \"{}\"\n{direct}", pooler.url);
        self.write();
        self
    }

    /// With only invocations by way of a pooler, which nobody should do.
    #[must_use]
    pub fn invoking_through(mut self, pooler: &Pooler) -> Self {
        self.database = format!("{}\ndirect_url = \"{}\"", self.database, pooler.url);
        self.write();
        self
    }

    /// With deliveries in order by a member of the payload.
    #[must_use]
    pub fn ordered_by(self, pointer: &str) -> Self {
        self.write_manifest(&format!("order_by = [\"{pointer}\"]"));
        self
    }

    /// With more tables, such as `[alert]`, or other keys of the handler's.
    #[must_use]
    pub fn tables(mut self, text: &str) -> Self {
        self.more.push_str(text);
        self.write();
        self
    }

    /// Without them again.
    #[must_use]
    pub fn without_tables(mut self) -> Self {
        self.more.clear();
        self.write();
        self
    }

    /// With another version of the handler: the same component and one more custom section.
    #[must_use]
    pub fn with_another_version(mut self) -> Self {
        let mut component = fs::read(target::component("probe")).expect("`make plugins` built it");
        component.extend_from_slice(b"\x00\x08\x07another");
        let path = self.folder.path().join("another.wasm");
        fs::write(&path, component).expect("written");
        self.component = Some(path);
        self.write();
        self
    }

    /// With the operator's part of the handler only.
    #[must_use]
    pub fn without_component(mut self) -> Self {
        self.component = None;
        self.write();
        self
    }

    /// Where a private Postgres is.
    #[must_use]
    pub fn postgres(&self) -> PathBuf {
        self.folder.path().join("data/postgres")
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
        // Where the database is a test's own, it has these tables already.
        fs::write(self.folder.path().join("schema.sql"), BUSINESS).expect("written");
    }

    fn write(&self) {
        let text = format!(
            r#"data_dir = "data"
[database]
{database}
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
{component}
setup = "schema.sql"
retry = {{ first = "20ms", ceiling = "100ms", jitter = "10ms", max_attempts = 5 }}
limits = {{ deadline = "60s" }}
[handlers.probe.tables]
"app.entry" = ["select", "insert", "update"]
"app.gate" = ["select", "insert"]
[log]
format = "json"
{more}
"#,
            database = self.database,
            receiver = self.receiver,
            more = self.more,
            component = self.component.as_ref().map_or_else(String::new, |path| {
                format!("component = {path:?}\nmanifest = \"handler.toml\"")
            }),
        );
        fs::write(self.file(), text).expect("written");
    }
}
