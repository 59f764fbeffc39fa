//! Acceptance: the inbox rows, parked events and counts of many events in one commit. What an
//! arrival is (accepted, duplicate, key conflict) is decided by `wonce.accept` in the database.

use std::collections::HashMap;

use tokio_postgres::Transaction;
use tokio_postgres::types::Type;
use wonce_core::delivery::PayloadHash;
use wonce_core::event::Event;
use wonce_core::fingerprint::{Death, fingerprint};
use wonce_core::name::{HandlerName, Key, OrderingKey};
use wonce_core::route::ParkReason;

use super::sql::Sql;
use super::{Error, Store, begin};
use crate::crash;

mod columns;
mod park;

use columns::Columns;
pub(super) use columns::system_time;

/// How often an arrival whose original vanishes while it is looked for is asked about again.
const MAX_ASKS: usize = 5;

const ACCEPT: Sql = Sql {
    name: "accept deliveries",
    text: "SELECT delivery, verdict FROM wonce.accept(
               $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)",
    params: &[
        Type::INT8_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::BYTEA_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TIMESTAMPTZ_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::TEXT_ARRAY,
        Type::INT4_ARRAY,
        Type::INT4_ARRAY,
        Type::BYTEA_ARRAY,
    ],
};

pub(super) const STATEMENTS: &[&Sql] = &[&ACCEPT, &park::PARK];

/// Whom a delivery or a parked event is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipient {
    pub id: i64,
    pub name: HandlerName,
}

/// A delivery that intake wants to insert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    pub recipient: Recipient,
    pub key: Key,
    pub key_rule: String,
    pub ordering_key: Option<OrderingKey>,
    pub hash: PayloadHash,
}

/// An event that is set aside with its bytes, for one handler or for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewParked {
    pub recipient: Option<Recipient>,
    pub reason: ParkReason,
    pub message: String,
}

impl NewParked {
    /// The group that it is shown in.
    fn fingerprint(&self) -> String {
        let handler = self.recipient.as_ref().map(|recipient| &recipient.name);
        park_fingerprint(handler, self.reason, &self.message)
    }
}

/// The group of a parked event.
pub(super) fn park_fingerprint(handler: Option<&HandlerName>, reason: ParkReason, message: &str) -> String {
    let reason = reason.as_str();
    fingerprint(&Death { handler, reason, class: None, code: &reason.replace('_', "-"), message })
}

/// One event and all that is written for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub event: Event,
    pub deliveries: Vec<NewDelivery>,
    pub parked: Vec<NewParked>,
}

/// What became of one delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Landed {
    Accepted,
    Duplicate,
    KeyConflict,
}

impl Store {
    /// Writes all arrivals in one transaction, or none, and answers per arrival and delivery.
    ///
    /// # Errors
    /// When nothing was committed; or, if the connection went during the commit, nobody knows.
    pub async fn accept(&self, arrivals: &[&Arrival]) -> Result<Vec<Vec<Landed>>, Error> {
        let mut client = self.client().await?;
        let tx = begin(&mut client, "begin an acceptance").await?;
        let landed = accept_in(&tx, arrivals).await?;
        crash::point("intake-before-commit");
        tx.commit().await.map_err(|source| Error::Statement { attempt: "commit an acceptance", source })?;
        crash::point("intake-after-commit");
        Ok(landed)
    }
}

/// The same within a transaction of the caller's.
pub(super) async fn accept_in(
    tx: &Transaction<'_>,
    arrivals: &[&Arrival],
) -> Result<Vec<Vec<Landed>>, Error> {
    let mut landed: Vec<Vec<Option<Landed>>> =
        arrivals.iter().map(|arrival| vec![None; arrival.deliveries.len()]).collect();
    for wave in waves(arrivals) {
        for (place, verdict) in settle_wave(tx, arrivals, wave).await? {
            landed[place.arrival][place.delivery] = Some(verdict);
        }
    }
    for arrival in arrivals {
        for parked in &arrival.parked {
            park::park(tx, &arrival.event, parked).await?;
        }
    }
    Ok(landed.into_iter().map(|of_one| of_one.into_iter().flatten().collect()).collect())
}

/// Where a delivery stands among the arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    arrival: usize,
    delivery: usize,
}

/// Each call of `wonce.accept` may hold a (handler, key) once: the second of two goes into the
/// second wave, where it meets the first as any later arrival would.
fn waves(arrivals: &[&Arrival]) -> Vec<Vec<Place>> {
    let mut waves: Vec<Vec<Place>> = Vec::new();
    let mut seen: HashMap<(i64, &str), usize> = HashMap::new();
    for (arrival, deliveries) in arrivals.iter().map(|a| &a.deliveries).enumerate() {
        for (delivery, new) in deliveries.iter().enumerate() {
            let earlier = seen.entry((new.recipient.id, new.key.as_str())).or_default();
            if waves.len() == *earlier {
                waves.push(Vec::new());
            }
            waves[*earlier].push(Place { arrival, delivery });
            *earlier += 1;
        }
    }
    waves
}

async fn settle_wave(
    tx: &Transaction<'_>,
    arrivals: &[&Arrival],
    mut open: Vec<Place>,
) -> Result<Vec<(Place, Landed)>, Error> {
    let mut settled = Vec::with_capacity(open.len());
    for _ in 0..MAX_ASKS {
        let verdicts = ask(tx, arrivals, &open).await?;
        let mut gone = Vec::new();
        for (place, verdict) in open.into_iter().zip(verdicts) {
            match verdict {
                Some(landed) => settled.push((place, landed)),
                None => gone.push(place),
            }
        }
        if gone.is_empty() {
            return Ok(settled);
        }
        open = gone;
    }
    let reason = format!(
        "the originals of {} deliveries vanished each of the {MAX_ASKS} times they were looked for; send again",
        open.len()
    );
    Err(Error::Refused { attempt: ACCEPT.name.to_owned(), reason })
}

/// One call; `None` where the original vanished meanwhile.
async fn ask(
    tx: &Transaction<'_>,
    arrivals: &[&Arrival],
    places: &[Place],
) -> Result<Vec<Option<Landed>>, Error> {
    let columns = Columns::of(arrivals, places);
    let mut verdicts = vec![Some(Landed::Accepted); places.len()];
    for row in ACCEPT.query(tx, &columns.params()).await? {
        let delivery: i32 = row.get(0);
        let place = usize::try_from(delivery - 1).ok().and_then(|index| verdicts.get_mut(index));
        let Some(place) = place else {
            let reason = format!("of {} deliveries, number {delivery} got a verdict", places.len());
            return Err(Error::Refused { attempt: ACCEPT.name.to_owned(), reason });
        };
        *place = other_verdict(row.get(1))?;
    }
    Ok(verdicts)
}

/// What a delivery is that was not accepted.
fn other_verdict(word: &str) -> Result<Option<Landed>, Error> {
    match word {
        "duplicate" => Ok(Some(Landed::Duplicate)),
        "key_conflict" => Ok(Some(Landed::KeyConflict)),
        "gone" => Ok(None),
        other => Err(Error::Refused {
            attempt: ACCEPT.name.to_owned(),
            reason: format!("the database gave the verdict \"{other}\", which this wonce does not know"),
        }),
    }
}
