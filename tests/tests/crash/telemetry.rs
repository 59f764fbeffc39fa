//! What real hosts tell a real OpenTelemetry receiver, and what it costs them when there is none.

use std::collections::BTreeSet;

use opentelemetry_proto::tonic::metrics::v1::{AggregationTemporality, metric};
use serde_json::json;
use wonce_tests::child::database::Database;
use wonce_tests::child::otlp::Collector;
use wonce_tests::child::receiver::Receiver;
use wonce_tests::child::sender::{Event, Sender};
use wonce_tests::child::setup::Setup;
use wonce_tests::child::{Doors, Host};
use wonce_tests::wait::until;

/// An event whose handler fails so often before it is done, and tells the sink of it then.
fn event(id: &str, failures: u32) -> Event {
    let steps = json!([{"emit": {"data": {"event": id}}}, {"require_attempt": failures + 1}]);
    Event { id: id.to_owned(), script: json!({ "steps": steps }) }
}

/// What `/metrics` says of the handler.
async fn scraped(doors: Doors) -> BTreeSet<String> {
    let client = wonce_host::sink::http::client().expect("a client");
    let page = client.get(format!("http://{}/metrics", doors.admin)).send().await.expect("an answer");
    of_handler(page.text().await.expect("text").lines().map(str::to_owned))
}

fn of_handler(lines: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    lines.into_iter().filter(|line| line.contains("{handler=\"probe\"") && !line.contains("age")).collect()
}

#[tokio::test]
async fn metrics_arrive_with_the_names_and_numbers_of_the_page() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let collector = Collector::start().await;
    let more =
        "service_name = \"orders\"\nheaders = { X-Tenant = \"seven\" }\nresource = { team = \"pay\" }\n";
    let setup = Setup::new(&database, receiver.address).tables(&collector.table(more));
    let (host, doors) = Host::start(&setup).await;
    let (sender, _hosts) = Sender::new(&[doors.http]);
    for number in 0..5 {
        sender.send(&event(&format!("e{number}"), number % 2)).await;
    }
    database.settles(1).await;
    until("the last export says what the page says", async || {
        let page = scraped(doors).await;
        page.contains("wonce_invocations_total{handler=\"probe\",outcome=\"done\"} 5")
            && page.contains("wonce_effects_total{handler=\"probe\",sink=\"out\",state=\"confirmed\"} 5")
            && page.contains("wonce_inbox_depth{handler=\"probe\"} 0")
            && page == of_handler(collector.metric_lines())
    })
    .await;

    let guest = collector.metrics("wonce.host").into_iter().find(|m| m.name == "wonce_guest_seconds");
    let guest = guest.expect("it is exported");
    assert_eq!(guest.unit, "s");
    let Some(metric::Data::Histogram(guest)) = guest.data else { panic!("it is a histogram") };
    assert_eq!(guest.aggregation_temporality, i32::from(AggregationTemporality::Cumulative));
    assert_eq!(guest.data_points[0].count, 7, "five events, two of which failed once");
    assert!(guest.data_points[0].start_time_unix_nano < guest.data_points[0].time_unix_nano);
    let depth = collector.metrics("wonce.fleet").into_iter().any(|m| m.name == "wonce_inbox_depth");
    assert!(depth, "what every host says alike has a scope of its own");
    assert_eq!(collector.headers()["x-tenant"], "seven");
    let boot = &database.texts("SELECT boot_id::text FROM wonce.host").await[0];
    for (name, value) in [("service.name", "orders"), ("team", "pay"), ("service.instance.id", boot.as_str())]
    {
        assert_eq!(collector.resource(name).as_deref(), Some(value));
    }
    host.stop().await;
    database.close().await;
}

#[tokio::test]
async fn a_receiver_that_refuses_is_told_of_once_and_costs_no_delivery() {
    let (database, receiver) = (Database::new().await, Receiver::start().await);
    let collector = Collector::start().await;
    collector.answer(401);
    let setup = Setup::new(&database, receiver.address).tables(&collector.table("traces = false"));
    let (host, doors) = Host::start(&setup).await;
    let (sender, _hosts) = Sender::new(&[doors.http]);
    sender.send(&event("e1", 0)).await;
    database.settles(1).await;
    let refused = "wonce_otlp_exports_total{signal=\"metrics\",result=\"refused\"}";
    until("it was asked often", async || {
        let lines = collector.metric_lines();
        let count = lines.iter().find_map(|line| line.strip_prefix(refused)?.trim().parse::<u64>().ok());
        count.is_some_and(|count| count >= 3)
    })
    .await;
    collector.answer(200);
    host.says("takes what is exported").await;
    let log = host.log().text();
    assert_eq!(log.matches("refuses what is exported").count(), 1, "{log}");
    assert!(log.contains("401"), "{log}");
    host.stop().await;
    database.close().await;
}
