//! The sandbox as the host holds it: one engine, one linker, one ticker, and a bounded
//! number of slots. Knows nothing of versions in use: it prepares and it invokes.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::cache::{self, Cache};
use crate::call::{Call, Ended};
use crate::engine;
use crate::invoke::{self, Room};
use crate::prepare::{self, LoadError, Prepared, TRIAL_SLOTS};
use crate::settings::Settings;
use crate::state::State;
use crate::ticker::Ticker;
use crate::transaction::Transaction;

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "the sandbox's engine with {slots} slots of {max_memory} bytes could not be set up; fewer slots or less memory need less address space"
    )]
    Engine { slots: u32, max_memory: usize, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("the sandbox's clock thread could not be started")]
    Ticker(#[source] io::Error),
    #[error("the cache of compiled handlers in \"{}\" cannot be used: {reason}", path.display())]
    Cache { path: PathBuf, reason: String },
}

/// Prepares components and runs them; cheap to clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) settings: Settings,
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    pub(crate) cache: Option<Cache>,
    /// One component is compiled at a time: each compile uses every core.
    pub(crate) compiles: Semaphore,
    pub(crate) trials: Semaphore,
    slots: Semaphore,
    _ticker: Ticker,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("settings", &self.0.settings).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Reserves the pool, opens the cache and starts the clock thread, which ends with the
    /// last clone.
    ///
    /// # Errors
    /// When address space or a thread is refused, or the cache directory is not the host's own.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let (slots, max_memory) = (settings.slots, settings.max_memory);
        let failed = |error: wasmtime::Error| Error::Engine { slots, max_memory, source: error.into() };
        let engine = engine::engine(&settings).map_err(failed)?;
        let linker = engine::linker(&engine).map_err(failed)?;
        let cache =
            settings.cache_dir.as_deref().map(|path| open_cache(path.to_owned(), &engine)).transpose()?;
        let ticker = Ticker::start(engine.clone()).map_err(Error::Ticker)?;
        Ok(Self(Arc::new(Inner {
            slots: Semaphore::new(slots as usize),
            compiles: Semaphore::new(1),
            trials: Semaphore::new(TRIAL_SLOTS as usize),
            settings,
            engine,
            linker,
            cache,
            _ticker: ticker,
        })))
    }

    /// Checks, compiles and tries out a component. Compiling runs off the async threads and
    /// is skipped when the cache has it.
    ///
    /// # Errors
    /// A report of everything that is wrong with the component.
    pub async fn prepare(&self, bytes: &[u8]) -> Result<Prepared, LoadError> {
        prepare::prepare(&self.0, bytes).await
    }

    /// Runs one event in a fresh instance and gives the transaction back, whatever happened.
    /// Waits for a slot first; the deadline starts when there is one.
    pub async fn invoke<T: Transaction>(&self, prepared: &Prepared, call: Call, transaction: T) -> Ended<T> {
        let inner = &self.0;
        // The semaphore is never closed; a permit that could not be had would show as `no-slot`.
        let _slot = inner.slots.acquire().await;
        let room = Room { engine: &inner.engine, max_memory: inner.settings.max_memory };
        invoke::invoke(&room, prepared, call, transaction).await
    }
}

fn open_cache(path: PathBuf, engine: &Engine) -> Result<Cache, Error> {
    Cache::open(path.clone(), engine)
        .map_err(|error: cache::Error| Error::Cache { path, reason: error.to_string() })
}
