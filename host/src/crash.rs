//! Named places between claim and acknowledgement at which a test build can be made to die as if
//! the machine had: no unwinding, no clean-up. In any other build the places are nothing.

/// Dies here if the environment names this place (`WONCE_CRASH_AT=<name>:<n>`) and this is the
/// n-th time that it is passed.
#[cfg(feature = "crash-points")]
pub fn point(name: &'static str) {
    armed::pass(name);
}

/// Nothing, outside test builds.
#[cfg(not(feature = "crash-points"))]
#[inline(always)]
pub fn point(_name: &'static str) {}

/// Every name that [`point`] is called with, in the order of an event's journey.
pub const POINTS: &[&str] = &[
    "intake-before-commit",
    "intake-after-commit",
    "after-claim",
    "before-guest",
    "after-guest",
    "before-commit",
    "after-commit",
    "relay-before-send",
    "relay-after-send",
];

#[cfg(feature = "crash-points")]
mod armed {
    use std::sync::LazyLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    struct Trigger {
        name: String,
        passes_left: AtomicU64,
    }

    static TRIGGER: LazyLock<Option<Trigger>> = LazyLock::new(|| {
        let text = std::env::var("WONCE_CRASH_AT").ok()?;
        let (name, passes) = text.split_once(':')?;
        Some(Trigger { name: name.to_owned(), passes_left: AtomicU64::new(passes.parse().ok()?) })
    });

    pub(super) fn pass(name: &str) {
        let Some(trigger) = TRIGGER.as_ref().filter(|t| t.name == name) else { return };
        if trigger.passes_left.fetch_sub(1, Ordering::SeqCst) == 1 {
            let me = rustix::process::getpid();
            let _ = rustix::process::kill_process(me, rustix::process::Signal::KILL);
        }
    }
}
