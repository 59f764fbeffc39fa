//! What a settlement looks like from outside: one log line and one set of counters each, all with
//! the same fields. Knows nothing of how it was decided.

use std::time::{Duration, SystemTime};

use wonce_core::delivery::Repeat;
use wonce_core::fault::{Fault, FaultClass};
use wonce_wasm::{LogLevel, LogLine};

use super::is_handlers_own;
use crate::pipeline::handler::Handler;
use crate::pipeline::invoke::LastRun;
use crate::store::claim::ClaimedDelivery;
use crate::store::settle::Settlement;
use crate::telemetry::metrics::{self, Found, InvocationEnd};
use crate::telemetry::trace_id;

/// A log line with the stable fields of a delivery.
macro_rules! say {
    ($level:ident, $handler:expr, $claimed:expr, $class:expr, $duration:expr, $($message:tt)+) => {{
        let (handler, claimed): (&Handler, &ClaimedDelivery) = ($handler, $claimed);
        tracing::$level!(
            handler = %handler.name,
            key = %claimed.delivery.key,
            event_id = claimed.event.id.as_deref().unwrap_or_default(),
            source = %claimed.event.source,
            attempt = claimed.delivery.attempt.0,
            error_class = $class,
            duration_ms = millis($duration),
            version = short(&handler.version),
            trace_id = claimed.event.traceparent.as_deref().and_then(trace_id).unwrap_or_default(),
            $($message)+
        )
    }};
}

/// Reports a claim that found work.
pub(in crate::pipeline) fn claimed(handler: &Handler, took: Duration, deliveries: &[ClaimedDelivery]) {
    let now = SystemTime::now();
    metrics::claim(&handler.name, took, deliveries.iter().map(|claimed| since_accepted(claimed, now)));
}

/// Reports a committed settlement.
pub(in crate::pipeline) fn settled(
    handler: &Handler,
    claimed: &ClaimedDelivery,
    settlement: &Settlement,
    run: &LastRun,
) {
    let (guest, wall) = (run.usage.guest, run.usage.wall);
    match settlement {
        Settlement::Done { ignored } => {
            let end = if ignored.is_some() { InvocationEnd::Ignored } else { InvocationEnd::Done };
            metrics::invocation(&handler.name, end, guest);
            metrics::end_to_end(&handler.name, since_accepted(claimed, SystemTime::now()));
            metrics::effects_committed(&handler.name, run.usage.effects);
            match ignored {
                None => say!(debug, handler, claimed, "", wall, "delivery done"),
                Some(reason) => say!(info, handler, claimed, "", wall, reason, "delivery ignored"),
            }
        }
        Settlement::Retry { fault, after } => {
            count_fault(handler, fault, guest);
            metrics::retry(&handler.name, fault.class);
            let retry_ms = millis(*after);
            let (code, error) = (&fault.code, &fault.message);
            say!(
                warn,
                handler,
                claimed,
                fault.class.as_str(),
                wall,
                code,
                error,
                retry_ms,
                "attempt failed, will retry"
            );
        }
        Settlement::Dead { fault, reason, fingerprint } => {
            count_fault(handler, fault, guest);
            metrics::dead(&handler.name, *reason);
            let (code, error, reason) = (&fault.code, &fault.message, reason.as_str());
            say!(
                error,
                handler,
                claimed,
                fault.class.as_str(),
                wall,
                code,
                error,
                reason,
                fingerprint,
                "delivery is dead: study it with `wonce dead list`"
            );
        }
        Settlement::Repeat(Repeat::Duplicate) => {
            metrics::duplicates(&handler.name, Found::Late, 1);
            say!(info, handler, claimed, "", wall, "late duplicate, not handled again");
        }
        Settlement::Repeat(Repeat::KeyConflict) => {
            metrics::duplicates(&handler.name, Found::Late, 1);
            metrics::key_conflict(&handler.name);
            say!(
                warn,
                handler,
                claimed,
                "",
                wall,
                "late key conflict: another payload was handled under this key"
            );
        }
    }
}

