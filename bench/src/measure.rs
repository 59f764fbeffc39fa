//! The measurements, one file each. Every one takes what it needs from the [`Bench`] and writes its figures into
//! the [`Record`]. One that cannot be made is said to be so and does not stop the others.

use crate::catalog::unit;
use crate::cluster::Cluster;
use crate::database::Database;
use crate::programs::Programs;
use crate::record::Record;

mod backlog;
mod calibration;
mod contest;
mod drain;
mod intake;
mod latency;
mod variants;

/// What all measurements share.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) cluster: Cluster,
    pub(crate) programs: Programs,
    pub(crate) size: Size,
    pub(crate) record: Record,
    /// What could not be measured, and why.
    pub(crate) failures: Vec<(Measurement, String)>,
    databases: u32,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) extent: Extent,
    pub(crate) rounds: u32,
    /// Events of one drain.
    pub(crate) events: u64,
    /// Events before each drain that are not counted: connections and caches are warm afterwards.
    pub(crate) warm_up: u64,
    /// Events at the low rate, after its own warm-up.
    pub(crate) latency_events: u64,
}

/// Which measurements are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Extent {
    /// Those that guard a change.
    Quick,
    /// Those of the table.
    Usual,
    /// Those that take many minutes, too.
    Full,
}

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Measurement {
    Drain,
    Single,
    Payment,
    Latency,
    Intake,
    Faults,
    Ordered,
    TwoHosts,
    HotKey,
    Backlog,
}

impl Measurement {
    const ALL: [Self; 10] = [
        Self::Drain,
        Self::Single,
        Self::Payment,
        Self::Latency,
        Self::Intake,
        Self::Faults,
        Self::Ordered,
        Self::TwoHosts,
        Self::HotKey,
        Self::Backlog,
    ];

    fn extent(self) -> Extent {
        match self {
            Self::Drain | Self::Latency => Extent::Quick,
            Self::Single | Self::Payment | Self::Intake | Self::Faults | Self::Ordered | Self::TwoHosts => {
                Extent::Usual
            }
            Self::HotKey | Self::Backlog => Extent::Full,
        }
    }

    async fn make(self, bench: &mut Bench) -> anyhow::Result<()> {
        match self {
            Self::Drain => contest::blind(bench).await,
            Self::Single => contest::single(bench).await,
            Self::Payment => contest::payment(bench).await,
            Self::Latency => latency::both(bench).await,
            Self::Intake => intake::http(bench).await,
            Self::Faults => variants::faults(bench).await,
            Self::Ordered => variants::ordered(bench).await,
            Self::TwoHosts => variants::two_hosts(bench).await,
            Self::HotKey => backlog::hot_key(bench).await,
            Self::Backlog => backlog::depth(bench).await,
        }
    }
}

impl Bench {
    pub(crate) fn new(cluster: Cluster, programs: Programs, size: Size) -> Self {
        Self { cluster, programs, size, record: Record::default(), failures: Vec::new(), databases: 0 }
    }

    /// All rounds: every measurement in turn, so that a slow minute of the machine meets all of them. The long ones
    /// of the full extent are made once.
    pub(crate) async fn measure(&mut self, only: &[Measurement]) {
        for round in 1..=self.size.rounds {
            self.progress(&format!("round {round} of {}", self.size.rounds));
            self.calibrate();
            for measurement in Measurement::ALL {
                let asked = if only.is_empty() {
                    measurement.extent() <= self.size.extent
                } else {
                    only.contains(&measurement)
                };
                let again = round > 1 && measurement.extent() == Extent::Full;
                let broken = self.failures.iter().any(|(failed, _)| *failed == measurement);
                if !asked || again || broken {
                    continue;
                }
                // A future of all measurements is large.
                if let Err(error) = Box::pin(measurement.make(self)).await {
                    self.progress(&format!("{measurement:?} could not be measured: {error:#}"));
                    self.failures.push((measurement, format!("{error:#}")));
                }
                for (key, value) in self.record.news() {
                    self.progress(&format!("    {key} {}", unit(&key).show(value)));
                }
            }
        }
    }

    /// What the machine is worth at this moment.
    fn calibrate(&mut self) {
        self.record.put("machine.fixed_loop_ms", calibration::fixed_loop().as_secs_f64() * 1e3);
        if let Ok(round_trip) = calibration::round_trip() {
            self.record.put("machine.round_trip_us", round_trip.as_secs_f64() * 1e6);
        }
    }

    /// A fresh database for one measured run.
    async fn database(&mut self) -> anyhow::Result<Database> {
        self.databases += 1;
        self.cluster.database(&format!("bench_{}", self.databases)).await
    }

    /// Tells what is being done, on standard error.
    #[expect(clippy::print_stderr, reason = "the one who waits sees what happens")]
    pub(crate) fn progress(&self, text: &str) {
        eprintln!("bench: {text}");
    }
}
