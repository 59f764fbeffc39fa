//! The command line.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

use crate::measure::{Extent, Measurement, Size};
use crate::reference::Reference;

/// Measures wonce against hand-written consumers and Postgres's own ceiling.
#[derive(Debug, Parser)]
#[command(name = "wonce-bench", args_conflicts_with_subcommands = true)]
pub(crate) struct Flags {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// One round of the two measurements that guard a change; fails when they are bad
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// The long ones too: a backlog of a million, a hot key
    #[arg(long)]
    full: bool,
    /// Only these, whatever the extent
    #[arg(long, value_enum, value_delimiter = ',')]
    pub(crate) only: Vec<Measurement>,
    /// Rounds, in each of which everyone has a turn [default: 3, with --quick 1]
    #[arg(long)]
    rounds: Option<u32>,
    /// Events of one drain [default: 40000, with --quick 20000]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1000..=90_000))]
    events: Option<u64>,
    /// Where report.json and drain.svg go [default: the bench's folder; with --quick nowhere]
    #[arg(long)]
    out: Option<PathBuf>,
    /// The host to measure [default: the one beside this program]
    #[arg(long)]
    pub(crate) wonce: Option<PathBuf>,
    /// The folder with the handlers' components [default: where `make plugins` puts them]
    #[arg(long)]
    pub(crate) components: Option<PathBuf>,
    /// The folder with the handlers' manifests [default: plugins]
    #[arg(long)]
    pub(crate) plugins: Option<PathBuf>,
    /// The folder with Postgres's programs [default: searched for]
    #[arg(long)]
    pub(crate) pg_bin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// A hand-written consumer; the bench starts it
    #[command(hide = true)]
    Reference(Reference),
}

impl Flags {
    pub(crate) fn size(&self) -> Size {
        let (extent, rounds, events, latency_events) = match (self.quick, self.full) {
            (true, _) => (Extent::Quick, 1, 20_000, 800),
            (false, false) => (Extent::Usual, 3, 40_000, 2000),
            (false, true) => (Extent::Full, 3, 40_000, 2000),
        };
        Size {
            extent,
            rounds: self.rounds.unwrap_or(rounds),
            events: self.events.unwrap_or(events),
            warm_up: 1000,
            latency_events,
        }
    }

    /// Where files go; none for nowhere.
    pub(crate) fn out(&self) -> Option<PathBuf> {
        let usual = || (!self.quick).then(|| Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
        self.out.clone().or_else(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_are_said_win_over_the_extent() {
        let size = |words: &[&str]| Flags::try_parse_from(words).unwrap().size();
        assert_eq!(size(&["wonce-bench", "--quick"]).rounds, 1);
        assert_eq!(size(&["wonce-bench", "--quick", "--rounds", "2"]).rounds, 2);
        assert_eq!(size(&["wonce-bench", "--full"]).extent, Extent::Full);
        assert!(Flags::try_parse_from(["wonce-bench", "--quick", "--full"]).is_err());
    }

    #[test]
    fn a_quick_run_leaves_the_report_alone() {
        assert_eq!(Flags::try_parse_from(["wonce-bench", "--quick"]).unwrap().out(), None);
        assert!(Flags::try_parse_from(["wonce-bench"]).unwrap().out().is_some());
    }
}
