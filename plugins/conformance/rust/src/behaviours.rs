//! Everything but the values.

use wonce::prelude::*;
use wonce::sql::{Error, Row};

use crate::{INSERT, Note};

pub(crate) fn retried(note: &Note<'_>, delivery: &Delivery) -> wonce::Result {
    note.write("attempt", delivery.attempt)?;
    if delivery.attempt == 1 { Err(retry("not-yet", "wait for it")) } else { Ok(Done) }
}

pub(crate) fn rollback(note: &Note<'_>) -> wonce::Result {
    note.write("gone", "gone")?;
    outbox::emit(Effect::to("out").text("conformance.gone", "gone"))?;
    Err(permanent("rolled-back", "nothing of it is there"))
}

pub(crate) fn event(note: &Note<'_>, event: &Event) -> wonce::Result {
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    note.write("id", &event.id)?;
    note.write("source", &event.source)?;
    note.write("type", &event.type_)?;
    note.write("subject", or_none(&event.subject))?;
    note.write("time", event.time.map_or("none".to_owned(), |time| time.to_string()))?;
    note.write("datacontenttype", or_none(&event.datacontenttype))?;
    note.write("dataschema", or_none(&event.dataschema))?;
    let extensions = event.extensions.iter().map(|(name, value)| format!("{name}={value}"));
    note.write("extensions", extensions.collect::<Vec<_>>().join("\n"))?;
    note.done("data", event.text()?)
}

pub(crate) fn delivery(note: &Note<'_>, delivery: &Delivery) -> wonce::Result {
    let or_none = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    note.write("key", &delivery.key)?;
    note.write("ordering-key", or_none(&delivery.ordering_key))?;
    note.write("attempt", delivery.attempt)?;
    note.write("max-attempts", delivery.max_attempts)?;
    note.write("round", delivery.round)?;
    note.write("received", delivery.received)?;
    note.done("traceparent", or_none(&delivery.traceparent))
}

pub(crate) fn blob(behaviour: &str, event: &Event) -> wonce::Result {
    sql::execute(
        "insert into conformance.blob (behaviour, data) values ($1, $2)",
        &[&behaviour, &event.data],
    )?;
    Ok(Done)
}

pub(crate) fn rows(note: &Note<'_>) -> wonce::Result {
    let rows: Vec<Row> =
        sql::query("select n, n::text || '!' as word from generate_series(1, 3) n order by n", &[])?;
    let columns = rows[0].columns().iter().map(|column| format!("{} {}", column.name, column.type_name));
    note.write("columns", columns.collect::<Vec<_>>().join(", "))?;
    let mut texts = Vec::new();
    for row in &rows {
        texts.push(format!("{} {}", row.at::<i32>(0)?, row.at::<String>(1)?));
    }
    note.write("rows", texts.join(", "))?;
    let none: Vec<Row> = sql::query("select 1 where false", &[])?;
    note.write("no-rows", none.len())?;
    let affected = sql::execute("update conformance.note set name = name where behaviour = 'rows'", &[])?;
    note.done("affected", affected)
}

pub(crate) fn queue(note: &Note<'_>) -> wonce::Result {
    sql::queue(INSERT, &[&"queue", &"queued", &"yes"])?;
    let seen: i64 = sql::query_one("select count(*) from conformance.note where behaviour = 'queue'", &[])?;
    note.done("seen", seen)
}

pub(crate) fn database_error() -> wonce::Result {
    let Err(error) = sql::execute("insert into conformance.once (id) values ('taken')", &[]) else {
        return Err(permanent("no-error", "the key is taken"));
    };
    let code = format!("sqlstate-{}", error.sqlstate().unwrap_or("none"));
    let constraint = error.constraint().unwrap_or("none").to_owned();
    let later = match sql::execute("select 1", &[]) {
        Err(Error::Aborted) => "aborted",
        _ => "something else",
    };
    let effect = match outbox::emit(Effect::to("out").text("conformance.gone", "gone")) {
        Err(outbox::Error::Aborted) => "aborted",
        _ => "something else",
    };
    Err(permanent(code, format!("{constraint}, then {later}, then {effect}")))
}

pub(crate) fn refused() -> wonce::Result {
    let denied = word(sql::execute("commit", &[]).map(drop));
    let parameter = word(sql::execute("select $1::int4", &[&true]).map(drop));
    // The first two left the transaction as it was.
    sql::execute("select 1", &[])?;
    let limit = word(sql::query::<Row>("select generate_series(1, 1000)", &[]).map(drop));
    Err(permanent("refused", format!("{denied}, {parameter}, {limit}")))
}

fn word(answer: Result<(), Error>) -> String {
    match answer {
        Err(Error::Denied(_)) => "denied".to_owned(),
        // The SDK counts as the statement does, from 1; the contract from 0.
        Err(Error::Parameter { number, .. }) => format!("parameter {}", number - 1),
        Err(Error::LimitExceeded(sql::Limit::Rows)) => "limit rows".to_owned(),
        Err(other) => other.to_string(),
        Ok(()) => "no error".to_owned(),
    }
}

pub(crate) fn outbox(note: &Note<'_>) -> wonce::Result {
    let whole = Effect::to("out")
        .ordered_by("group-1")
        .dedup_key("own-key")
        .delay(std::time::Duration::from_millis(1))
        .attribute("tenant", "a")
        .attribute("region", "eu")
        .bytes("conformance.whole", "application/octet-stream", vec![0, 255, 16]);
    note.write("whole", outbox::emit(whole)?)?;
    let bare = Effect::to("out").json("conformance.bare", &serde_json::json!({ "n": 1 }))?;
    note.write("bare", outbox::emit(bare)?)?;
    let unknown = match outbox::emit(Effect::to("nowhere").text("conformance.gone", "gone")) {
        Err(outbox::Error::UnknownSink(sink)) => format!("unknown {sink}"),
        _ => "something else".to_owned(),
    };
    note.done("unknown", unknown)
}

pub(crate) fn log(delivery: &Delivery) -> wonce::Result {
    trace!(n = 1; "a trace");
    debug!(n = 2; "a debug");
    info!(n = 3; "an info");
    warn!(n = 4; "a warn");
    error!(n = 5; "an error");
    if delivery.attempt == 1 { Err(retry("logged", "look at the log")) } else { Ok(Done) }
}

pub(crate) fn context(note: &Note<'_>) -> wonce::Result {
    let same: bool = sql::query_one("select $1::timestamptz = now()", &[&context::now()])?;
    note.write("now-is-sqls", same)?;
    note.write("remaining", context::remaining().as_millis())?;
    note.write("greeting", config::get("greeting").unwrap_or_else(|| "none".to_owned()))?;
    note.done("unset", config::get("unset").unwrap_or_else(|| "none".to_owned()))
}

pub(crate) fn stable_uuid(note: &Note<'_>, delivery: &Delivery) -> wonce::Result {
    let id = context::stable_uuid("one").to_string();
    if delivery.attempt == 1 {
        return Err(retry("id", id));
    }
    note.write("one", id)?;
    note.done("other", context::stable_uuid("other"))
}
