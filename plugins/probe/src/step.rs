//! One step of the script.

use std::time::Duration;

use serde_json::json;
use wonce::log::{self, Level};
use wonce::prelude::*;
use wonce::sql::{Error, Row, ToSql};

use crate::script::{Action, Emission, Line, Statement, Step};
use crate::{misbehave, reach, value};

pub(crate) fn run(step: Step, event: &Event, delivery: &Delivery) -> wonce::Result<()> {
    match step {
        Step::Execute(statement) => execute(&statement),
        Step::Query(statement) => query(&statement),
        Step::Queue(statement) => queue(&statement),
        Step::Act(action) => act(action, event, delivery),
    }
}

fn act(action: Action, event: &Event, delivery: &Delivery) -> wonce::Result<()> {
    match action {
        Action::FailUnlessSql(text) => fail_unless(&text),
        Action::Emit(emission) => emit(emission),
        Action::EmitFacts(true) => reach::emit_facts(event, delivery),
        Action::Log(line) => write_line(line),
        Action::LogFlood(count) => {
            (0..count).for_each(|number| info!("line {number}"));
            Ok(())
        }
        Action::BigLog(size) => {
            info!("{}", "x".repeat(size));
            Ok(())
        }
        Action::Stdout(text) => reach::print(&text),
        Action::Stderr(text) => reach::complain(&text),
        Action::RequireAttempt(wanted) => require_attempt(wanted, delivery),
        Action::Loop(true) => misbehave::run_forever(),
        Action::AllocMib(count) => misbehave::allocate(count),
        Action::Recurse(true) => misbehave::recurse(),
        Action::Abort(true) => std::process::abort(),
        Action::Exit(code) => std::process::exit(code),
        Action::Panic(text) => panic!("{text}"),
        Action::SleepMs(wait) => {
            std::thread::sleep(Duration::from_millis(wait));
            Ok(())
        }
        Action::ReadFile(path) => reach::read_file(&path),
        Action::Connect(address) => reach::connect(&address),
        Action::Env(true) => reach::environment(),
        Action::EmitFacts(false)
        | Action::Loop(false)
        | Action::Recurse(false)
        | Action::Abort(false)
        | Action::Env(false) => Ok(()),
    }
}

fn execute(statement: &Statement) -> wonce::Result<()> {
    expected(statement, sql::execute(&statement.sql, &params(statement)).map(drop))
}

fn queue(statement: &Statement) -> wonce::Result<()> {
    expected(statement, sql::queue(&statement.sql, &params(statement)))
}

fn query(statement: &Statement) -> wonce::Result<()> {
    let answer = sql::query::<Row>(&statement.sql, &params(statement));
    if statement.emit_rows
        && let Ok(rows) = &answer
    {
        outbox::emit(Effect::to("out").json("probe.rows", &value::written_rows(rows))?)?;
    }
    expected(statement, answer.map(drop))
}

fn params(statement: &Statement) -> Vec<&dyn ToSql> {
    statement.params.iter().map(|param| &param.0 as &dyn ToSql).collect()
}

fn expected(statement: &Statement, answer: Result<(), Error>) -> wonce::Result<()> {
    if statement.ignore_error {
        return Ok(());
    }
    let wanted = &statement.expect_error;
    match answer {
        Ok(()) if wanted.is_null() || wanted == false => Ok(()),
        Ok(()) => Err(permanent("probe-unexpected", format!("\"{}\" did not fail", statement.sql))),
        Err(error) if wanted.is_null() || wanted == false => Err(error.into()),
        Err(error) if wanted == true || wanted == word(&error) => Ok(()),
        Err(error) => {
            Err(permanent("probe-unexpected", format!("\"{}\" failed otherwise: {error}", statement.sql)))
        }
    }
}

/// What a script calls an error.
fn word(error: &Error) -> &str {
    match error {
        Error::Database(answer) => &answer.sqlstate,
        Error::Aborted => "aborted",
        Error::Parameter { .. } => "parameter",
        Error::Denied(_) => "denied",
        Error::LimitExceeded(_) => "limit",
        Error::ConnectionLost(_) => "connection-lost",
        Error::RowCount { .. }
        | Error::NoColumn { .. }
        | Error::ColumnCount { .. }
        | Error::Column { .. } => "row",
    }
}

fn fail_unless(text: &str) -> wonce::Result<()> {
    if sql::query_one::<Option<bool>>(text, &[])? == Some(true) {
        return Ok(());
    }
    Err(permanent("probe-unexpected", format!("\"{text}\" is not true")))
}

fn emit(emission: Emission) -> wonce::Result<()> {
    let mut draft = Effect::to(emission.sink);
    if let Some(key) = emission.ordering_key {
        draft = draft.ordered_by(key);
    }
    if let Some(key) = emission.dedup_key {
        draft = draft.dedup_key(key);
    }
    if let Some(wait) = emission.delay_ms {
        draft = draft.delay(Duration::from_millis(wait));
    }
    for (name, value) in emission.attributes {
        draft = draft.attribute(name, value);
    }
    let effect = match emission.bytes {
        Some(size) => draft.bytes(emission.kind, "application/octet-stream", vec![b'x'; size]),
        None => draft.json(emission.kind, &emission.data)?,
    };
    match outbox::emit(effect) {
        Err(error) if !emission.ignore_error => Err(error.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn write_line(line: serde_json::Value) -> wonce::Result<()> {
    let line = match line {
        serde_json::Value::String(message) => json!({ "message": message }),
        long => long,
    };
    let line: Line = serde_json::from_value(line)?;
    let level = match line.level.as_str() {
        "trace" => Level::Trace,
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        other => return Err(rejected("undecodable-payload", format!("\"{other}\" is not a level"))),
    };
    log::write(level, &line.message, &line.fields.into_iter().collect::<Vec<_>>());
    Ok(())
}

fn require_attempt(wanted: u32, delivery: &Delivery) -> wonce::Result<()> {
    if delivery.attempt >= wanted {
        return Ok(());
    }
    Err(retry("probe-too-early", format!("this is attempt {} and {wanted} is wanted", delivery.attempt)))
}
