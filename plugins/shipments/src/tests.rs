use serde_json::json;
use wonce::mock::{self, Host};

use super::*;

fn change(version: i64, status: &str) -> Event {
    let changed_at = "2026-01-01T00:00:00Z";
    let payload =
        json!({"shipment_id": "s-1", "version": version, "status": status, "changed_at": changed_at});
    mock::event("shipment.status-changed", &payload)
}

#[test]
fn a_newer_state_is_stored() {
    let run = Host::new()
        .expect("where known.version < excluded.version", mock::affected(1))
        .run(handle, change(3, "in_transit"));
    assert_eq!(run.result, Ok(Done));
    assert_eq!(run.statements[0].params[2], sql::Value::Text("in_transit".into()));
}

#[test]
fn an_older_state_is_ignored_and_says_which_one_is_stored() {
    let run = Host::new()
        .expect("insert into shipping.shipments", mock::affected(0))
        .expect("select version from shipping.shipments", mock::row(&[("version", &7_i64)]))
        .run(handle, change(3, "in_transit"));
    let Ok(Outcome::Ignored(reason)) = &run.result else { panic!("{:?}", run.result) };
    assert!(reason.contains("version 7"), "{reason}");
}

#[test]
fn a_status_that_nobody_knows_is_rejected() {
    let run = Host::new().run(handle, change(3, "lost"));
    assert_eq!(run.code(), "undecodable-payload");
}
