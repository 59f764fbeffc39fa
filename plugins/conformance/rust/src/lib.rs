//! The conformance suite's behaviours, on the Rust SDK: `../README.md` says what each does. The event's type names
//! one; the host's tests see what comes of it.

mod behaviours;
mod values;

use wonce::prelude::*;

#[wonce::handler]
fn handle(event: Event, delivery: Delivery) -> wonce::Result {
    let behaviour = event.type_.strip_prefix("conformance.").unwrap_or_default().to_owned();
    let note = Note(&behaviour);
    match behaviour.as_str() {
        "done" => note.done("attempt", delivery.attempt),
        "ignored" => Ok(ignored("left alone")),
        "retry" => behaviours::retried(&note, &delivery),
        "retry-after" => Err(retry_after("later", "in an hour", std::time::Duration::from_millis(3_600_000))),
        "permanent" => Err(permanent("never", "look at it").with_details(&serde_json::json!({ "cents": 5 }))),
        "rejected" => Err(rejected("bad", "not acceptable")),
        "trap" => panic!("as asked"),
        "rollback" => behaviours::rollback(&note),
        "event" => behaviours::event(&note, &event),
        "delivery" => behaviours::delivery(&note, &delivery),
        "empty-payload" | "binary-payload" | "large-payload" => behaviours::blob(&behaviour, &event),
        "values-in" => values::write(),
        "values-out" => values::copy(&note, "typed", &[("expected", "out")]),
        "nulls" => values::copy(&note, "typed", &[("nulls", "nulls-out")]),
        "arrays" => values::arrays(&note),
        "rows" => behaviours::rows(&note),
        "queue" => behaviours::queue(&note),
        "database-error" => behaviours::database_error(),
        "refused" => behaviours::refused(),
        "outbox" => behaviours::outbox(&note),
        "log" => behaviours::log(&delivery),
        "context" => behaviours::context(&note),
        "stable-uuid" => behaviours::stable_uuid(&note, &delivery),
        other => Err(rejected("unknown-behaviour", other)),
    }
}

/// What a guest saw, by the behaviour that it is asked for.
struct Note<'a>(&'a str);

impl Note<'_> {
    fn write(&self, name: &str, value: impl ToString) -> wonce::Result<()> {
        sql::execute(INSERT, &[&self.0, &name, &value.to_string()])?;
        Ok(())
    }

    fn done(&self, name: &str, value: impl ToString) -> wonce::Result {
        self.write(name, value)?;
        Ok(Done)
    }
}

const INSERT: &str = "insert into conformance.note (behaviour, name, value) values ($1, $2, $3)";
