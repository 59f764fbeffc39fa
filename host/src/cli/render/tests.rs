//! What people see, from fixed documents.

use insta::assert_snapshot;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::text::{cut, duration_us, span, time, visible};
use super::{Paint, dead, event, handler, status, verify};

fn document<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_str(&json.to_string()).expect("it works")
}

fn taken() -> Value {
    json!({ "at": "2026-01-02T03:04:05.678901Z", "scope": "fleet", "method": "exact" })
}

fn summary(name: &str, state: &str, pending: i64) -> Value {
    json!({
        "name": name, "state": state, "ordering": "unordered", "owner": "billing",
        "version": { "digest": "0123456789abcdef0123", "label": "1.2.0" },
        "pending": pending, "due": pending / 2, "oldest_due_seconds": pending * 10,
        "scheduled_retries": pending / 3, "dead_letters": pending / 4
    })
}

fn letter() -> Value {
    json!({
        "id": 7, "kind": "delivery", "state": "dead", "reason": "permanent", "handler": "payments",
        "key": "[\"p-1\",\"paid\"]", "event_type": "payment.paid", "code": "cancelled",
        "message": "order o-1 is cancelled\u{1b}[2J", "fingerprint": "00f1f2f3f4f5f6f7", "round": 0,
        "attempts": 3, "owner": "billing", "last_failed_at": "2026-01-02T03:04:05Z", "acted_at": null
    })
}

fn attempt() -> Value {
    json!({
        "round": 0, "attempt": 1, "at": "2026-01-02T03:04:05.1Z", "decision": "retry", "class": "transient",
        "code": "no-order", "message": "order o-1 does not exist yet", "duration_us": 1530,
        "version": "0123456789abcdef0123", "host": "h", "log_tail": "looking for o-1\nnot there"
    })
}

#[test]
fn status_page() {
    let page = document(json!({
        "taken": taken(),
        "database": { "name": "shop", "version": "15.14", "schema": 8 },
        "hosts": [
            { "boot_id": "b", "name": "web-1", "version": "0.1.0", "state": "alive",
              "started_at": "2026-01-01T00:00:00Z", "seen_seconds_ago": 1 },
            { "boot_id": "c", "name": "web-22", "version": "0.1.0", "state": "silent",
              "started_at": "2026-01-01T00:00:00Z", "seen_seconds_ago": 75 }
        ],
        "handlers": [summary("payments", "active", 12), summary("wallet", "paused", 0)],
        "alerts": [{ "id": "payments/dead_letters", "handler": "payments", "rule": "dead_letters",
                     "state": "firing", "since": "2026-01-02T03:04:05Z", "value": 3.0, "limit": 1.0,
                     "unit": "letters", "text": "payments has 3 dead letters, the limit is 1" }],
        "outbox": [{ "sink": "mail", "state": "confirmed", "effects": 1200 },
                   { "sink": "mail", "state": "unknown", "effects": 1 }],
        "parked": 2, "submitted": 1
    }));
    assert_snapshot!("status", status::status(&page, Paint::Plain));
}

#[test]
fn an_empty_database_says_what_to_do() {
    let page = document(json!({
        "taken": taken(), "database": { "name": "shop", "version": "15.14", "schema": 8 },
        "hosts": [], "handlers": [], "outbox": [], "parked": 0, "submitted": 0
    }));
    assert_snapshot!("status_empty", status::status(&page, Paint::Plain));
}

#[test]
fn handler_detail() {
    let detail = document(json!({
        "taken": taken(), "summary": summary("payments", "active", 12),
        "previous_version": { "digest": "fedcba9876543210", "label": "1.1.0" },
        "deployed_by": "ada", "deployed_at": "2026-01-01T00:00:00Z", "login_role": "wonce_01234567_payments",
        "policy": { "max_attempts": 8 },
        "blocked": [{ "ordering_key": "o-1", "head": "p-1", "attempts": 2, "due_at": "2026-01-02T03:04:15Z",
                      "message": "order o-1 does not exist yet", "followers": 3 }],
        "actions": [{ "id": 1, "at": "2026-01-01T00:00:00Z", "actor": "ada", "verb": "resume",
                      "target": "handler/payments", "reason": "the bank is back" }]
    }));
    assert_snapshot!("handler", handler::detail(&detail, Paint::Plain));
}

#[test]
fn timeline_of_a_settled_event() {
    let timeline = document(json!({
        "taken": taken(), "handler": "payments", "key": "[\"p-1\",\"paid\"]", "standing": "done",
        "accepted": { "at": "2026-01-02T03:04:05Z", "via": "web", "source": "shop", "event_id": "e-1",
            "event_type": "payment.paid", "key_rule": "/payment_id, /status", "ordering_key": "o-1",
            "payload_hash": "abcdef0123456789", "hash_rule": "json", "traceparent": null, "bytes": null },
        "waiting": null,
        "attempts": [attempt()],
        "effects": [{ "id": 3, "sink": "mail", "effect_type": "receipt", "state": "confirmed", "attempts": 1,
            "dedup_key": "payments:p-1:0", "planned_at": "2026-01-02T03:04:06Z",
            "settled_at": "2026-01-02T03:04:07Z", "last_error": null }],
        "duplicates": [{ "at": "2026-01-02T03:05:05Z", "via": "web", "after_seconds": 60 }],
        "dead_letters": [letter()],
        "actions": [{ "id": 1, "at": "2026-01-02T04:00:00Z", "actor": "ada", "verb": "replay",
                      "target": "dead-letter/7", "reason": "order mended" }],
        "outcome": { "outcome": "done", "ignored_reason": null, "at": "2026-01-02T04:00:01Z", "round": 1,
            "attempts": 1, "version": "0123456789abcdef0123", "xact": "12345" }
    }));
    assert_snapshot!("timeline_settled", event::timeline(&timeline, Paint::Plain));
    assert_snapshot!("explanation", event::explanation(&(&timeline).into()));
}

