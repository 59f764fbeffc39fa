//! What people read of an alert: one sentence with the measured value, the limit and the next step.
//! Knows nothing of where it is shown.

use super::{AlertRule, AlertRules};

/// The sentence of an alert that fires.
#[must_use]
pub fn firing(handler: &str, rule: AlertRule, value: f64, limit: f64, rules: &AlertRules) -> String {
    let (is, most) = (spent(value), spent(limit));
    let window = spent(rules.error_window.as_secs_f64());
    let shares = || format!("{} of the runs of {handler} in {window}", percent(value));
    match rule {
        AlertRule::DeadLetters => {
            let letters = if value < 2.0 { "dead letter" } else { "dead letters" };
            format!("{handler} has {value:.0} {letters}, the limit is {limit:.0}: see `wonce dead groups`")
        }
        AlertRule::DeadLetterAge => format!(
            "the oldest dead letter of {handler} waits for {is}, the limit is {most}: see `wonce dead list`"
        ),
        AlertRule::OldestDueAge => format!(
            "the oldest due delivery of {handler} waits for {is}, the limit is {most}: see `wonce handler show {handler}`"
        ),
        AlertRule::ErrorShare => {
            format!("{} failed, the limit is {}: see `wonce dead groups`", shares(), percent(limit))
        }
        AlertRule::ClassShare(class) => {
            format!("{} ended with {class}, the limit is {}: see docs/faults.md", shares(), percent(limit))
        }
        AlertRule::NoClaims => format!(
            "{handler} has due deliveries and claimed none for {is}, the limit is {most}: see `wonce status` for hosts that run it"
        ),
    }
}

/// The sentence of one that does not fire any more.
#[must_use]
pub fn resolved(handler: &str, rule: AlertRule) -> String {
    format!("{rule} of {handler} is within its limit again")
}

/// The sentence of one whose rule is gone while it fired.
#[must_use]
pub fn dropped(handler: &str, rule: AlertRule) -> String {
    format!("{rule} of {handler} is not watched any more: the configuration has no limit for it")
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// The two largest units of a time.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "cast saturates, and no time is negative"
)]
fn spent(seconds: f64) -> String {
    const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
    let mut left = seconds.round() as u64;
    let mut parts = Vec::new();
    for (unit, size) in UNITS {
        if left >= size && parts.len() < 2 {
            parts.push(format!("{} {unit}", left / size));
            left %= size;
        }
    }
    if parts.is_empty() { "0 s".to_owned() } else { parts.join(" ") }
}
