//! A plugin's file: one WebAssembly component that carries its own `handler.toml`. Takes it apart,
//! puts it together, and says everything that keeps it from running, in one report. Knows nothing of
//! hosts, databases or what is deployed.

use std::collections::BTreeMap;
use std::fmt;

use sha2::{Digest, Sha256};
use wonce_api::plugin::{Import, Inspection};
use wonce_core::digest::{hex, version};
pub use wonce_wasm::Sandbox;
use wonce_wasm::{Kind, LoadError, MAX_COMPONENT_BYTES, Outside, Prepared, Settings, with_manifest};

use crate::config::manifest::{self, Manifest};

/// What a file's manifest is called in reports.
pub const MANIFEST_FILE: &str = "handler.toml";
/// The largest file, in bytes.
pub const MAX_BYTES: usize = MAX_COMPONENT_BYTES;

/// A file that can run on this host: checked, compiled and tried out.
#[derive(Debug)]
pub struct Plugin {
    /// The whole file, manifest included.
    pub component: Vec<u8>,
    pub manifest: Manifest,
    /// Byte for byte.
    pub manifest_text: String,
    pub prepared: Prepared,
}

impl Plugin {
    /// The name of the version that it is, when nothing is set for it.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        version(&self.component, &self.manifest_text, &BTreeMap::new())
    }
}

/// Why a file does not run here: every reason, each with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// The file or the handler.
    pub subject: String,
    /// Never empty.
    pub reasons: Vec<String>,
}

impl std::error::Error for Unfit {}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is refused:", self.subject)?;
        self.reasons.iter().try_for_each(|reason| write!(f, "\n  - {reason}"))
    }
}

/// Why there is no plugin.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The host's own fault: another try may work.
    #[error("{0}")]
    Host(String),
}

/// A sandbox that only looks: one slot, and nothing kept.
///
/// # Errors
/// When the system gives no address space.
pub fn looking_sandbox() -> Result<Sandbox, Error> {
    let settings = Settings { slots: 1, ..Settings::default() };
    Sandbox::new(settings).map_err(|error| Error::Host(error.to_string()))
}

/// The file with this manifest in it; without one, with the one that it carries already.
#[must_use]
pub fn packed(component: &[u8], manifest: Option<&[u8]>) -> Vec<u8> {
    match manifest {
        Some(manifest) if Outside::of(component).manifest.as_deref() == Some(manifest) => component.to_vec(),
        Some(manifest) => with_manifest(component, manifest),
        None => component.to_vec(),
    }
}

/// Checks the file and its manifest, compiles it and tries it out.
///
/// # Errors
/// With everything that is wrong with it.
pub async fn open(subject: &str, component: Vec<u8>, sandbox: &Sandbox) -> Result<Plugin, Error> {
    let (prepared, mut reasons) = prepared(&component, sandbox).await?;
    let text = manifest_text(&component);
    let read = text.and_then(|text| {
        let manifest = manifest::parse(MANIFEST_FILE, &text).map_err(|error| problems(&error))?;
        Ok((manifest, text))
    });
    match (prepared, read) {
        (Some(prepared), Ok((manifest, manifest_text))) => {
            Ok(Plugin { component, manifest, manifest_text, prepared })
        }
        (_, read) => {
            reasons.extend(read.err().unwrap_or_default());
            Err(Unfit { subject: subject.to_owned(), reasons }.into())
        }
    }
}

async fn prepared(component: &[u8], sandbox: &Sandbox) -> Result<(Option<Prepared>, Vec<String>), Error> {
    match sandbox.prepare(component).await {
        Ok(prepared) => Ok((Some(prepared), Vec::new())),
        Err(LoadError::Refused(refusal)) => {
            Ok((None, refusal.reasons.iter().map(ToString::to_string).collect()))
        }
        Err(error @ LoadError::Host { .. }) => Err(Error::Host(error.to_string())),
    }
}

/// Nothing is said of a manifest that cannot be looked for.
fn manifest_text(component: &[u8]) -> Result<String, Vec<String>> {
    let outside = Outside::of(component);
    match outside.manifest {
        Some(bytes) => String::from_utf8(bytes)
            .map_err(|_| vec![format!("its {MANIFEST_FILE} is not UTF-8: write it as plain text")]),
        None if outside.kind == Kind::Component && outside.broken.is_none() => Err(vec![format!(
            "it carries no {MANIFEST_FILE}: run `wonce plugin pack` with the manifest beside it"
        )]),
        None => Err(Vec::new()),
    }
}

/// Every mistake of a manifest in a line of its own.
#[must_use]
pub fn problems(error: &crate::config::Error) -> Vec<String> {
    let line = |problem: &crate::config::Problem| {
        let at = problem.line.map_or(String::new(), |line| format!(":{line}"));
        let key = if problem.key.is_empty() { String::new() } else { format!(" {}:", problem.key) };
        format!("{}{at}:{key} {}: {}", problem.file, problem.reason, problem.remedy)
    };
    error.problems().iter().map(line).collect()
}

/// Everything there is to say of a file, whatever it is.
///
/// # Errors
/// When the host itself fails.
pub async fn inspect(component: Vec<u8>, sandbox: &Sandbox) -> Result<Inspection, Error> {
    let outside = Outside::of(&component);
    let manifest = manifest_text(&component).ok();
    let read = manifest.as_deref().and_then(|text| manifest::parse(MANIFEST_FILE, text).ok());
    let mut inspection = Inspection {
        kind: outside.kind.as_str().to_owned(),
        bytes: component.len() as u64,
        sha256: hex(&Sha256::digest(&component)),
        version_digest: manifest
            .as_deref()
            .map(|manifest| hex(&version(&component, manifest, &BTreeMap::new()))),
        name: read.as_ref().map(|manifest| manifest.name.to_string()),
        version: read.map(|manifest| manifest.version),
        contract: manifest::CONTRACT.to_owned(),
        imports: outside.imports.iter().map(|name| import(name)).collect(),
        exports: outside.exports,
        built_with: outside.built_with.into_iter().collect(),
        manifest,
        refused: Vec::new(),
    };
    match open("it", component, sandbox).await {
        Ok(_) => {}
        Err(Error::Unfit(unfit)) => inspection.refused = unfit.reasons,
        Err(error @ Error::Host(_)) => return Err(error),
    }
    Ok(inspection)
}

fn import(name: &str) -> Import {
    Import { name: name.to_owned(), provided: wonce_wasm::provides(name) }
}
