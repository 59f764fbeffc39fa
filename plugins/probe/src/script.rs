//! The script as it is written in the payload; `lib.rs` documents it.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use crate::value::Typed;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Script {
    #[serde(default)]
    pub(crate) steps: Vec<Step>,
    #[serde(default)]
    pub(crate) end: Ending,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ending {
    #[default]
    Done,
    Ignored(String),
    Retry(Problem),
    Permanent(Problem),
    Rejected(Problem),
    ErrorBytes(usize),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Problem {
    #[serde(default = "Problem::default_code")]
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) message: String,
    pub(crate) after_ms: Option<u64>,
}

impl Problem {
    fn default_code() -> String {
        "scripted".to_owned()
    }
}

pub(crate) enum Step {
    Execute(Statement),
    Query(Statement),
    Queue(Statement),
    Act(Action),
}

/// A statement names its text by `sql`, `query` or `queue` and has options beside it, every other step is one member.
impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let step = Json::deserialize(deserializer)?;
        let read = if step.get("sql").is_some() {
            serde_json::from_value(step).map(Self::Execute)
        } else if step.get("query").is_some() {
            serde_json::from_value(step).map(Self::Query)
        } else if step.get("queue").is_some() {
            serde_json::from_value(step).map(Self::Queue)
        } else {
            serde_json::from_value(step).map(Self::Act)
        };
        read.map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statement {
    #[serde(alias = "query", alias = "queue")]
    pub(crate) sql: String,
    #[serde(default)]
    pub(crate) params: Vec<Typed>,
    #[serde(default)]
    pub(crate) expect_error: Json,
    #[serde(default)]
    pub(crate) ignore_error: bool,
    #[serde(default)]
    pub(crate) emit_rows: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Action {
    FailUnlessSql(String),
    Emit(Emission),
    EmitFacts(bool),
    Log(Json),
    LogFlood(u64),
    BigLog(usize),
    Stdout(String),
    Stderr(String),
    RequireAttempt(u32),
    Loop(bool),
    AllocMib(usize),
    Recurse(bool),
    Abort(bool),
    Exit(i32),
    Panic(String),
    SleepMs(u64),
    ReadFile(String),
    Connect(String),
    Env(bool),
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Emission {
    pub(crate) sink: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) data: Json,
    pub(crate) ordering_key: Option<String>,
    pub(crate) dedup_key: Option<String>,
    pub(crate) delay_ms: Option<u64>,
    pub(crate) attributes: BTreeMap<String, String>,
    pub(crate) bytes: Option<usize>,
    pub(crate) ignore_error: bool,
}

impl Default for Emission {
    fn default() -> Self {
        Self {
            sink: "out".to_owned(),
            kind: "probe.out".to_owned(),
            data: Json::Null,
            ordering_key: None,
            dedup_key: None,
            delay_ms: None,
            attributes: BTreeMap::new(),
            bytes: None,
            ignore_error: false,
        }
    }
}

/// The long form of `log`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Line {
    #[serde(default = "Line::default_level")]
    pub(crate) level: String,
    pub(crate) message: String,
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, String>,
}

impl Line {
    fn default_level() -> String {
        "info".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_step_or_member_is_refused() {
        for text in [
            r#"{"steps": [{"dance": true}]}"#,
            r#"{"steps": [{}]}"#,
            r#"{"steps": [{"sql": "select 1", "parms": []}]}"#,
            r#"{"stepz": []}"#,
            r#"{"end": "gone"}"#,
        ] {
            assert!(serde_json::from_str::<Script>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn steps_of_each_form_are_read() {
        let text = r#"{"steps": [{"sql": "select 1"}, {"query": "select 1", "emit_rows": true},
            {"queue": "select 1"}, {"emit": {}}, {"loop": true}, {"exit": 0}], "end": {"retry": {"after_ms": 5}}}"#;
        let script: Script = serde_json::from_str(text).unwrap();
        assert!(matches!(
            script.steps.as_slice(),
            [
                Step::Execute(_),
                Step::Query(_),
                Step::Queue(_),
                Step::Act(Action::Emit(_)),
                Step::Act(Action::Loop(true)),
                _
            ]
        ));
        assert!(matches!(script.end, Ending::Retry(problem) if problem.after_ms == Some(5)));
    }
}
