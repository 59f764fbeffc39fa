//! What the guest tries of the world outside its contract, and all that it can see.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::net::TcpStream;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use wonce::prelude::*;

pub(crate) fn read_file(path: &str) -> wonce::Result<()> {
    denied(&format!("reading {path}"), std::fs::read(path).map(drop))
}

pub(crate) fn connect(address: &str) -> wonce::Result<()> {
    denied(&format!("connecting to {address}"), TcpStream::connect(address).map(drop))
}

pub(crate) fn environment() -> wonce::Result<()> {
    let seen = std::env::vars().count() + std::env::args().count();
    if seen == 0 { Ok(()) } else { Err(permanent("probe-escaped", format!("{seen} variables and arguments"))) }
}

fn denied(what: &str, answer: std::io::Result<()>) -> wonce::Result<()> {
    match answer {
        Ok(()) => Err(permanent("probe-escaped", format!("{what} worked"))),
        Err(error) => {
            info!("{what} was denied: {error}");
            Ok(())
        }
    }
}

#[expect(clippy::print_stdout, reason = "a script asks for it")]
pub(crate) fn print(text: &str) -> wonce::Result<()> {
    println!("{text}");
    Ok(())
}

#[expect(clippy::print_stderr, reason = "a script asks for it")]
pub(crate) fn complain(text: &str) -> wonce::Result<()> {
    eprintln!("{text}");
    Ok(())
}

pub(crate) fn emit_facts(event: &Event, delivery: &Delivery) -> wonce::Result<()> {
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros());
    let facts = json!({
        "event": {
            "id": event.id, "source": event.source, "type": event.type_, "subject": event.subject,
            "time": event.time, "datacontenttype": event.datacontenttype, "dataschema": event.dataschema,
            "extensions": event.extensions, "bytes": event.data.len(),
        },
        "delivery": {
            "key": delivery.key, "ordering_key": delivery.ordering_key, "attempt": delivery.attempt,
            "max_attempts": delivery.max_attempts, "round": delivery.round, "received": delivery.received,
            "traceparent": delivery.traceparent, "facts": delivery.facts,
        },
        "now": context::now().as_micros(),
        "remaining_ms": u64::try_from(context::remaining().as_millis()).unwrap_or(u64::MAX),
        "stable_uuid": context::stable_uuid("probe"),
        "greeting": config::get("greeting"),
        "wasi_clock_micros": u64::try_from(clock).unwrap_or(u64::MAX),
        "wasi_seed": RandomState::new().hash_one(0),
    });
    outbox::emit(Effect::to("out").json("probe.facts", &facts)?)?;
    Ok(())
}
