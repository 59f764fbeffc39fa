//! What a measured host is started with: `wonce.toml` and the handler's manifest.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::database::Database;
use crate::programs::Programs;
use crate::receiver::Gate;
use crate::workload::Workload;

/// Deliveries a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Batch {
    /// As wonce comes.
    AsItComes,
    /// Each delivery alone.
    One,
}

/// Whether deliveries wait for their predecessors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    None,
    /// By the payload's group, of which there are 10,000.
    ByGroup,
}

/// How often a host looks for work when nobody called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Poll {
    AsItComes,
    /// Every 20 ms, so that a drain does not begin with the wait that a resumed handler is seen with.
    Often,
}

/// The choices of one measured host; everything else is as wonce comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setup {
    pub(crate) workload: Workload,
    pub(crate) batch: Batch,
    pub(crate) order: Order,
    pub(crate) poll: Poll,
    /// Where effects go, and whether they are answered there.
    pub(crate) receiver: Option<(SocketAddr, Gate)>,
}

impl Setup {
    pub(crate) fn new(workload: Workload) -> Self {
        Self { workload, batch: Batch::AsItComes, order: Order::None, poll: Poll::Often, receiver: None }
    }

    /// Writes the files into a folder; the path of `wonce.toml`.
    pub(super) fn write(
        &self,
        folder: &Path,
        programs: &Programs,
        database: &Database,
    ) -> anyhow::Result<PathBuf> {
        let name = handler(self.workload);
        let manifest = programs.manifest(name)?;
        let manifest = match self.order {
            Order::None => manifest,
            Order::ByGroup => ordered(&manifest).context("the manifest has no subscription")?,
        };
        let text = self.configuration(name, &programs.component(name)?, database.url());
        std::fs::write(folder.join("handler.toml"), manifest).context("write the manifest")?;
        let path = folder.join("wonce.toml");
        std::fs::write(&path, text).context("write wonce.toml")?;
        Ok(path)
    }

    fn configuration(&self, name: &str, component: &Path, database: &str) -> String {
        let batch = match self.batch {
            Batch::AsItComes => "",
            Batch::One => "batch = 1\n",
        };
        let poll = match self.poll {
            Poll::AsItComes => "",
            Poll::Often => "[dispatch]\npoll_interval = \"20ms\"\n",
        };
        let sink = match self.receiver {
            None => "url = \"http://127.0.0.1:9/receipts\"".to_owned(),
            Some((address, Gate::Open)) => format!("url = \"http://{address}/receipts\""),
            // The first effect keeps the sink busy until it is answered.
            Some((address, Gate::Held)) => {
                format!("url = \"http://{address}/receipts\"\nconcurrency = 1\ntimeout = \"60s\"")
            }
        };
        format!(
            "data_dir = \"data\"\n\
             [database]\nurl = \"{database}\"\n\
             [http]\nlisten = \"127.0.0.1:0\"\n\
             [admin]\nlisten = \"127.0.0.1:0\"\n\
             {poll}\
             [log]\nformat = \"json\"\nlevel = \"warn,wonce_host::runtime=info\"\n\
             [sinks.receipts]\nkind = \"http\"\n{sink}\n\
             [handlers.{name}]\ncomponent = {component:?}\nmanifest = \"handler.toml\"\n{batch}\
             [handlers.{name}.retry]\nfirst = \"10ms\"\nceiling = \"10ms\"\njitter = \"1ms\"\n\
             [handlers.{name}.tables]\n\"bench.orders\" = [\"select\", \"update\"]\n"
        )
    }
}

/// The handler of a workload.
pub(super) fn handler(workload: Workload) -> &'static str {
    match workload {
        Workload::Blind => "bench-blind",
        Workload::Payment => "bench-payment",
    }
}

/// The same manifest, but in order by group.
fn ordered(manifest: &str) -> Option<String> {
    manifest
        .contains("[[subscription]]")
        .then(|| manifest.replacen("[[subscription]]", "[[subscription]]\norder_by = [\"/group\"]", 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordered_manifest_orders_its_subscription() {
        let manifest = "name = \"x\"\n[[subscription]]\ntypes = [\"a\"]\n";
        let expected = "name = \"x\"\n[[subscription]]\norder_by = [\"/group\"]\ntypes = [\"a\"]\n";
        assert_eq!(ordered(manifest).as_deref(), Some(expected));
        assert_eq!(ordered("name = \"x\"\n"), None);
    }

    #[test]
    fn only_a_host_that_works_one_by_one_is_told_so() {
        let text = |batch| {
            Setup { batch, ..Setup::new(Workload::Blind) }.configuration(
                "bench-blind",
                Path::new("a.wasm"),
                "postgres://x",
            )
        };
        assert!(text(Batch::One).contains("\nbatch = 1\n"));
        assert!(!text(Batch::AsItComes).contains("batch ="));
    }
}
