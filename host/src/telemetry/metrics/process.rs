//! What the system says of this process. Knows nothing of what the process does.

use std::fs;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of all threads since the start, in milliseconds.
pub(super) fn cpu_ms() -> Option<u64> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u64::try_from(time.tv_nsec).ok()?;
    Some(seconds * 1_000 + nanos / 1_000_000)
}

/// Resident memory; none where there is no `/proc`.
pub(super) fn memory_bytes() -> Option<u64> {
    resident(&fs::read_to_string("/proc/self/status").ok()?)
}

fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read_from_the_systems_text() {
        assert_eq!(resident("Name:\twonce\nVmRSS:\t    1234 kB\nVmData:\t 9 kB\n"), Some(1_263_616));
        assert_eq!(resident("Name:\twonce\n"), None);
    }

    #[test]
    fn this_process_has_used_its_processor() {
        assert!(cpu_ms().is_some());
    }
}
