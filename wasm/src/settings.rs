//! What the host decides about the sandbox once, when it starts. Knows nothing of a single
//! invocation: its limits travel with the call.

use std::path::PathBuf;

/// How many invocations run at once when nobody says otherwise.
const DEFAULT_SLOTS: u32 = 64;
/// The largest linear memory that any handler may be given, in bytes.
const DEFAULT_MAX_MEMORY: usize = 256 << 20;

/// The sandbox's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Invocations at once; each reserves address space, not memory.
    pub slots: u32,
    /// The ceiling of every handler's memory limit, in bytes.
    pub max_memory: usize,
    /// Where compiled code is kept between starts; `None` compiles anew each time. Only the
    /// host's user may be able to write there.
    pub cache_dir: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { slots: DEFAULT_SLOTS, max_memory: DEFAULT_MAX_MEMORY, cache_dir: None }
    }
}
