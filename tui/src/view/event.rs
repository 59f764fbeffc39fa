//! One dead letter, and one event from acceptance to outcome: payload, attempts, effects, what people
//! did. Knows nothing of lists.

use ratatui::layout::Rect;
use wonce_api::action::Action;
use wonce_api::dead_letter::{DeadLetterDetail, Edit, Payload};
use wonce_api::event::{AttemptSeen, EffectSeen, Timeline};

use super::Hits;
use super::canvas::Canvas;
use super::page::{self, Text};
use crate::desk::Answer;
use crate::json::laid_out;
use crate::model::Model;
use crate::text::{digest, duration_us, span, time, visible_lines};
use crate::theme::Role;

/// Bytes of a line of hex.
const HEX_BYTES: usize = 16;
/// Lines of a payload that are drawn; the export has the rest.
const MAX_PAYLOAD_LINES: usize = 2_000;

pub(super) fn letter(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let Some(Answer::Letter(detail)) = model.place().page.answer() else {
        return page::nothing(canvas, area, "DEAD LETTER", model);
    };
    let mut text = Text::default();
    facts(&mut text, detail);
    payload(&mut text, "Payload", &detail.payload);
    if let Some(received) = &detail.received {
        payload(&mut text, "Payload as it was received", received);
    }
    if let Some(original) = &detail.original {
        text.heading("The event that owns the key");
        text.fact("standing", format!("{}, accepted {}", original.standing, time(&original.accepted_at)));
        if let Some(first) = &original.payload {
            payload(&mut text, "Its payload", first);
        }
    }
    attempts(&mut text, &detail.attempts);
    effects(&mut text, &detail.effects);
    edits(&mut text, &detail.edits);
    actions(&mut text, &detail.actions);
    let title = format!("DEAD LETTER {}", detail.summary.id);
    page::text(canvas, area, &title, &text, model.place().scroll)
}

fn facts(text: &mut Text, detail: &DeadLetterDetail) {
    let summary = &detail.summary;
    let role = if summary.state == "dead" { Role::Bad } else { Role::Strong };
    text.line(role, format!("{} {}: {} {}", summary.kind, summary.state, summary.reason, summary.code));
    text.line(Role::Text, &summary.message);
    text.fact("handler", summary.handler.as_deref().unwrap_or("-"));
    text.fact("key", summary.key.as_deref().unwrap_or("-"));
    text.fact("type", &summary.event_type);
    text.fact("source", format!("{} via {}", detail.source, detail.via));
    text.some_fact("event id", detail.event_id.as_ref());
    text.some_fact("subject", detail.subject.as_ref());
    text.some_fact("ordering key", detail.ordering_key.as_ref());
    text.some_fact("class", detail.class.as_ref());
    if let Some(version) = &detail.version {
        text.fact("version", digest(version));
    }
    text.some_fact("owner", summary.owner.as_ref());
    text.fact("accepted", time(&detail.accepted_at));
    text.fact(
        "failed",
        format!("first {}, last {}", time(&detail.first_failed_at), time(&summary.last_failed_at)),
    );
    text.fact("attempts", format!("{} in round {}", summary.attempts, summary.round));
    text.some_fact("standing now", detail.standing.as_ref());
    text.some_fact("traceparent", detail.traceparent.as_ref());
    text.fact("group", summary.fingerprint.clone());
}

/// JSON is laid out, other text is shown as it is, bytes as hex with what can be read.
fn payload(text: &mut Text, name: &str, payload: &Payload) {
    let json = (payload.encoding == "text").then(|| laid_out(&payload.body)).flatten();
    let kind = match (&json, payload.encoding.as_str()) {
        (Some(_), _) => "JSON, laid out",
        (None, "text") => "text",
        (None, _) => "bytes",
    };
    text.heading(format!("{name}: {} bytes, {kind}", payload.bytes));
    let lines: Vec<String> = match (json, payload.encoding.as_str()) {
        (Some(json), _) => json.lines().map(str::to_owned).collect(),
        (None, "text") => {
            visible_lines(&payload.body).lines().map(|line| line.replace('\t', "    ")).collect()
        }
        (None, _) => hex(&payload.body),
    };
    let count = lines.len();
    for line in lines.into_iter().take(MAX_PAYLOAD_LINES) {
        text.line(Role::Text, format!("  {line}"));
    }
    if count > MAX_PAYLOAD_LINES {
        text.line(Role::Warning, format!("  {} more lines are not shown", count - MAX_PAYLOAD_LINES));
    }
}

/// `0000  68 65 6c 6c 6f  |hello|`.
fn hex(digits: &str) -> Vec<String> {
    let digits: Vec<char> = digits.chars().collect();
    let line = |(index, part): (usize, &[char])| {
        let bytes: Vec<String> = part.chunks(2).map(|pair| pair.iter().collect()).collect();
        let read = |byte: &String| match u8::from_str_radix(byte, 16) {
            Ok(byte @ 0x20..=0x7e) => char::from(byte),
            Ok(_) | Err(_) => '.',
        };
        let readable: String = bytes.iter().map(read).collect();
        format!("{:06x}  {:<47}  |{readable}|", index * HEX_BYTES, bytes.join(" "))
    };
    digits.chunks(HEX_BYTES * 2).enumerate().map(line).collect()
}

