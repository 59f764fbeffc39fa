//! What a start has taken hold of so far. A start that fails, or that a signal breaks off, gives
//! it back in order; one that comes to its end hands it to the host. Knows nothing of services.

use std::time::Duration;

use uuid::Uuid;
use wonce_embedded::Embedded;

use super::database;
use crate::store::Store;

/// How long the last word to the database may take: a host that was told to stop does not wait
/// for a database that is stuck.
const RECORD_LIMIT: Duration = Duration::from_secs(5);

/// Filled from top to bottom.
#[derive(Debug, Default)]
pub(super) struct Started {
    pub(super) embedded: Option<Embedded>,
    pub(super) store: Option<Store>,
    /// Registered in the store.
    pub(super) boot: Option<Uuid>,
}

impl Started {
    /// Undoes the start, the last thing first.
    pub(super) async fn give_back(self) {
        if let Some(store) = self.store {
            if let Some(boot) = self.boot {
                record_clean_stop(&store, boot).await;
            }
            store.close();
        }
        if let Some(embedded) = self.embedded {
            database::shut_down(embedded).await;
        }
    }
}

/// Tells the fleet, if the database listens.
pub(super) async fn record_clean_stop(store: &Store, boot: Uuid) {
    let reason = match tokio::time::timeout(RECORD_LIMIT, store.record_clean_stop(boot)).await {
        Ok(Ok(())) => return,
        Ok(Err(error)) => error.explained(),
        Err(_) => format!("the database did not answer within {} s", RECORD_LIMIT.as_secs()),
    };
    tracing::warn!(
        error = reason,
        "the clean stop could not be recorded; the next start begins on probation"
    );
}
