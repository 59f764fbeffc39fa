//! Parked events: dead letters of their own kind, kept with their bytes. Knows nothing of why.

use tokio_postgres::Transaction;
use tokio_postgres::types::Type;
use wonce_core::event::Event;

use super::{NewParked, system_time};
use crate::store::Error;
use crate::store::sql::Sql;

pub(super) const PARK: Sql = Sql {
    name: "park an event",
    text: "INSERT INTO wonce.dead_letter (
               kind, reason, handler_id, code, message, fingerprint, owner,
               accepted_at, first_failed_at, last_failed_at,
               via, event_id, source, event_type, subject, event_time, content_type, data_schema,
               traceparent, extensions, data)
           SELECT 'parked', $1, $2, $3, $4, $5, (SELECT h.owner FROM wonce.handler h WHERE h.id = $2),
                  at, at, at, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16
           FROM clock_timestamp() AS at",
    params: &[
        Type::TEXT,
        Type::INT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TIMESTAMPTZ,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT_ARRAY,
        Type::BYTEA,
    ],
};

pub(super) async fn park(tx: &Transaction<'_>, event: &Event, parked: &NewParked) -> Result<(), Error> {
    let extensions: Vec<&str> = event.extensions.iter().flat_map(|(n, v)| [n.as_str(), v.as_str()]).collect();
    let code = parked.reason.as_str().replace('_', "-");
    PARK.execute(
        tx,
        &[
            &parked.reason.as_str(),
            &parked.recipient.as_ref().map(|recipient| recipient.id),
            &code,
            &parked.message,
            &parked.fingerprint(),
            &event.via.as_str(),
            &event.id,
            &event.source,
            &event.event_type,
            &event.subject,
            &event.time.map(system_time),
            &event.content_type,
            &event.data_schema,
            &event.traceparent,
            &extensions,
            &event.data,
        ],
    )
    .await?;
    Ok(())
}
