//! This boot of this host, and how the boots before it on the same place ended. Knows nothing of
//! what an unclean end leads to.

use anyhow::Context;
use uuid::Uuid;

use super::boot_file::{BootFile, Place};
use crate::config::Config;
use crate::store::Store;
use crate::store::host_boot::LastEnd;

/// A boot that the database knows.
#[derive(Debug)]
pub(super) struct Boot {
    pub(super) id: Uuid,
    /// For people: which machine and which of its hosts.
    pub(super) name: String,
    pub(super) last_end: LastEnd,
    place: Place,
    /// Of the boots whose ends this one answers for.
    ended: Vec<BootFile>,
}

impl Boot {
    /// Registers a new boot, and asks how those before it ended: all of the same data folder and
    /// listening address that are over. With port 0 several hosts may run there at once, and a host that
    /// starts cannot know which of the ended ones it was; it answers for all of them.
    pub(super) async fn begin(store: &Store, config: &Config) -> anyhow::Result<Self> {
        let place = Place::new(&config.data_dir, config.http.listen);
        let ended = place.ended().with_context(|| unusable(&place))?;
        let mut last_end = LastEnd::Clean;
        for file in &ended {
            match store.last_end(file.boot()).await? {
                LastEnd::Clean => {}
                LastEnd::Unclean => last_end = LastEnd::Unclean,
            }
        }
        if last_end == LastEnd::Unclean {
            tracing::warn!(
                "the last run of this host did not end cleanly; its first claims run one at a time"
            );
        }
        let id = Uuid::new_v4();
        let name = host_name(config);
        store.register_host(id, &name).await?;
        Ok(Self { id, name, last_end, place, ended })
    }

    /// Takes the place of the boots that are over. Only now, when claims may begin: a start that comes
    /// to nothing must leave their ends to the next one.
    pub(super) fn take_over(self) -> anyhow::Result<BootFile> {
        let mine = self.place.leave(self.id).with_context(|| unusable(&self.place))?;
        for file in self.ended {
            file.remove();
        }
        Ok(mine)
    }
}

fn unusable(place: &Place) -> String {
    format!(
        "cannot keep this host's boot in \"{}\"; make data_dir a folder that wonce may write",
        place.folder().display()
    )
}

fn host_name(config: &Config) -> String {
    format!("{}/{}", node(), config.http.listen)
}

/// The machine's own name.
pub(super) fn node() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
