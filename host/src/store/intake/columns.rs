//! Deliveries as the parallel arrays that `wonce.accept` takes. Knows nothing of verdicts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use wonce_core::event::{Event, Micros};

use super::{Arrival, Place};
use crate::store::sql::Param;

/// One array a parameter, one element a delivery: an event that several handlers want is sent as
/// often, which costs less than to look it up in the database.
#[derive(Default)]
pub(super) struct Columns<'a> {
    handler_ids: Vec<i64>,
    keys: Vec<&'a str>,
    key_rules: Vec<&'a str>,
    ordering_keys: Vec<Option<&'a str>>,
    digests: Vec<&'a [u8]>,
    hash_rules: Vec<&'a str>,
    vias: Vec<&'a str>,
    event_ids: Vec<Option<&'a str>>,
    sources: Vec<&'a str>,
    event_types: Vec<&'a str>,
    subjects: Vec<Option<&'a str>>,
    event_times: Vec<Option<SystemTime>>,
    content_types: Vec<Option<&'a str>>,
    data_schemas: Vec<Option<&'a str>>,
    traceparents: Vec<Option<&'a str>>,
    extensions: Vec<&'a str>,
    extensions_from: Vec<i32>,
    extensions_to: Vec<i32>,
    datas: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(arrivals: &[&'a Arrival], places: &[Place]) -> Self {
        let mut columns = Self::default();
        for place in places {
            let arrival = arrivals[place.arrival];
            columns.push_event(&arrival.event);
            let new = &arrival.deliveries[place.delivery];
            columns.handler_ids.push(new.recipient.id);
            columns.keys.push(new.key.as_str());
            columns.key_rules.push(&new.key_rule);
            columns.ordering_keys.push(new.ordering_key.as_ref().map(|key| key.as_str()));
            columns.digests.push(&new.hash.digest);
            columns.hash_rules.push(&new.hash.rule);
        }
        columns
    }

    fn push_event(&mut self, event: &'a Event) {
        self.vias.push(event.via.as_str());
        self.event_ids.push(event.id.as_deref());
        self.sources.push(&event.source);
        self.event_types.push(&event.event_type);
        self.subjects.push(event.subject.as_deref());
        self.event_times.push(event.time.map(system_time));
        self.content_types.push(event.content_type.as_deref());
        self.data_schemas.push(event.data_schema.as_deref());
        self.traceparents.push(event.traceparent.as_deref());
        self.extensions_from.push(position(self.extensions.len() + 1));
        for (name, value) in &event.extensions {
            self.extensions.extend([name.as_str(), value.as_str()]);
        }
        self.extensions_to.push(position(self.extensions.len()));
        self.datas.push(&event.data);
    }

    /// In the order of the function's parameters.
    pub(super) fn params(&self) -> [Param<'_>; 19] {
        [
            &self.handler_ids,
            &self.keys,
            &self.key_rules,
            &self.ordering_keys,
            &self.digests,
            &self.hash_rules,
            &self.vias,
            &self.event_ids,
            &self.sources,
            &self.event_types,
            &self.subjects,
            &self.event_times,
            &self.content_types,
            &self.data_schemas,
            &self.traceparents,
            &self.extensions,
            &self.extensions_from,
            &self.extensions_to,
            &self.datas,
        ]
    }
}

/// A count within one commit, which its limits keep far below two thousand million.
fn position(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(in crate::store) fn system_time(micros: Micros) -> SystemTime {
    let distance = Duration::from_micros(micros.0.unsigned_abs());
    if micros.0 >= 0 { UNIX_EPOCH + distance } else { UNIX_EPOCH - distance }
}
