//! `wonce event …`: a timeline from top to bottom.

use wonce_api::event::{
    Accepted, AttemptSeen, DuplicateSeen, EffectSeen, Explanation, Settled, Timeline, Waiting,
};

use super::handler::{actions, failed_attempts};
use super::table::{Side, Table, cell, toned};
use super::text::{count, cut, digest, duration_us, facts, span, time, visible, visible_lines};
use super::{Paint, Tone};

const MESSAGE_WIDTH: usize = 60;

#[must_use]
pub fn timeline(timeline: &Timeline, paint: Paint) -> String {
    let tone = match timeline.standing.as_str() {
        "done" | "ignored" => Tone::Good,
        "dead" => Tone::Bad,
        _ => Tone::Warning,
    };
    let mut sections = vec![format!(
        "{} of {} is {}\n",
        visible(&timeline.key),
        visible(&timeline.handler),
        paint.tone(tone, &visible(&timeline.standing))
    )];
    sections.push(format!("{}{}", paint.heading("ACCEPTED"), accepted(&timeline.accepted)));
    if let Some(pending) = &timeline.waiting {
        sections.push(format!("{}{}", paint.heading("WAITING"), waiting(pending)));
    }
    if !timeline.attempts.is_empty() {
        sections.push(attempts(&timeline.attempts, paint));
    }
    if !timeline.effects.is_empty() {
        sections.push(effects(&timeline.effects, paint));
    }
    if !timeline.duplicates.is_empty() {
        sections.push(duplicates(&timeline.duplicates, paint));
    }
    if !timeline.dead_letters.is_empty() {
        sections.push(super::dead::summaries(&timeline.dead_letters, paint));
    }
    if !timeline.edits.is_empty() {
        sections.push(super::dead::edits(&timeline.edits, paint));
    }
    if !timeline.actions.is_empty() {
        sections.push(actions(&timeline.actions, paint));
    }
    if let Some(settled) = &timeline.outcome {
        sections.push(format!("{}{}", paint.heading("OUTCOME"), outcome(settled, &timeline.accepted)));
    }
    sections.join("\n")
}

fn accepted(accepted: &Accepted) -> String {
    facts(
        2,
        &[
            ("at", Some(time(&accepted.at))),
            ("via", Some(visible(&accepted.via))),
            ("event", Some(format!("{} from {}", visible(&accepted.event_type), visible(&accepted.source)))),
            ("event id", accepted.event_id.as_deref().map(visible)),
            ("key rule", Some(visible(&accepted.key_rule))),
            ("ordering key", accepted.ordering_key.as_deref().map(visible)),
            ("payload", accepted.bytes.map(|bytes| count(bytes, "byte"))),
            ("payload hash", Some(hash(&accepted.payload_hash, &accepted.hash_rule))),
            ("traceparent", accepted.traceparent.as_deref().map(visible)),
        ],
    )
}

fn hash(hash: &str, rule: &str) -> String {
    format!("{} (rule {})", digest(hash), visible(rule))
}

fn waiting(waiting: &Waiting) -> String {
    let due = if waiting.due_in_seconds > 0 {
        format!("in {}", span(waiting.due_in_seconds))
    } else {
        format!("for {}", span(-waiting.due_in_seconds))
    };
    let behind = waiting.behind.as_ref().map(|head| {
        let why = head.message.as_deref().map(|m| format!(": {}", visible(m))).unwrap_or_default();
        format!(
            "{} ({}, next at {}{why}), {} in between",
            visible(&head.key),
            failed_attempts(head.failed_attempts),
            time(&head.due_at),
            head.between
        )
    });
    let paused = (waiting.handler_state != "active").then(|| visible(&waiting.handler_state));
    facts(
        2,
        &[
            ("round", Some(waiting.round.to_string())),
            ("so far", Some(failed_attempts(waiting.failed_attempts))),
            ("due", Some(format!("{due} ({})", time(&waiting.due_at)))),
            ("handler is", paused),
            ("behind", behind),
        ],
    )
}

