//! The measurements, one file each. Every one takes what it needs from the [`Bench`] and writes its figures into
//! the [`Record`].

use std::path::PathBuf;

use crate::cluster::Cluster;
use crate::programs::Programs;
use crate::record::Record;

pub(crate) mod drain;

/// What all measurements share.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) cluster: Cluster,
    pub(crate) programs: Programs,
    pub(crate) size: Size,
    pub(crate) record: Record,
    /// Databases that were made, for their names.
    pub(crate) databases: u32,
    /// Where files for people go.
    pub(crate) out: PathBuf,
}

/// How much is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) rounds: u32,
    /// Events of one drain.
    pub(crate) events: u64,
    /// Events before each drain that are not counted: connections and caches are warm afterwards.
    pub(crate) warm_up: u64,
}

impl Bench {
    /// A fresh database for one measured run.
    pub(crate) async fn database(&mut self) -> anyhow::Result<crate::database::Database> {
        self.databases += 1;
        self.cluster.database(&format!("bench_{}", self.databases)).await
    }
}
