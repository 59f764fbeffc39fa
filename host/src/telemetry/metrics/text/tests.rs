use std::collections::{BTreeMap, BTreeSet};

use wonce_api::live::gauges::{Books, Count, Gauges, HandlerGauges, Method, SinkGauges};
use wonce_api::live::tick::Stage;
use wonce_core::fault::FaultClass;

use super::super::names;
use super::super::page::page;
use super::super::registry::{Fleet, Registry};
use super::*;

fn exact(n: u64) -> Count {
    Count { n, method: Method::Exact }
}

fn fleet() -> Fleet {
    let handler = HandlerGauges {
        handler: "pay\"ments".to_owned(),
        state: "active".to_owned(),
        ordering: "ordered".to_owned(),
        version: "1".to_owned(),
        digest: "ab".to_owned(),
        depth: exact(7),
        due: exact(3),
        scheduled_retries: exact(1),
        oldest_due_ms: Some(1_500),
        dead: exact(2),
        oldest_dead_ms: None,
    };
    let sink = SinkGauges {
        sink: "crm".to_owned(),
        planned: exact(4),
        sending: exact(0),
        refused: exact(0),
        unknown: exact(1),
        oldest_planned_ms: Some(250),
    };
    let books =
        Books { at: "2026-12-01T00:00:00Z".to_owned(), took_ms: 1, holds: true, accounts: Vec::new() };
    let gauges = Gauges {
        at: "2026-12-01T00:00:00Z".to_owned(),
        age_ms: 0,
        by: "b".to_owned(),
        took_ms: 1,
        handlers: vec![handler],
        sinks: vec![sink],
        parked: exact(9),
        submitted: exact(0),
        books: Some(books),
    };
    let hosts = BTreeMap::from([("alive".to_owned(), 2)]);
    let alerts = BTreeSet::from([("payments".to_owned(), "dead_letters".to_owned())]);
    Fleet { gauges, read_at: jiff::Timestamp::UNIX_EPOCH, hosts, alerts }
}

fn counted() -> Registry {
    let registry = Registry::default();
    registry.handlers.with("payments", |meters| {
        meters.done.add(5);
        meters.faults[FaultClass::Trap as usize].add(2);
        meters.stage(Stage::Guest).record_all([400, 3_000, 4_000_000_000].into_iter());
        meters.stage(Stage::Batch).record(3);
        meters.sinks.with("crm", |sink| sink.0[2].add(6));
    });
    registry.sources.with("shop", |source| source.answered(202));
    registry.parked[1].add(1);
    for rule in ["dead_letters", "no_claims"] {
        registry.watch_alert("payments", rule.to_owned());
    }
    registry.set_fleet(fleet());
    registry
}

#[test]
fn every_metric_of_the_table_is_on_the_page_once_with_its_labels() {
    let page = render(&page(&counted()));
    let types: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("# TYPE ")).collect();
    let mut found = BTreeSet::new();
    for line in &types {
        let (name, kind) = line.split_once(' ').expect("a kind");
        assert!(found.insert(name), "{name} is there twice");
        let metric =
            names::ALL.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("{name} is not ours"));
        assert_eq!(format!("{:?}", metric.kind).to_lowercase(), kind);
        let samples = page.lines().filter(|line| line.starts_with(name));
        for sample in samples.filter(|line| line[name.len()..].starts_with(['{', ' '])) {
            for label in metric.labels {
                assert!(sample.contains(&format!("{label}=\"")), "{sample}");
            }
        }
    }
    assert_eq!(found.len(), names::ALL.len(), "missing on the page");
}

#[test]
fn histograms_are_cumulative_and_in_seconds() {
    let page = render(&page(&counted()));
    for line in [
        r#"wonce_guest_seconds_bucket{handler="payments",le="0.0002"} 0"#,
        r#"wonce_guest_seconds_bucket{handler="payments",le="0.0005"} 1"#,
        r#"wonce_guest_seconds_bucket{handler="payments",le="0.005"} 2"#,
        r#"wonce_guest_seconds_bucket{handler="payments",le="3600"} 2"#,
        r#"wonce_guest_seconds_bucket{handler="payments",le="+Inf"} 3"#,
        r#"wonce_guest_seconds_sum{handler="payments"} 4000.0034"#,
        r#"wonce_guest_seconds_count{handler="payments"} 3"#,
        r#"wonce_batch_deliveries_bucket{handler="payments",le="4"} 1"#,
    ] {
        assert!(page.contains(&format!("{line}\n")), "{line} is not in\n{page}");
    }
}

#[test]
fn counters_and_gauges_carry_their_numbers() {
    let page = render(&page(&counted()));
    for line in [
        r#"wonce_invocations_total{handler="payments",outcome="done"} 5"#,
        r#"wonce_faults_total{handler="payments",class="trap"} 2"#,
        r#"wonce_effects_total{handler="payments",sink="crm",state="confirmed"} 6"#,
        r#"wonce_http_requests_total{source="shop",status="202"} 1"#,
        r#"wonce_parked_total{reason="no_key"} 1"#,
        r#"wonce_inbox_depth{handler="pay\"ments"} 7"#,
        r#"wonce_oldest_due_age_seconds{handler="pay\"ments"} 1.5"#,
        r#"wonce_dead_letters{handler="-"} 9"#,
        r#"wonce_outbox{sink="crm",state="planned"} 4"#,
        r#"wonce_hosts{state="alive"} 2"#,
        r#"wonce_alert_firing{handler="payments",rule="dead_letters"} 1"#,
        r#"wonce_alert_firing{handler="payments",rule="no_claims"} 0"#,
        "wonce_books_hold 1",
        "wonce_books_counted_timestamp_seconds 1796083200",
    ] {
        assert!(page.contains(&format!("{line}\n")), "{line} is not in\n{page}");
    }
}
