//! What one invocation may use. Plain data with documented defaults; knows nothing of how a
//! limit is kept. Field names are the keys under `limits` of `[handlers.<name>]`;
//! the key of `memory_bytes` is `memory`.

use std::time::Duration;

/// The budget of one invocation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from start to end, SQL and sleeps included. Default 5 s.
    pub deadline: Duration,
    /// All linear memories together, in bytes; never more than the sandbox's `max_memory`.
    /// Default 64 MiB.
    pub memory_bytes: u64,
    /// Statements. One more gives `limit-exceeded`; twice as many end the call. Default 1 000.
    pub statements: u64,
    /// Rows of one result. Default 10 000.
    pub result_rows: u64,
    /// Bytes of one result. Default 8 MiB.
    pub result_bytes: u64,
    /// Bytes of one statement's text. Default 64 KiB.
    pub statement_bytes: u64,
    /// Log lines that are kept; more are counted and dropped. Default 1 000.
    pub log_lines: u64,
    /// Bytes of all kept log lines together. Default 64 KiB.
    pub log_bytes: u64,
    /// Effects. Default 1 000.
    pub effects: u64,
    /// Bytes of all effects together. Default 8 MiB.
    pub effect_bytes: u64,
    /// Bytes that one call between guest and host may copy out of the guest. Default 8 MiB.
    pub host_call_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(5),
            memory_bytes: 64 << 20,
            statements: 1_000,
            result_rows: 10_000,
            result_bytes: 8 << 20,
            statement_bytes: 64 << 10,
            log_lines: 1_000,
            log_bytes: 64 << 10,
            effects: 1_000,
            effect_bytes: 8 << 20,
            host_call_bytes: 8 << 20,
        }
    }
}
