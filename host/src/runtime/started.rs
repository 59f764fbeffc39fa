//! What a start has taken hold of so far. A start that fails, or that a signal breaks off, gives
//! it back in order; one that comes to its end hands it to the host. Knows nothing of services.

use std::time::Duration;

use tokio::time::error::Elapsed;
use uuid::Uuid;
use wonce_embedded::Embedded;

use super::database;
use crate::store::{DatabaseUrl, Error, Store};

/// How long the last word to the database may take: a host that was told to stop does not wait
/// for a database that is stuck.
const RECORD_LIMIT: Duration = Duration::from_secs(5);

/// Filled from top to bottom.
#[derive(Debug, Default)]
pub(super) struct Started {
    pub(super) embedded: Option<Embedded>,
    pub(super) database: Option<(DatabaseUrl, Store)>,
    /// Registered in the database.
    pub(super) boot: Option<Uuid>,
}

impl Started {
    /// Undoes the start, the last thing first.
    pub(super) async fn give_back(self) {
        if let Some((url, store)) = self.database {
            store.close();
            if let Some(boot) = self.boot {
                record_anew(&url, boot).await;
            }
        }
        if let Some(embedded) = self.embedded {
            database::shut_down(embedded).await;
        }
    }
}

/// On a new connection: the store's may be stuck in a statement that was broken off.
async fn record_anew(url: &DatabaseUrl, boot: Uuid) {
    let record = async { Store::connect(url, 1).await?.record_clean_stop(boot).await };
    say(tokio::time::timeout(RECORD_LIMIT, record).await);
}

/// Tells the fleet, if the database listens.
pub(super) async fn record_clean_stop(store: &Store, boot: Uuid) {
    say(tokio::time::timeout(RECORD_LIMIT, store.record_clean_stop(boot)).await);
}

fn say(recorded: Result<Result<(), Error>, Elapsed>) {
    let reason = match recorded {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.explained(),
        Err(_) => format!("the database did not answer within {} s", RECORD_LIMIT.as_secs()),
    };
    tracing::warn!(
        error = reason,
        "the clean stop could not be recorded; the next start may begin on probation"
    );
}
