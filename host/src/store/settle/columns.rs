//! A batch as the parallel arrays that its functions take. Knows nothing of the trip.

use wonce_core::effect::Effect;

use super::{Entry, Settlement};
use crate::store::lease::HandlerAccess;
use crate::store::sql::Param;
use crate::store::transaction::PlannedEffect;

/// Deliveries that were handled, for `wonce.settle_done`.
#[derive(Debug, Default)]
pub(super) struct Done<'a> {
    pub(super) inbox_ids: Vec<i64>,
    ignored_ids: Vec<i64>,
    ignored_reasons: Vec<&'a str>,
    marked: Vec<&'a str>,
    xact: &'a str,
    version: &'a [u8],
}

impl<'a> Done<'a> {
    pub(super) fn of(entries: &'a [Entry<'a>]) -> Self {
        let mut done = Self::default();
        for entry in entries {
            let Settlement::Done { ignored } = entry.settlement else { continue };
            let delivery = &entry.delivery.delivery;
            done.inbox_ids.push(delivery.inbox_id);
            if let Some(reason) = ignored {
                done.ignored_ids.push(delivery.inbox_id);
                done.ignored_reasons.push(reason);
            }
            if entry.delivery.marks > 0 {
                done.marked.push(delivery.key.as_str());
            }
            done.xact = &entry.delivery.xact;
            done.version = &entry.record.version;
        }
        done
    }

    /// In the order of the function's parameters.
    pub(super) fn params(&'a self, access: &'a HandlerAccess) -> Vec<Param<'a>> {
        vec![
            &access.id,
            &access.secret,
            &self.xact,
            &self.version,
            &self.inbox_ids,
            &self.ignored_ids,
            &self.ignored_reasons,
            &self.marked,
        ]
    }
}

/// Effects, for `wonce.emit`.
#[derive(Debug, Default)]
pub(super) struct Effects<'a> {
    keys: Vec<&'a str>,
    sinks: Vec<&'a str>,
    dedup_keys: Vec<&'a str>,
    types: Vec<&'a str>,
    content_types: Vec<Option<&'a str>>,
    ordering_keys: Vec<Option<&'a str>>,
    attributes: Vec<&'a str>,
    attributes_from: Vec<i32>,
    attributes_to: Vec<i32>,
    datas: Vec<&'a [u8]>,
    traceparents: Vec<Option<&'a str>>,
    delays_us: Vec<i64>,
}

impl<'a> Effects<'a> {
    pub(super) fn of(planned: &'a [PlannedEffect]) -> Self {
        let mut effects = Self::default();
        for PlannedEffect { key, traceparent, effect, .. } in planned {
            effects.keys.push(key.as_str());
            effects.traceparents.push(traceparent.as_deref());
            effects.push(effect);
        }
        effects
    }

    /// In the order of the function's parameters.
    pub(super) fn params(&'a self, access: &'a HandlerAccess) -> Vec<Param<'a>> {
        vec![
            &access.id,
            &access.secret,
            &self.keys,
            &self.sinks,
            &self.dedup_keys,
            &self.types,
            &self.content_types,
            &self.ordering_keys,
            &self.attributes,
            &self.attributes_from,
            &self.attributes_to,
            &self.datas,
            &self.traceparents,
            &self.delays_us,
        ]
    }

    fn push(&mut self, effect: &'a Effect) {
        self.sinks.push(effect.sink.as_str());
        self.dedup_keys.push(&effect.dedup_key);
        self.types.push(&effect.effect_type);
        self.content_types.push(effect.content_type.as_deref());
        self.ordering_keys.push(effect.ordering_key.as_ref().map(|key| key.as_str()));
        self.attributes_from.push(position(self.attributes.len() + 1));
        for (name, value) in &effect.attributes {
            self.attributes.extend([name.as_str(), value.as_str()]);
        }
        self.attributes_to.push(position(self.attributes.len()));
        self.datas.push(&effect.data);
        let delay = effect.delay.unwrap_or_default().as_micros();
        self.delays_us.push(i64::try_from(delay).unwrap_or(i64::MAX));
    }
}

/// A place in an array of Postgres, from 1.
fn position(place: usize) -> i32 {
    i32::try_from(place).unwrap_or(i32::MAX)
}
