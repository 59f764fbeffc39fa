//! The guest, a sandbox around it, and a transaction that lives in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use wonce_core::delivery::{Attempt, Round};
use wonce_core::effect::Effect;
use wonce_core::event::{Event, Micros};
use wonce_core::fault::Fault;
use wonce_core::name::{HandlerName, Key, OrderingKey, SinkName, SourceName};
use wonce_core::outcome::Outcome;
use wonce_core::sql::{Column, DbError, ResultLimits, RowSet, SqlError, SqlLimit, Value};
use wonce_wasm::{Call, DeliveryFacts, Ended, Limits, Prepared, Sandbox, Settings, Transaction};

pub(crate) const NOW: Micros = Micros(1_700_000_000_123_456);

/// Builds the guest unless it is built; cargo's own lock serves tests that run at once.
pub(crate) fn guest() -> Vec<u8> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/Cargo.toml");
    let target = scratch("guest");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--locked", "--release", "--target", "wasm32-wasip2", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("RUSTFLAGS")
        .status()
        .unwrap();
    assert!(status.success(), "the guest does not build");
    std::fs::read(target.join("wasm32-wasip2/release/wonce_wasm_guest.wasm")).unwrap()
}

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A sandbox whose compile cache all tests share.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::new(Settings { slots: 4, cache_dir: Some(scratch("compiled")), ..Settings::default() }).unwrap()
}

/// Runs one script with the default limits.
pub(crate) async fn run(script: &str) -> Ended<Fake> {
    run_with(script, Limits::default()).await
}

pub(crate) async fn run_with(script: &str, limits: Limits) -> Ended<Fake> {
    let sandbox = sandbox();
    let prepared = sandbox.prepare(&guest()).await.unwrap();
    invoke(&sandbox, &prepared, script, "order-1", limits).await
}

pub(crate) async fn invoke(
    sandbox: &Sandbox,
    prepared: &Prepared,
    script: &str,
    key: &str,
    limits: Limits,
) -> Ended<Fake> {
    sandbox.invoke(prepared, Call { limits, ..call(script, key) }, Fake::default()).await
}

/// The reason that the guest answered with.
pub(crate) fn answer(ended: &Ended<Fake>) -> &str {
    match &ended.outcome {
        Outcome::Ignored(reason) => reason,
        other @ (Outcome::Done | Outcome::Failed { .. }) => panic!("the guest did not answer: {other:?}"),
    }
}

pub(crate) fn fault(ended: &Ended<Fake>) -> &Fault {
    match &ended.outcome {
        Outcome::Failed { fault, .. } => fault,
        other @ (Outcome::Done | Outcome::Ignored(_)) => panic!("the guest did not fail: {other:?}"),
    }
}

pub(crate) fn call(script: &str, key: &str) -> Call {
    Call {
        handler: HandlerName::parse("payments").unwrap(),
        event: Event {
            via: SourceName::parse("shop").unwrap(),
            id: None,
            source: "shop".to_owned(),
            event_type: "order.paid".to_owned(),
            subject: None,
            time: Some(Micros(7)),
            content_type: None,
            data_schema: None,
            traceparent: Some("00-trace".to_owned()),
            extensions: vec![("region".to_owned(), "eu".to_owned())],
            data: script.as_bytes().to_vec(),
        },
        delivery: DeliveryFacts {
            key: Key::parse(key).unwrap(),
            ordering_key: Some(OrderingKey::parse("customer-9").unwrap()),
            attempt: Attempt(2),
            max_attempts: 8,
            round: Round(1),
            received: Micros(5),
        },
        now: NOW,
        settings: Arc::new(BTreeMap::from([("mode".to_owned(), "fast".to_owned())])),
        emits: Arc::new(BTreeSet::from([SinkName::parse("billing").unwrap()])),
        limits: Limits::default(),
    }
}

/// A transaction in memory. `select fail_<sqlstate>` aborts it, `select lost` loses the
/// connection, `select hang` never ends, `select many` has too many rows. What is queued runs before
/// the next statement that is waited for.
#[derive(Debug, Default)]
pub(crate) struct Fake {
    pub(crate) statements: Vec<String>,
    pub(crate) queued: Vec<String>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) aborted: Option<DbError>,
}

impl Fake {
    async fn run(&mut self, statement: &str) -> Result<(), SqlError> {
        for queued in std::mem::take(&mut self.queued) {
            self.run_one(&queued).await?;
        }
        self.run_one(statement).await
    }

    async fn run_one(&mut self, statement: &str) -> Result<(), SqlError> {
        self.statements.push(statement.to_owned());
        let word = statement.strip_prefix("select ").unwrap_or(statement);
        if let Some(sqlstate) = word.strip_prefix("fail_") {
            let error = DbError {
                sqlstate: sqlstate.to_owned(),
                message: "as asked".to_owned(),
                ..DbError::default()
            };
            self.aborted = Some(error.clone());
            return Err(SqlError::Database(error));
        }
        match word {
            "lost" => Err(SqlError::ConnectionLost("the server went away".to_owned())),
            "hang" => std::future::pending().await,
            "many" => Err(SqlError::LimitExceeded(SqlLimit::Rows)),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Transaction for Fake {
    async fn execute(&mut self, statement: &str, _: Vec<Value>) -> Result<u64, SqlError> {
        self.run(statement).await.map(|()| 1)
    }

    async fn query(
        &mut self,
        statement: &str,
        params: Vec<Value>,
        _: ResultLimits,
    ) -> Result<RowSet, SqlError> {
        self.run(statement).await?;
        let column = Column { name: "c".to_owned(), type_name: "text".to_owned() };
        Ok(RowSet { columns: vec![column], rows: vec![params] })
    }

    async fn queue(&mut self, statement: &str, _: Vec<Value>) -> Result<(), SqlError> {
        self.queued.push(statement.to_owned());
        Ok(())
    }

    async fn emit(&mut self, effect: Effect) -> Result<(), SqlError> {
        self.effects.push(effect);
        Ok(())
    }

    fn aborted_by(&self) -> Option<&DbError> {
        self.aborted.as_ref()
    }
}
