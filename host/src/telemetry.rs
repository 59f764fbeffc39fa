//! What the host says of itself: [`logs`] for people and machines, [`metrics`] for dashboards and
//! alarms, and [`otlp`], which exports. Every name that leaves the
//! process is written down in one place. It never knows why something happened: callers say.

pub mod logs;
pub mod metrics;
pub mod otlp;

/// The trace id inside a W3C `traceparent` ("00-<32 hex>-<16 hex>-01"), for the log field
/// `trace_id`. None when the header is not one.
#[must_use]
pub fn trace_id(traceparent: &str) -> Option<&str> {
    let mut parts = traceparent.split('-');
    let (_version, id) = (parts.next()?, parts.next()?);
    let hex = id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit());
    hex.then_some(id)
}

#[cfg(test)]
mod tests {
    use super::trace_id;

    #[test]
    fn a_trace_id_is_taken_only_from_a_well_formed_traceparent() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        assert_eq!(trace_id(&format!("00-{id}-b7ad6b7169203331-01")), Some(id));
        assert_eq!(trace_id("00-short-b7ad6b7169203331-01"), None);
        assert_eq!(trace_id(""), None);
    }
}
