//! `[alert]` and `[handlers.<name>.alert]`: limits whose crossing calls for people. The handler's
//! words win over the common ones. Knows nothing of how a limit is watched.

use std::ops::RangeInclusive;
use std::time::Duration;

use wonce_core::alert::{AlertRule, AlertRules, MAX_WINDOW, Unit};
use wonce_core::fault::FaultClass;

use super::reader::Reader;
use super::report::Complaint;
use super::secret::Secret;
use super::sink::http_url;
use super::suggest;
use super::value::Value;

const MAX_LETTERS: u64 = 1_000_000_000;
const MAX_RUNS: u64 = 1_000_000;
const DAY: Duration = Duration::from_secs(86_400);
const AGE: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(365 * 86_400);
/// A shorter window would see less than one column of what hosts remember.
const WINDOW: RangeInclusive<Duration> = Duration::from_secs(10)..=MAX_WINDOW;
const NO_CLAIMS: RangeInclusive<Duration> = Duration::ZERO..=MAX_WINDOW;
/// Where classes have their shares.
const CLASS_SHARE: &str = "class_share";

/// `[alert]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Alert {
    /// Of every handler, unless its own say otherwise.
    pub rules: AlertRules,
    /// Who is told; the address may be a secret.
    pub webhook: Option<Secret>,
}

pub(crate) fn read_common(table: &mut Reader<'_, '_>) -> Alert {
    let webhook = table.parsed("webhook", http_url);
    Alert { rules: read(table, &AlertRules::default()), webhook }
}

/// Reads a table of rules over those that hold without it. A limit of zero turns a rule off.
pub(crate) fn read(table: &mut Reader<'_, '_>, otherwise: &AlertRules) -> AlertRules {
    let mut rules = AlertRules {
        limits: otherwise.limits.clone(),
        error_window: table.duration("error_window", WINDOW, otherwise.error_window),
        error_min_runs: table.integer("error_min_runs", 1..=MAX_RUNS).unwrap_or(otherwise.error_min_runs),
        wait: table.duration("for", Duration::ZERO..=DAY, otherwise.wait),
        calm: table.duration("calm", Duration::ZERO..=DAY, otherwise.calm),
    };
    for rule in AlertRule::PLAIN {
        let limit = table.scalar(&rule.to_string(), |value| limit(rule, value));
        set(&mut rules, rule, limit);
    }
    table.section(CLASS_SHARE, |table| {
        for name in table.names() {
            match class(&name) {
                Ok(class) => {
                    let rule = AlertRule::ClassShare(class);
                    let limit = table.scalar(&name, |value| limit(rule, value));
                    set(&mut rules, rule, limit);
                }
                // Asked for with an answer of its own: that there is no such key would be half of it.
                Err(complaint) => drop(table.scalar::<()>(&name, |_| Err(complaint))),
            }
        }
    });
    rules
}

fn set(rules: &mut AlertRules, rule: AlertRule, limit: Option<f64>) {
    match limit {
        None => {}
        Some(0.0) => drop(rules.limits.remove(&rule)),
        Some(limit) => drop(rules.limits.insert(rule, limit)),
    }
}

fn limit(rule: AlertRule, value: &Value) -> Result<f64, Complaint> {
    match (rule.unit(), rule) {
        (Unit::Letters, _) => value.integer(&(0..=MAX_LETTERS)).map(float),
        (Unit::Seconds, AlertRule::NoClaims) => value.duration(&NO_CLAIMS).map(|limit| limit.as_secs_f64()),
        (Unit::Seconds, _) => value.duration(&AGE).map(|limit| limit.as_secs_f64()),
        (Unit::Share, _) => value.float(&(0.0..=1.0)),
    }
}

#[expect(clippy::cast_precision_loss, reason = "no limit is beyond 2^53")]
fn float(number: u64) -> f64 {
    number as f64
}

fn class(name: &str) -> Result<FaultClass, Complaint> {
    if let Some(class) = FaultClass::ALL.into_iter().find(|class| class.as_str() == name) {
        return Ok(class);
    }
    let words = FaultClass::ALL.map(FaultClass::as_str);
    let remedy = match suggest::nearest(name, words.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("choose one of {}", words.join(", ")),
    };
    Err(Complaint::new(format!("\"{name}\" is no class of faults"), remedy))
}
