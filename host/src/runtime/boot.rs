//! This boot of this host, and how the one before it on the same place ended.

use std::path::PathBuf;

use anyhow::Context;
use uuid::Uuid;

use crate::config::Config;
use crate::store::Store;
use crate::store::host_boot::LastEnd;

/// A boot that the database knows.
#[derive(Debug)]
pub(super) struct Boot {
    pub(super) id: Uuid,
    pub(super) last_end: LastEnd,
}

impl Boot {
    /// Registers a new boot and remembers its id in the data folder, one file per listening
    /// address: two hosts may share a folder.
    pub(super) async fn begin(store: &Store, config: &Config) -> anyhow::Result<Self> {
        let file = file(config);
        let last_end = match previous(&file) {
            Some(previous) => store.last_end(previous).await?,
            None => LastEnd::Clean,
        };
        if last_end == LastEnd::Unclean {
            tracing::warn!(
                "the last run of this host did not end cleanly; its first claims run one at a time"
            );
        }
        let id = Uuid::new_v4();
        store.register_host(id, &host_name(config)).await?;
        std::fs::create_dir_all(&config.data_dir)
            .and_then(|()| std::fs::write(&file, id.to_string()))
            .with_context(|| {
                format!("cannot write \"{}\"; make data_dir a folder that wonce may write", file.display())
            })?;
        Ok(Self { id, last_end })
    }
}

fn file(config: &Config) -> PathBuf {
    let address = config.http.listen.to_string().replace([':', '[', ']'], "-");
    config.data_dir.join(format!("boot-{address}"))
}

/// A file that is missing or garbled leaves nothing to ask about.
fn previous(file: &PathBuf) -> Option<Uuid> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// For people: which machine and which of its hosts.
fn host_name(config: &Config) -> String {
    let node = rustix::system::uname().nodename().to_string_lossy().into_owned();
    format!("{node}/{}", config.http.listen)
}
