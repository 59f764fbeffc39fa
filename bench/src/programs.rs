//! Where the programs and handlers under test are: beside the bench as cargo and `make` put them, or where the
//! flags say.

use std::path::{Path, PathBuf};

use anyhow::Context;

/// What the bench starts.
#[derive(Debug, Clone)]
pub(crate) struct Programs {
    /// The host.
    pub(crate) wonce: PathBuf,
    components: PathBuf,
    plugins: PathBuf,
}

impl Programs {
    /// Those that are named, and for the others those of the same build.
    pub(crate) fn find(
        wonce: Option<PathBuf>,
        components: Option<PathBuf>,
        plugins: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let me = std::env::current_exe().context("find the bench's own program")?;
        let target = me.ancestors().nth(2).context("find the target folder")?;
        let programs = Self {
            wonce: wonce.unwrap_or_else(|| me.with_file_name("wonce")),
            components: components.unwrap_or_else(|| target.join("plugins/wasm32-wasip2/release")),
            plugins: plugins.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")),
        };
        anyhow::ensure!(
            programs.wonce.is_file(),
            "there is no \"{}\"; build it with `cargo build --release -p wonce-host`, or name another with --wonce",
            programs.wonce.display()
        );
        Ok(programs)
    }

    /// What the host says of itself.
    pub(crate) async fn version(&self) -> anyhow::Result<String> {
        let output = tokio::process::Command::new(&self.wonce).arg("--version").output().await;
        let output = output.with_context(|| format!("run \"{}\"", self.wonce.display()))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// A handler's component.
    pub(crate) fn component(&self, handler: &str) -> anyhow::Result<PathBuf> {
        let names = [handler.to_owned(), handler.replace('-', "_")];
        let mut paths = names.iter().map(|name| self.components.join(format!("{name}.wasm")));
        let found = paths.find(|path| path.is_file()).with_context(|| {
            format!("there is no {handler}.wasm in \"{}\"; run `make plugins`", self.components.display())
        })?;
        found.canonicalize().with_context(|| format!("find \"{}\"", found.display()))
    }

    /// A handler's manifest.
    pub(crate) fn manifest(&self, handler: &str) -> anyhow::Result<String> {
        let path = self.plugins.join(handler).join("handler.toml");
        std::fs::read_to_string(&path).with_context(|| format!("read \"{}\"", path.display()))
    }
}
