//! From bytes to a version that can be invoked: check the outside, compile or take from the
//! cache, link, and try it out once. Knows nothing of handlers' names or of what is live.

mod trial;

use std::sync::Arc;

use sha2::{Digest, Sha256};
use wasmtime::component::Component;
use wonce_core::digest::hex;

use crate::bindings::HandlerPre;
use crate::cache::Cache;
use crate::known::KnownStatements;
use crate::report::{self, Reason, Refusal};
use crate::sandbox::Inner;
use crate::state::State;

/// The largest component, in bytes.
pub const MAX_COMPONENT_BYTES: usize = 64 << 20;
/// Slots of the pool that are kept for trials, so that a full house does not stop a deploy.
pub(crate) const TRIAL_SLOTS: u32 = 2;

/// A component that was checked, compiled and tried out; cheap to clone.
#[derive(Clone)]
pub struct Prepared(Arc<Version>);

struct Version {
    digest: [u8; 32],
    handler: HandlerPre<State>,
    statements: KnownStatements,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("digest", &hex(&self.0.digest)).finish_non_exhaustive()
    }
}

impl Prepared {
    /// SHA-256 of the component's bytes.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        self.0.digest
    }

    pub(crate) fn handler(&self) -> &HandlerPre<State> {
        &self.0.handler
    }

    /// What the guard has let through of it.
    pub(crate) fn statements(&self) -> &KnownStatements {
        &self.0.statements
    }
}

/// Why a component was not prepared.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The component's own fault; the text is a report of several lines.
    #[error("{0}")]
    Refused(Refusal),
    /// The host's: another try may work.
    #[error("component sha256:{digest} could not be prepared ({reason}); try again")]
    Host { digest: String, reason: String },
}

/// Prepares the bytes.
///
/// # Errors
/// As [`LoadError`] says.
pub(crate) async fn prepare(inner: &Arc<Inner>, bytes: &[u8]) -> Result<Prepared, LoadError> {
    let bytes: Arc<[u8]> = bytes.into();
    let (digest, cached) = match off_thread(inner, &bytes, look_up).await? {
        Err(LoadError::Refused(refusal)) if refusal.reasons.iter().all(Reason::is_of_names) => {
            let _turn = inner.compiles.acquire().await;
            return Err(
                off_thread(inner, &bytes, |inner, bytes| with_functions(inner, bytes, refusal)).await?
            );
        }
        looked => looked?,
    };
    let component = match cached {
        Some(component) => component,
        None => {
            let _turn = inner.compiles.acquire().await;
            off_thread(inner, &bytes, move |inner, bytes| compile(inner, bytes, &digest)).await??
        }
    };
    let handler = link(inner, &component).map_err(|reasons| refused(digest, reasons))?;
    trial::trial(inner, &handler).await.map_err(|reason| refused(digest, vec![reason]))?;
    Ok(Prepared(Arc::new(Version { digest, handler, statements: KnownStatements::default() })))
}

/// Runs work that computes for long on a thread of its own.
async fn off_thread<R: Send + 'static>(
    inner: &Arc<Inner>,
    bytes: &Arc<[u8]>,
    work: impl FnOnce(&Inner, &[u8]) -> R + Send + 'static,
) -> Result<R, LoadError> {
    let (held, copy) = (Arc::clone(inner), Arc::clone(bytes));
    let done = tokio::task::spawn_blocking(move || work(&held, &copy)).await;
    done.map_err(|error| LoadError::Host { digest: hex(&Sha256::digest(bytes)), reason: error.to_string() })
}

/// The digest, and the compiled component if the cache has it.
fn look_up(inner: &Inner, bytes: &[u8]) -> Result<([u8; 32], Option<Component>), LoadError> {
    let digest = Sha256::digest(bytes).into();
    let reasons = report::inspect(bytes);
    if !reasons.is_empty() {
        return Err(refused(digest, reasons));
    }
    let cached = inner.cache.as_ref().and_then(|cache| from_cache(cache, inner, &digest));
    Ok((digest, cached))
}

/// Which functions of an interface a component calls shows only in compiled code; one report is to
/// have it all.
fn with_functions(inner: &Inner, bytes: &[u8], mut refusal: Refusal) -> LoadError {
    match Component::from_binary(&inner.engine, bytes) {
        Ok(component) => refusal.reasons.extend(report::missing_functions(&component, &inner.engine)),
        Err(error) => refusal.reasons.push(Reason::Malformed(format!("{error:#}"))),
    }
    LoadError::Refused(refusal)
}

fn from_cache(cache: &Cache, inner: &Inner, digest: &[u8; 32]) -> Option<Component> {
    cache.load(&inner.engine, digest).unwrap_or_else(|error| {
        tracing::warn!(digest = hex(digest), %error, "a file of the compile cache is not used; compiling anew");
        None
    })
}

fn compile(inner: &Inner, bytes: &[u8], digest: &[u8; 32]) -> Result<Component, LoadError> {
    let component = Component::from_binary(&inner.engine, bytes)
        .map_err(|error| refused(*digest, vec![Reason::Malformed(format!("{error:#}"))]))?;
    if let Some(cache) = &inner.cache
        && let Err(error) = cache.store(digest, &component)
    {
        tracing::warn!(digest = hex(digest), %error, "compiled code was not kept; the next start compiles it again");
    }
    Ok(component)
}

fn link(inner: &Inner, component: &Component) -> Result<HandlerPre<State>, Vec<Reason>> {
    let missing = report::missing_functions(component, &inner.engine);
    if !missing.is_empty() {
        return Err(missing);
    }
    let linked = inner.linker.instantiate_pre(component).and_then(HandlerPre::new);
    linked.map_err(|error| vec![Reason::Mismatch(format!("{error:#}"))])
}

fn refused(digest: [u8; 32], reasons: Vec<Reason>) -> LoadError {
    LoadError::Refused(Refusal { digest, reasons })
}