#[test]
fn timeline_of_a_blocked_event() {
    let timeline = document(json!({
        "taken": taken(), "handler": "payments", "key": "p-3", "standing": "pending",
        "accepted": { "at": "2026-01-02T03:04:05Z", "via": "web", "source": "shop", "event_id": null,
            "event_type": "payment.paid", "key_rule": "/id", "ordering_key": "o-1",
            "payload_hash": "abcdef0123456789", "hash_rule": "json", "traceparent": null, "bytes": 2 },
        "waiting": { "round": 0, "failed_attempts": 0, "due_at": "2026-01-02T03:04:05Z", "due_in_seconds": -65,
            "handler_state": "paused", "behind": { "key": "p-1", "failed_attempts": 1,
            "due_at": "2026-01-02T03:04:15Z", "message": "order o-1 does not exist yet", "between": 1 } },
        "attempts": [], "effects": [], "duplicates": [], "dead_letters": [], "actions": [], "outcome": null
    }));
    assert_snapshot!("timeline_blocked", event::timeline(&timeline, Paint::Plain));
}

#[test]
fn dead_letters() {
    let list =
        document(json!({ "taken": taken(), "total": 3, "dead_letters": [letter()], "next_before": 7 }));
    assert_snapshot!("dead_list", dead::list(&list, Paint::Plain));
    let detail = document(json!({
        "taken": taken(), "summary": letter(), "class": "permanent", "version": "0123456789abcdef0123",
        "accepted_at": "2026-01-02T03:00:00Z", "first_failed_at": "2026-01-02T03:01:00Z", "via": "web",
        "source": "shop", "event_id": "e-1", "subject": null, "event_time": null,
        "content_type": "application/json", "data_schema": null, "traceparent": "00-ab-cd-01",
        "extensions": [["tenant", "a"]], "key_rule": "/payment_id, /status", "ordering_key": null,
        "payload_hash": "abcdef0123456789", "hash_rule": "json",
        "payload": { "encoding": "text", "body": "{\n  \"payment_id\": \"p-1\u{7}\"\n}", "bytes": 27 },
        "attempts": [attempt()],
        "original": { "standing": "done", "accepted_at": "2026-01-02T02:00:00Z",
            "settled_at": "2026-01-02T02:00:01Z", "payload_hash": "0011", "hash_rule": "json", "payload": null }
    }));
    assert_snapshot!("dead_detail", dead::detail(&detail, Paint::Plain));
}

fn account(handler: &str, holds: bool, difference: i64, findings: Value) -> Value {
    json!({
        "handler": handler, "holds": holds, "accepted": 1200, "pending": 3, "done": 1180, "ignored": 10,
        "dead": 5, "discarded": 1, "duplicate_late": 1, "expired": 0, "difference": difference,
        "late_to_come": 1, "findings": findings
    })
}

#[test]
fn books_that_hold_and_books_that_differ() {
    let books = |holds: bool, accounts: Vec<Value>| {
        document(
            json!({ "taken": taken(), "holds": holds, "handlers": accounts, "key_conflicts": 2, "parked": 1,
            "outbox": [{ "sink": "mail", "state": "confirmed", "effects": 1180 }] }),
        )
    };
    let holding = books(true, vec![account("payments", true, 0, json!([]))]);
    assert_snapshot!("verify_holds", verify::verification(&holding, Paint::Plain));
    let finding = json!(["2 effects were not committed together with a ledger row of their event"]);
    let differing =
        books(false, vec![account("payments", false, -1, json!([])), account("wallet", false, 2, finding)]);
    assert_snapshot!("verify_differs", verify::verification(&differing, Paint::Plain));
}

#[test]
fn colours_are_only_painted_when_asked_for() {
    let books =
        document(json!({ "taken": taken(), "holds": true, "handlers": [], "key_conflicts": 0, "parked": 0,
        "outbox": [] }));
    assert!(verify::verification(&books, Paint::Colour).contains("\u{1b}[32mholds\u{1b}[0m"));
    assert!(!verify::verification(&books, Paint::Plain).contains('\u{1b}'));
}

#[test]
fn nothing_from_outside_steers_the_terminal() {
    assert_eq!(visible("a\u{1b}[2J\n\u{202e}b"), "a\\u{1b}[2J\\u{a}\\u{202e}b");
    assert_eq!(cut("abcdef", 4), "abc…");
    assert_eq!(cut("äöü", 3), "äöü");
}

#[test]
fn numbers_are_readable() {
    assert_eq!([0, 59, 125, 14_580, 176_400].map(span), ["0s", "59s", "2m 5s", "4h 3m", "2d 1h"]);
    assert_eq!([850, 12_530, 3_250_000].map(duration_us), ["850us", "12.5ms", "3.2s"]);
    assert_eq!(time("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05Z");
    assert_eq!(time("soon"), "soon");
}
