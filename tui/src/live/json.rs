//! The model's values as JSON, for scripts: durations are seconds. Knows nothing of who reads them.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::Window;

pub(super) fn seconds<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64(time.as_secs_f64())
}

/// Absent is null.
pub(super) fn some_seconds<S: Serializer>(time: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(to)
}

impl Serialize for Window {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.label())
    }
}
