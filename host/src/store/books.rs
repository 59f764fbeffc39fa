//! The conservation law, counted now and then for everybody to see: the equation of each handler,
//! without the cross checks of [`super::verify`]. Knows nothing of what a difference means to whom.

use std::time::Duration;

use uuid::Uuid;
use wonce_api::verify::Account;
use wonce_core::conservation::{Balance, Ledger};

use super::sample::{Kind, Sample};
use super::verify::{COUNT, ledger};
use super::{Error, Store};

/// Not more often, however fast it goes.
const PAUSE: Duration = Duration::from_secs(30);
/// A count that takes longer is given up: as long as it runs, it holds back vacuum.
const LIMIT: Duration = Duration::from_secs(20);

impl Store {
    /// Counts the books in the name of the fleet, unless another host is at it or the last count is
    /// younger than 30 s or than two hundred times what it took. Says whether it did.
    ///
    /// # Errors
    /// When the database does not answer in time.
    pub async fn sample_books(&self, boot: Uuid) -> Result<bool, Error> {
        let mut client = self.client().await?;
        let Some(sample) = Sample::begin(&mut client, Kind::Books, boot, PAUSE, LIMIT).await? else {
            return Ok(false);
        };
        let rows = COUNT.query(sample.transaction(), &[]).await?;
        let accounts: Vec<Account> =
            rows.iter().map(|row| account(row.get("handler"), &ledger(row))).collect();
        sample.finish(&accounts).await?;
        Ok(true)
    }
}

fn account(handler: String, ledger: &Ledger) -> Account {
    let signed = |count: u128| i64::try_from(count).unwrap_or(i64::MAX);
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    Account {
        handler,
        holds: ledger.holds(),
        accepted: number(ledger.accepted),
        pending: number(ledger.pending),
        done: number(ledger.done),
        ignored: number(ledger.ignored),
        dead: number(ledger.dead),
        discarded: number(ledger.discarded),
        duplicate_late: number(ledger.duplicate_late),
        expired: number(ledger.expired),
        difference: match ledger.balance() {
            Balance::Holds => 0,
            Balance::Missing(count) => -signed(count),
            Balance::Surplus(count) => signed(count),
        },
        late_to_come: 0,
        findings: Vec::new(),
    }
}