/// Failed attempts with their log tails below.
pub(super) fn attempts(attempts: &[AttemptSeen], paint: Paint) -> String {
    let columns = [
        ("ATTEMPT", Side::Left),
        ("FAILED", Side::Left),
        ("CLASS", Side::Left),
        ("CODE", Side::Left),
        ("TOOK", Side::Right),
        ("VERSION", Side::Left),
        ("THEN", Side::Left),
        ("MESSAGE", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for attempt in attempts {
        let tone = if attempt.decision == "dead" { Tone::Bad } else { Tone::Warning };
        table.row(vec![
            cell(format!("{}.{}", attempt.round, attempt.attempt)),
            cell(time(&attempt.at)),
            cell(visible(&attempt.class)),
            cell(visible(&attempt.code)),
            cell(duration_us(attempt.duration_us)),
            cell(digest(&attempt.version)),
            toned(tone, visible(&attempt.decision)),
            cell(cut(&attempt.message, MESSAGE_WIDTH)),
        ]);
    }
    let mut text = table.render(paint);
    for attempt in attempts.iter().filter(|a| !a.log_tail.is_empty()) {
        text.push_str(&format!("  log of attempt {}.{}\n", attempt.round, attempt.attempt));
        for line in visible_lines(&attempt.log_tail).lines() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
}

pub(super) fn effects(effects: &[EffectSeen], paint: Paint) -> String {
    let columns = [
        ("EFFECT", Side::Right),
        ("SINK", Side::Left),
        ("TYPE", Side::Left),
        ("STATE", Side::Left),
        ("TRIES", Side::Right),
        ("DEDUP KEY", Side::Left),
        ("ERROR", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for effect in effects {
        let tone = match effect.state.as_str() {
            "confirmed" => Tone::Good,
            "refused" | "unknown" => Tone::Bad,
            _ => Tone::Usual,
        };
        table.row(vec![
            cell(effect.id.to_string()),
            cell(visible(&effect.sink)),
            cell(visible(&effect.effect_type)),
            toned(tone, visible(&effect.state)),
            cell(effect.attempts.to_string()),
            cell(visible(&effect.dedup_key)),
            cell(cut(effect.last_error.as_deref().unwrap_or("-"), MESSAGE_WIDTH)),
        ]);
    }
    table.render(paint)
}

fn duplicates(duplicates: &[DuplicateSeen], paint: Paint) -> String {
    let columns = [("DUPLICATE (sample)", Side::Left), ("VIA", Side::Left), ("AFTER", Side::Right)];
    let mut table = Table::new(&columns);
    for duplicate in duplicates {
        table.row(vec![
            cell(time(&duplicate.at)),
            cell(visible(&duplicate.via)),
            cell(duplicate.after_seconds.map_or_else(|| "-".to_owned(), span)),
        ]);
    }
    table.render(paint)
}

fn outcome(settled: &Settled, accepted: &Accepted) -> String {
    let edited = !settled.payload_hash.is_empty() && settled.payload_hash != accepted.payload_hash;
    facts(
        2,
        &[
            ("is", Some(visible(&settled.outcome))),
            ("because", settled.ignored_reason.as_deref().map(visible)),
            ("at", Some(time(&settled.at))),
            ("attempts", Some(format!("{} in round {}", settled.attempts, settled.round))),
            ("version", Some(digest(&settled.version))),
            ("transaction", Some(visible(&settled.xact))),
            (
                "payload hash",
                edited.then(|| format!("{}, edited since it came", digest(&settled.payload_hash))),
            ),
        ],
    )
}

#[must_use]
pub fn explanation(explained: &Explanation) -> String {
    let event = match &explained.event_id {
        Some(id) => format!("id {} from {}", visible(id), visible(&explained.source)),
        None => format!("no id, from {}", visible(&explained.source)),
    };
    let mut text = facts(
        0,
        &[
            ("handler", Some(visible(&explained.handler))),
            ("key", Some(visible(&explained.key))),
            ("made by", Some(visible(&explained.key_rule))),
            ("event", Some(event)),
            ("via source", Some(visible(&explained.via))),
            ("ordering key", explained.ordering_key.as_deref().map(visible)),
            ("payload hash", Some(visible(&explained.payload_hash))),
            ("hash rule", Some(visible(&explained.hash_rule))),
        ],
    );
    text.push_str(
        "\nThe same key again is a duplicate when its payload hashes alike under the same rule, a key conflict\n\
         when it does not; hashes under different rules are not compared, and then the key alone decides.\n",
    );
    text
}
