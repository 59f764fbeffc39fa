//! From `wonce send` through the HTTP door to the database.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use tokio::net::TcpListener;
use wonce_api::receipt::EventReceipt;
use wonce_core::event::Event;
use wonce_core::name::SourceName;
use wonce_host::pipeline::intake::IntakeSettings;
use wonce_host::send::{self, Data, Input, OneEvent, Origin, SendOptions};
use wonce_host::source::http::{HttpSettings, router};
use wonce_host::source::{Door, NotAccepted};

use crate::world::World;

async fn served(app: axum::Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

fn options(url: String, input: Input) -> SendOptions {
    SendOptions {
        url,
        source: SourceName::parse("shop").expect("valid"),
        input,
        concurrency: NonZeroUsize::new(4).expect("four"),
        patience: Duration::from_secs(30),
    }
}

fn one(data: Data) -> Input {
    Input::One(OneEvent {
        event_type: "pay.in".to_owned(),
        source: "cli ünïcode".to_owned(),
        id: Some("1".to_owned()),
        subject: None,
        data,
        content_type: Some("text/plain".to_owned()),
    })
}

fn file(name: &str, content: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("{}-{name}", uuid::Uuid::new_v4()));
    std::fs::write(&path, content).expect("a file");
    path
}

#[tokio::test]
async fn one_event_is_accepted_then_known_and_another_payload_conflicts() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let url = served(router(Arc::clone(&intake.door) as Arc<dyn Door>, HttpSettings::default())).await;
    let send = |text: &str| send::run(options(url.clone(), one(Data::Text(text.to_owned()))));
    let first = send("héllo").await.expect("sent");
    assert_eq!((first.accepted, first.exit_status()), (1, 0));
    let key = first.receipt.expect("a receipt").deliveries[0].key.clone();
    assert_eq!(key.as_deref(), Some(r#"["cli ünïcode","1"]"#));
    let again = send("héllo").await.expect("sent");
    assert_eq!((again.duplicate, again.exit_status()), (1, 0));
    let other = send("other").await.expect("sent");
    assert_eq!((other.conflict, other.exit_status()), (1, 1));
    assert_eq!(
        world.count("SELECT count(*) FROM wonce.inbox WHERE data = convert_to('héllo', 'UTF8')").await,
        1
    );
    intake.end().await;
    world.close().await;
}

#[tokio::test]
async fn bad_lines_are_counted_and_the_others_arrive() {
    let mut world = World::new().await;
    world.handler("pay", None, None).await;
    let intake = world.intake(IntakeSettings::default());
    let url = served(router(Arc::clone(&intake.door) as Arc<dyn Door>, HttpSettings::default())).await;
    let line = |id: &str| {
        format!(r#"{{"specversion":"1.0","id":"{id}","source":"s","type":"pay.in","data":{{ "n":1.0 }}}}"#)
    };
    let lines =
        [line("1"), "not json".to_owned(), String::new(), line("2"), line("3").replace("pay.in", "x")];
    let path = file("lines", &lines.join("\n"));
    let input = || Input::Lines(Origin::File(path.clone()));
    let summary = send::run(options(url.clone(), input())).await.expect("sent");
    assert_eq!((summary.accepted, summary.rejected, summary.exit_status()), (2, 2, 1), "{summary}");
    let failure = summary.last_failure.expect("a failure");
    assert!(failure.starts_with("line 2: ") || failure.starts_with("line 5: "), "{failure}");
    let again = send::run(options(url, input())).await.expect("sent");
    assert_eq!((again.duplicate, again.rejected), (2, 2));
    assert_eq!(world.count(r#"SELECT count(*) FROM wonce.inbox WHERE data = '{ "n":1.0 }'"#).await, 2);
    std::fs::remove_file(path).expect("removed");
    intake.end().await;
    world.close().await;
}

/// Accepts everything and keeps nothing.
struct Yes;

#[async_trait]
impl Door for Yes {
    async fn accept(&self, events: Vec<Event>) -> Result<Vec<EventReceipt>, NotAccepted> {
        Ok(events.iter().map(|_| EventReceipt::default()).collect())
    }
}

#[tokio::test]
async fn a_busy_host_is_asked_again() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let busy_twice =
        axum::middleware::from_fn(move |request: axum::extract::Request, next: axum::middleware::Next| {
            let tried = counted.fetch_add(1, Ordering::SeqCst);
            async move {
                match tried {
                    0 => (StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")]).into_response(),
                    1 => (StatusCode::TOO_MANY_REQUESTS, [("retry-after", "0")]).into_response(),
                    _ => next.run(request).await,
                }
            }
        });
    let url = served(router(Arc::new(Yes), HttpSettings::default()).layer(busy_twice)).await;
    let summary = send::run(options(url, one(Data::Empty))).await.expect("sent");
    assert_eq!((summary.ignored, tries.load(Ordering::SeqCst)), (1, 3));
}

#[tokio::test]
async fn a_host_that_is_not_there_leaves_the_event_unsent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let patience = Duration::from_millis(1);
    let summary = send::run(SendOptions { patience, ..options(url, one(Data::Empty)) }).await.expect("tried");
    assert_eq!((summary.unsent, summary.exit_status()), (1, 1));
    assert!(summary.last_failure.expect("a failure").contains("does not answer"));
}
