//! What the webhook for alerts is sent, once when an alert fires and once when it is resolved; a
//! repeat has the same `Idempotency-Key`. Knows nothing of how it travels.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::live::Alert;

/// The body of one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertNotice {
    pub alert: Alert,
    /// When it began to fire, by the database's clock: the same in both notices of one alert.
    pub fired_at: Time,
}
