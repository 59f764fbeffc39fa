//! `wonce plugin pack` and `inspect`: what can be done with a file and no host.

use std::path::{Path, PathBuf};

use clap::Args;
use wonce_tui::text::visible_lines;

use crate::cli::render::{self, Paint};
use crate::cli::{Error, Finding, print};
use crate::plugin::{self, MANIFEST_FILE};

#[derive(Debug, Args)]
pub(in crate::cli) struct Pack {
    /// The component that the build made
    component: PathBuf,
    /// Its handler.toml [default: the one beside it, else the one that it carries]
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Where the packed file goes [default: NAME.plugin.wasm in this folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Inspect {
    /// Any .wasm
    file: PathBuf,
    /// Print the admin API's JSON document
    #[arg(long)]
    json: bool,
}

impl Pack {
    pub(in crate::cli) async fn run(self) -> Result<Finding, Error> {
        let component = read(&self.component)?;
        let manifest = self.manifest()?;
        let packed = plugin::packed(&component, manifest.as_deref());
        let subject = self.component.display().to_string();
        let opened = plugin::open(&subject, packed, &sandbox()?).await.map_err(unfit)?;
        let output = self.output.unwrap_or_else(|| format!("{}.plugin.wasm", opened.manifest.name).into());
        std::fs::write(&output, &opened.component).map_err(|error| {
            Error::File(format!(
                "cannot write \"{}\": {error}; name another place with --output",
                output.display()
            ))
        })?;
        let digest = wonce_core::digest::hex(&opened.digest());
        print(&format!(
            "{}: {} {} ({} bytes), version {digest}",
            output.display(),
            opened.manifest.name,
            opened.manifest.version,
            opened.component.len(),
        ))
    }

    fn manifest(&self) -> Result<Option<Vec<u8>>, Error> {
        let beside = self.component.with_file_name(MANIFEST_FILE);
        match &self.manifest {
            Some(named) => read(named).map(Some),
            None if beside.is_file() => read(&beside).map(Some),
            None => Ok(None),
        }
    }
}

impl Inspect {
    pub(in crate::cli) async fn run(self) -> Result<Finding, Error> {
        let inspection = plugin::inspect(read(&self.file)?, &sandbox()?).await.map_err(unfit)?;
        let page = if self.json {
            serde_json::to_string_pretty(&inspection).unwrap_or_default()
        } else {
            render::plugin::inspection(&self.file.display().to_string(), &inspection, Paint::of_stdout())
        };
        print(&page)?;
        Ok(if inspection.refused.is_empty() { Finding::Fine } else { Finding::Differs })
    }
}

/// The bytes of a file, if it can be one.
pub(in crate::cli) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let named = |reason: String| Error::File(format!("cannot read \"{}\": {reason}", path.display()));
    let size = std::fs::metadata(path).map_err(|error| named(error.to_string()))?.len();
    if size > plugin::MAX_BYTES as u64 {
        let limit = plugin::MAX_BYTES >> 20;
        let reason = format!(
            "it has {size} bytes, and a plugin has at most {limit} MiB; strip it, or build it for size"
        );
        return Err(named(reason));
    }
    std::fs::read(path).map_err(|error| named(error.to_string()))
}

fn sandbox() -> Result<plugin::Sandbox, Error> {
    plugin::looking_sandbox().map_err(unfit)
}

fn unfit(error: plugin::Error) -> Error {
    Error::File(visible_lines(&error.to_string()))
}
