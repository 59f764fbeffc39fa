//! `shipment.status-changed`: a carrier's webhooks, each a whole state with a version. An older version that comes
//! after a newer one is a good event that changes nothing: it is ignored, not failed.

use serde::Deserialize;
use wonce::prelude::*;

#[derive(Deserialize)]
struct Change {
    shipment_id: String,
    version: i64,
    status: Status,
    location: Option<String>,
    changed_at: Timestamp,
}

/// A status that is not here is rejected: better a dead letter than a shipment in a state that nobody knows.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Announced,
    InTransit,
    OutForDelivery,
    Delivered,
    Returned,
}

#[wonce::handler]
fn handle(event: Event) -> wonce::Result {
    let change: Change = event.json()?;
    if change.version < 1 {
        return Err(rejected("bad-version", format!("versions start at 1, this one is {}", change.version)));
    }
    if store_if_newer(&change)? {
        info!(shipment = change.shipment_id, version = change.version; "shipment is {}", change.status.as_str());
        return Ok(Done);
    }
    let stored: i64 =
        sql::query_one("select version from shipping.shipments where id = $1", &[&change.shipment_id])?;
    Ok(ignored(format!(
        "version {} of shipment \"{}\" is not newer than version {stored}",
        change.version, change.shipment_id
    )))
}

/// One statement, so that two versions handled at the same moment cannot both find themselves the newer one.
fn store_if_newer(change: &Change) -> wonce::Result<bool> {
    let changed = sql::execute(
        "insert into shipping.shipments as known (id, version, status, location, changed_at)
         values ($1, $2, $3, $4, $5)
         on conflict (id) do update
            set version = excluded.version, status = excluded.status,
                location = excluded.location, changed_at = excluded.changed_at
          where known.version < excluded.version",
        &[
            &change.shipment_id,
            &change.version,
            &change.status.as_str(),
            &change.location,
            &change.changed_at,
        ],
    )?;
    Ok(changed == 1)
}

impl Status {
    /// As the table writes it.
    fn as_str(self) -> &'static str {
        match self {
            Self::Announced => "announced",
            Self::InTransit => "in_transit",
            Self::OutForDelivery => "out_for_delivery",
            Self::Delivered => "delivered",
            Self::Returned => "returned",
        }
    }
}

#[cfg(test)]
mod tests;
