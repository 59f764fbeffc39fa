//! Sends a guest every behaviour's event and collects what differs, so that one run names all that
//! a language lacks.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};
use wonce_tests::world::{CLOUDEVENT, Handler, Setup, World};

use super::behaviours::{ALL, Behaviour, Ending, Sent};

/// What `greeting` is set to by the operator; the manifest says "hello".
const SETTINGS: &str = "[handlers.conformance.settings]\ngreeting = \"bom dia\"";

pub(super) async fn keeps_every_behaviour(component: &'static str) {
    let handler = Handler::conformance(component).limit("result_rows", "100").ceiling("2h");
    let world = World::running(Setup::default().with(handler).tables(SETTINGS)).await;
    for behaviour in ALL {
        send(&world, behaviour).await;
    }
    let mut problems = Vec::new();
    for behaviour in ALL {
        let found = problems_of(&world, behaviour).await;
        problems.extend(found.into_iter().map(|problem| format!("{}: {problem}", behaviour.name)));
    }
    assert!(problems.is_empty(), "{component} differs from the contract in:\n  {}", problems.join("\n  "));
    world.end().await;
}

async fn send(world: &World, behaviour: &Behaviour) {
    let (id, event_type) = (behaviour.name, format!("conformance.{}", behaviour.name));
    let bytes = |data: Vec<u8>| async move {
        let headers = [
            ("ce-specversion", "1.0"),
            ("ce-id", id),
            ("ce-source", "/lab"),
            ("ce-type", &*format!("conformance.{id}")),
            ("content-type", "application/octet-stream"),
        ];
        world.post("lab", &headers, data).await
    };
    let answer = match behaviour.sent {
        Sent::Plain => world.event(&event_type, id, json!({})).await,
        Sent::Grouped => world.event(&event_type, id, json!({"group": "g-1"})).await,
        Sent::Whole => {
            let event = json!({
                "specversion": "1.0", "id": id, "source": "/lab", "type": event_type, "subject": "s-1",
                "time": "2026-02-28T12:34:56.789012Z", "dataschema": "urn:schema", "region": "eu",
                "datacontenttype": "application/json", "data": {"n": 1},
            });
            world.post("lab", &[CLOUDEVENT], event.to_string()).await
        }
        Sent::Bytes(data) => bytes(data()).await,
    };
    assert_eq!((answer.status, answer.verdict()), (202, "accepted"), "{id}: {:#}", answer.body);
}

async fn problems_of(world: &World, behaviour: &Behaviour) -> Vec<String> {
    let name = behaviour.name;
    let mut problems = Vec::new();
    match behaviour.ending {
        Ending::Settled(wanted) => {
            let found = world.outcome("conformance", name).await;
            if found != wanted {
                problems
                    .push(format!("ended \"{found}\" instead of \"{wanted}\": {}", why(world, name).await));
            }
        }
        Ending::Waits => {
            world.until(&format!("select attempt = 1 from wonce.inbox where event_id = '{name}'")).await;
        }
    }
    let notes = notes(world, name).await;
    for (note, wanted) in behaviour.notes {
        match notes.get(*note) {
            Some(found) if found == wanted => {}
            found => problems.push(format!("noted {note} as {found:?} instead of {wanted:?}")),
        }
    }
    for (what, query) in behaviour.holds {
        // A query that finds no row answers NULL so.
        if world.value::<Option<bool>>(&format!("select ({query})")).await != Some(true) {
            problems.push(format!("it does not hold that {what}; notes: {notes:?}"));
        }
    }
    if behaviour.notes.is_empty() && !behaviour.may_note() && !notes.is_empty() {
        problems.push(format!("noted what it should not: {notes:?}"));
    }
    problems
}

async fn notes(world: &World, behaviour: &str) -> BTreeMap<String, String> {
    let query = format!(
        "select coalesce(jsonb_object_agg(name, value), '{{}}')::text from conformance.note where behaviour = '{behaviour}'"
    );
    let text: String = world.value(&query).await;
    let notes: BTreeMap<String, Json> = serde_json::from_str(&text).expect("an object of texts");
    notes.into_iter().map(|(name, value)| (name, value.as_str().unwrap_or_default().to_owned())).collect()
}

/// The failures of an event, for whoever has to find out.
async fn why(world: &World, event_id: &str) -> String {
    let query = format!(
        "select coalesce(string_agg(format('%s %s: %s', class, code, message), '; ' order by id), '')
           from wonce.attempt where key in (select key from wonce.processed_events where event_id = '{event_id}')"
    );
    world.value(&query).await
}