fn attempts(text: &mut Text, attempts: &[AttemptSeen]) {
    text.heading(format!("Attempts that failed: {}", attempts.len()));
    for attempt in attempts {
        let role = if attempt.decision == "dead" { Role::Bad } else { Role::Warning };
        text.line(
            role,
            format!(
                "  {}  round {} attempt {}: {} {} after {} -> {}",
                time(&attempt.at),
                attempt.round,
                attempt.attempt,
                attempt.class,
                attempt.code,
                duration_us(attempt.duration_us),
                attempt.decision
            ),
        );
        text.line(Role::Text, format!("    {}", attempt.message));
        for line in visible_lines(&attempt.log_tail).lines() {
            text.line(Role::Muted, format!("    | {line}"));
        }
    }
}

fn effects(text: &mut Text, effects: &[EffectSeen]) {
    text.heading(format!("Effects: {}", effects.len()));
    for effect in effects {
        text.line(
            Role::Text,
            format!(
                "  {}  {} to {}: {} after {} attempts",
                time(&effect.planned_at),
                effect.effect_type,
                effect.sink,
                effect.state,
                effect.attempts
            ),
        );
        if let Some(error) = &effect.last_error {
            text.line(Role::Warning, format!("    {error}"));
        }
    }
}

/// Nothing where nobody edited: most events are never touched.
fn edits(text: &mut Text, edits: &[Edit]) {
    if edits.is_empty() {
        return;
    }
    text.heading(format!("Edits of the payload: {}", edits.len()));
    for edit in edits {
        let (before, after) = (digest(&edit.hash_before), digest(&edit.hash_after));
        text.line(
            Role::Text,
            format!("  {}  {before} -> {after} by {}  {}", time(&edit.at), edit.actor, edit.reason),
        );
    }
}

fn actions(text: &mut Text, actions: &[Action]) {
    text.heading(format!("What people did: {}", actions.len()));
    text.actions(actions);
}

pub(super) fn event(canvas: &mut Canvas<'_>, area: Rect, model: &Model) -> Hits {
    let Some(Answer::Event(timeline)) = model.place().page.answer() else {
        return page::nothing(canvas, area, "EVENT", model);
    };
    let mut text = Text::default();
    standing(&mut text, timeline);
    attempts(&mut text, &timeline.attempts);
    effects(&mut text, &timeline.effects);
    text.heading(format!("Duplicates that are kept as a sample: {}", timeline.duplicates.len()));
    for duplicate in &timeline.duplicates {
        let after =
            duplicate.after_seconds.map_or_else(String::new, |s| format!(", {} after the first", span(s)));
        text.line(Role::Text, format!("  {} via {}{after}", time(&duplicate.at), duplicate.via));
    }
    text.heading(format!("Dead letters: {}", timeline.dead_letters.len()));
    for letter in &timeline.dead_letters {
        text.line(
            Role::Text,
            format!("  {}  {} {}: {}", letter.id, letter.state, letter.reason, letter.message),
        );
    }
    edits(&mut text, &timeline.edits);
    actions(&mut text, &timeline.actions);
    let title = format!("EVENT {} of {}", timeline.key, timeline.handler);
    page::text(canvas, area, &title, &text, model.place().scroll)
}

fn standing(text: &mut Text, timeline: &Timeline) {
    let accepted = &timeline.accepted;
    text.line(Role::Strong, format!("{} {}", timeline.key, timeline.standing));
    text.fact("accepted", format!("{} via {} from {}", time(&accepted.at), accepted.via, accepted.source));
    text.fact("type", &accepted.event_type);
    text.some_fact("event id", accepted.event_id.as_ref());
    text.fact("key rule", &accepted.key_rule);
    text.some_fact("ordering key", accepted.ordering_key.as_ref());
    text.fact("payload hash", digest(&accepted.payload_hash));
    text.some_fact("traceparent", accepted.traceparent.as_ref());
    if let Some(waiting) = &timeline.waiting {
        text.fact(
            "waits",
            format!(
                "round {}, {} attempts failed, due {} (handler {})",
                waiting.round,
                waiting.failed_attempts,
                time(&waiting.due_at),
                waiting.handler_state
            ),
        );
        if let Some(head) = &waiting.behind {
            text.fact("behind", format!("{}, {} between", head.key, head.between));
        }
    }
    if let Some(settled) = &timeline.outcome {
        let why = settled.ignored_reason.as_deref().map_or_else(String::new, |why| format!(" ({why})"));
        text.fact(
            "settled",
            format!(
                "{} {}{why} after {} attempts in transaction {}",
                time(&settled.at),
                settled.outcome,
                settled.attempts,
                settled.xact
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_shown_with_their_place_and_what_can_be_read() {
        assert_eq!(hex("68690a"), ["000000  68 69 0a                                         |hi.|"]);
        assert_eq!(hex(&"00".repeat(17)).len(), 2);
    }
}
