//! What a tree of processes has used, read from `/proc`. It never knows which program it looks at.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;

/// Linux counts processor time for programs in hundredths of a second, on every architecture.
const TICKS_PER_SECOND: u64 = 100;

/// One process as its `stat` file tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stat {
    pid: u32,
    parent: u32,
    /// Its own time in user and system mode, and that of its children that ended, in ticks.
    ticks: u64,
}

/// The processor time of a process, its living descendants and those that ended.
///
/// # Errors
/// When `/proc` cannot be read or the process is not there.
pub(crate) fn cpu_of_tree(root: u32) -> anyhow::Result<Duration> {
    let mut stats = Vec::new();
    for entry in std::fs::read_dir("/proc").context("read /proc")? {
        let path = entry.context("read /proc")?.path();
        let is_process = path.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok());
        // A process may end between the listing and the look.
        if is_process && let Ok(text) = std::fs::read_to_string(path.join("stat")) {
            stats.extend(parse_stat(&text));
        }
    }
    let ticks = ticks_of_tree(&stats, root).with_context(|| format!("process {root} is gone"))?;
    Ok(Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

fn ticks_of_tree(stats: &[Stat], root: u32) -> Option<u64> {
    let by_pid: HashMap<u32, &Stat> = stats.iter().map(|stat| (stat.pid, stat)).collect();
    let mut sum = by_pid.get(&root)?.ticks;
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for child in stats.iter().filter(|stat| stat.parent == parent && stat.pid != parent) {
            sum += child.ticks;
            parents.push(child.pid);
        }
    }
    Some(sum)
}

/// The program's name, in parentheses, may itself hold spaces and parentheses.
fn parse_stat(text: &str) -> Option<Stat> {
    let pid = text.split(' ').next()?.parse().ok()?;
    let rest = &text[text.rfind(')')? + 1..];
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
    // state, parent, … user, system, user of ended children, system of ended children
    let ticks = (11..=14).map(number).sum::<Option<u64>>()?;
    Some(Stat { pid, parent: u32::try_from(number(1)?).ok()?, ticks })
}

/// Memory of one process in MiB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Memory {
    pub(crate) now: f64,
    pub(crate) peak: f64,
}

/// The resident memory of a process, now and at its highest.
///
/// # Errors
/// When the process is not there.
pub(crate) fn memory(pid: u32) -> anyhow::Result<Memory> {
    let path = Path::new("/proc").join(pid.to_string()).join("status");
    let text = std::fs::read_to_string(&path).with_context(|| format!("read \"{}\"", path.display()))?;
    parse_status(&text).with_context(|| format!("find VmRSS and VmHWM in \"{}\"", path.display()))
}

fn parse_status(text: &str) -> Option<Memory> {
    let mib = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: f64 = line.trim_start_matches(':').trim().trim_end_matches(" kB").parse().ok()?;
        Some(kib / 1024.0)
    };
    Some(Memory { now: mib("VmRSS")?, peak: mib("VmHWM")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(pid: u32, name: &str, parent: u32, ticks: [u64; 4]) -> String {
        let [user, system, child_user, child_system] = ticks;
        format!(
            "{pid} ({name}) S {parent} 1 1 0 -1 4194560 9 0 0 0 {user} {system} {child_user} {child_system} 20 0 1 0"
        )
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let stat = parse_stat(&line(42, "postgres: a) (b", 7, [1, 2, 30, 40]));
        assert_eq!(stat, Some(Stat { pid: 42, parent: 7, ticks: 73 }));
    }

    #[test]
    fn a_tree_is_its_root_with_all_descendants_and_nobody_else() {
        let lines = [
            line(10, "postmaster", 1, [1, 0, 5, 0]),
            line(11, "backend", 10, [20, 0, 0, 0]),
            line(12, "worker", 11, [300, 0, 0, 0]),
            line(99, "stranger", 1, [4000, 0, 0, 0]),
        ];
        let stats: Vec<Stat> = lines.iter().filter_map(|line| parse_stat(line)).collect();
        assert_eq!(ticks_of_tree(&stats, 10), Some(326));
        assert_eq!(ticks_of_tree(&stats, 12345), None);
    }

    #[test]
    fn memory_is_read_in_mebibytes() {
        let text = "Name:\twonce\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n";
        assert_eq!(parse_status(text), Some(Memory { now: 10.0, peak: 20.0 }));
    }

    #[test]
    fn this_process_has_used_some_memory() {
        let memory = memory(std::process::id()).unwrap();
        assert!(memory.now > 0.0 && memory.peak >= memory.now);
    }
}