/// Reports a settlement that somebody else was faster with.
pub(in crate::pipeline) fn overtaken(handler: &Handler, claimed: &ClaimedDelivery) {
    say!(
        info,
        handler,
        claimed,
        "",
        Duration::ZERO,
        "delivery was settled or moved by somebody else; rolled back"
    );
}

/// Reports a batch that was rolled back as a whole.
pub(in crate::pipeline) fn undone(handler: &Handler, deliveries: usize, error: &str) {
    metrics::batch_undone(&handler.name);
    tracing::debug!(
        handler = %handler.name,
        deliveries,
        error,
        "a batch was rolled back; its deliveries run singly and no attempt is counted"
    );
}

/// Reports a run that lost a race for a lock and starts over.
pub(in crate::pipeline) fn redone(handler: &Handler, claimed: &ClaimedDelivery, fault: &Fault) {
    metrics::fault(&handler.name, fault.class);
    let (code, error) = (&fault.code, &fault.message);
    say!(
        debug,
        handler,
        claimed,
        fault.class.as_str(),
        Duration::ZERO,
        code,
        error,
        "contention, redoing at once"
    );
}

/// Reports a delivery that goes back untouched because the host failed.
pub(in crate::pipeline) fn released(handler: &Handler, claimed: &ClaimedDelivery, fault: &Fault) {
    metrics::fault(&handler.name, FaultClass::Host);
    let (code, error) = (&fault.code, &fault.message);
    say!(
        warn,
        handler,
        claimed,
        fault.class.as_str(),
        Duration::ZERO,
        code,
        error,
        "the host could not finish this delivery; it stays pending and no attempt is counted"
    );
}

/// Writes the guest's own log lines.
pub(in crate::pipeline) fn lines(handler: &Handler, claimed: &ClaimedDelivery, run: &LastRun) {
    for _ in 0..run.log_dropped {
        metrics::log_line_dropped();
    }
    for line in &run.log {
        let text = with_fields(line);
        match line.level {
            LogLevel::Trace => say!(trace, handler, claimed, "", Duration::ZERO, guest = true, "{text}"),
            LogLevel::Debug => say!(debug, handler, claimed, "", Duration::ZERO, guest = true, "{text}"),
            LogLevel::Info => say!(info, handler, claimed, "", Duration::ZERO, guest = true, "{text}"),
            // A guest's error is the guest's affair; the host's error level means that a person must act.
            LogLevel::Warn | LogLevel::Error => {
                say!(warn, handler, claimed, "", Duration::ZERO, guest = true, "{text}");
            }
        }
    }
}

/// The last lines, at most so many lines and bytes, for the attempt's row.
pub(in crate::pipeline) fn tail(run: &LastRun, max_lines: usize, max_bytes: usize) -> String {
    let from = run.log.len().saturating_sub(max_lines);
    let text = run.log[from..].iter().map(with_level).collect::<Vec<_>>().join("\n");
    let cut = text.len().saturating_sub(max_bytes);
    text[text.ceil_char_boundary(cut)..].to_owned()
}

fn count_fault(handler: &Handler, fault: &Fault, guest: Duration) {
    metrics::fault(&handler.name, fault.class);
    if is_handlers_own(fault.class) {
        metrics::invocation(&handler.name, InvocationEnd::Failed, guest);
    }
}

fn with_level(line: &LogLine) -> String {
    let level = match line.level {
        LogLevel::Trace => "trace",
        LogLevel::Debug => "debug",
        LogLevel::Info => "info",
        LogLevel::Warn => "warn",
        LogLevel::Error => "error",
    };
    format!("{level} {}", with_fields(line))
}

fn with_fields(line: &LogLine) -> String {
    let mut text = line.message.clone();
    for (name, value) in &line.fields {
        text.push_str(&format!(" {name}={value}"));
    }
    text
}

/// From acceptance to now. The two times are read on different machines: never negative.
fn since_accepted(claimed: &ClaimedDelivery, now: SystemTime) -> Duration {
    let accepted = Duration::from_micros(u64::try_from(claimed.accepted_at.0).unwrap_or_default());
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().saturating_sub(accepted)
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

fn short(version: &[u8; 32]) -> String {
    version.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
