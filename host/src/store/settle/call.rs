//! The settlement of one delivery that was not handled (put off, dead, a late repeat) as a call of
//! its function in the database. Knows nothing of the trip that carries it.

use std::time::Duration;

use tokio_postgres::types::Type;
use wonce_core::delivery::{Delivery, Repeat};
use wonce_core::fault::Fault;

use super::{Record, Settlement};
use crate::store::lease::HandlerAccess;
use crate::store::sql::{Param, Sql};

pub(in crate::store) const RETRY: Sql = Sql {
    name: "put a delivery off",
    text: "SELECT wonce.settle_retry($1, $2, $3, $4, $5, $6, $7 * interval '1 microsecond', $8, $9, $10, $11, \
           $12, $13, $14, $15)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::TEXT,
        Type::FLOAT8,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::BYTEA,
        Type::UUID,
        Type::TEXT,
        Type::INT4,
    ],
};
pub(in crate::store) const DEAD: Sql = Sql {
    name: "settle a delivery as dead",
    text: "SELECT wonce.settle_dead($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    params: &[
        Type::INT8,
        Type::BYTEA,
        Type::INT8,
        Type::INT4,
        Type::INT4,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::TEXT,
        Type::INT8,
        Type::BYTEA,
        Type::UUID,
        Type::TEXT,
        Type::INT4,
        Type::TEXT,
        Type::TEXT,
    ],
};
pub(in crate::store) const REPEAT: Sql = Sql {
    name: "settle a late repeat",
    text: "SELECT wonce.settle_repeat($1, $2, $3, $4, $5, $6, $7)",
    params: &[Type::INT8, Type::BYTEA, Type::INT8, Type::INT4, Type::INT4, Type::TEXT, Type::TEXT],
};

impl Settlement {
    /// Its function, unless it is settled together with its neighbours.
    pub(super) fn call(&self) -> Option<&'static Sql> {
        match self {
            Settlement::Done { .. } => None,
            Settlement::Retry { .. } => Some(&RETRY),
            Settlement::Dead { .. } => Some(&DEAD),
            Settlement::Repeat(_) => Some(&REPEAT),
        }
    }
}

/// A settlement laid out for its function.
pub(super) struct Call<'a> {
    access: &'a HandlerAccess,
    inbox_id: i64,
    round: i32,
    attempt: i32,
    xact: Option<&'a str>,
    marks: i32,
    settlement: &'a Settlement,
    record: &'a Record,
    version: &'a [u8],
    duration_us: i64,
    /// Microseconds until the next try.
    after_us: f64,
    class: &'static str,
    reason: &'static str,
    repeat: &'static str,
}

impl<'a> Call<'a> {
    pub(super) fn new(
        access: &'a HandlerAccess,
        delivery: &Delivery,
        xact: Option<&'a str>,
        marks: i32,
        settlement: &'a Settlement,
        record: &'a Record,
    ) -> Self {
        let (after, fault, reason, repeat) = match settlement {
            Settlement::Done { .. } => (Duration::ZERO, None, "", ""),
            Settlement::Retry { fault, after } => (*after, Some(fault), "", ""),
            Settlement::Dead { fault, reason, .. } => (Duration::ZERO, Some(fault), reason.as_str(), ""),
            Settlement::Repeat(Repeat::Duplicate) => (Duration::ZERO, None, "", "duplicate"),
            Settlement::Repeat(Repeat::KeyConflict) => (Duration::ZERO, None, "", "key_conflict"),
        };
        Self {
            access,
            inbox_id: delivery.inbox_id,
            round: delivery.round.0.cast_signed(),
            attempt: delivery.attempt.0.cast_signed(),
            xact,
            marks,
            settlement,
            record,
            version: &record.version,
            duration_us: i64::try_from(record.duration.as_micros()).unwrap_or(i64::MAX),
            after_us: after.as_secs_f64() * 1e6,
            class: fault.map_or("", |fault| fault.class.as_str()),
            reason,
            repeat,
        }
    }

    /// In the order of the settlement's function.
    pub(super) fn params(&self) -> Vec<Param<'_>> {
        let mut params: Vec<Param<'_>> = vec![
            &self.access.id,
            &self.access.secret,
            &self.inbox_id,
            &self.round,
            &self.attempt,
            &self.xact,
        ];
        match self.settlement {
            Settlement::Done { .. } => {}
            Settlement::Retry { fault, .. } => {
                params.push(&self.after_us);
                params.extend(self.fault(fault));
                params.push(&self.marks);
            }
            Settlement::Dead { fault, fingerprint, .. } => {
                params.push(&self.reason);
                params.extend(self.fault(fault));
                let tail: [Param<'_>; 3] = [&self.marks, fingerprint, &self.record.owner];
                params.extend(tail);
            }
            Settlement::Repeat(_) => params.push(&self.repeat),
        }
        params
    }

    fn fault(&'a self, fault: &'a Fault) -> [Param<'a>; 7] {
        [
            &self.class,
            &fault.code,
            &fault.message,
            &self.duration_us,
            &self.version,
            &self.record.host,
            &self.record.log_tail,
        ]
    }
}
