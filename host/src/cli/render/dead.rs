//! `wonce dead …`.

use wonce_api::dead_letter::{
    DeadLetterDetail, DeadLetterList, DeadLetterSummary, Discarded, Edit, Edited, Original, Payload,
    Replayed, Restored,
};

use super::event::{attempts, effects};
use super::handler::actions;
use super::table::{Side, Table, cell, toned};
use super::text::{count, cut, digest, facts, time, visible, visible_lines};
use super::{Paint, Tone};

const KEY_WIDTH: usize = 40;
const MESSAGE_WIDTH: usize = 60;
/// More of a payload than this is only in `--json`.
const PAYLOAD_CHARS: usize = 4096;

#[must_use]
pub fn list(list: &DeadLetterList, paint: Paint) -> String {
    if list.dead_letters.is_empty() {
        return "No dead letters.\n".to_owned();
    }
    let mut page = summaries(&list.dead_letters, paint);
    if let Some(before) = list.next_before {
        let shown = list.dead_letters.len();
        page.push_str(&format!("\n{shown} of {} shown; the next page: --before {before}\n", list.total));
    }
    page
}

/// The table that list and timeline share.
pub(super) fn summaries(letters: &[DeadLetterSummary], paint: Paint) -> String {
    let columns = [
        ("DEAD LETTER", Side::Right),
        ("STATE", Side::Left),
        ("REASON", Side::Left),
        ("HANDLER", Side::Left),
        ("KEY", Side::Left),
        ("TRIES", Side::Right),
        ("LAST FAILED", Side::Left),
        ("FINGERPRINT", Side::Left),
        ("MESSAGE", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for letter in letters {
        let tone = if letter.state == "dead" { Tone::Bad } else { Tone::Usual };
        table.row(vec![
            cell(letter.id.to_string()),
            toned(tone, visible(&letter.state)),
            cell(visible(&letter.reason)),
            cell(cut(letter.handler.as_deref().unwrap_or("-"), KEY_WIDTH)),
            cell(cut(letter.key.as_deref().unwrap_or("-"), KEY_WIDTH)),
            cell(letter.attempts.to_string()),
            cell(time(&letter.last_failed_at)),
            cell(visible(&letter.fingerprint)),
            cell(cut(&letter.message, MESSAGE_WIDTH)),
        ]);
    }
    table.render(paint)
}

#[must_use]
pub fn detail(detail: &DeadLetterDetail, paint: Paint) -> String {
    let mut sections = vec![about(detail, paint), event(detail, paint)];
    sections.push(format!("{}{}", paint.heading("PAYLOAD"), payload(&detail.payload)));
    if !detail.edits.is_empty() {
        sections.push(edits(&detail.edits, paint));
    }
    if let Some(received) = &detail.received {
        sections.push(format!("{}{}", paint.heading("PAYLOAD AS IT WAS RECEIVED"), payload(received)));
    }
    if !detail.attempts.is_empty() {
        sections.push(attempts(&detail.attempts, paint));
    }
    if !detail.effects.is_empty() {
        sections.push(effects(&detail.effects, paint));
    }
    if !detail.actions.is_empty() {
        sections.push(actions(&detail.actions, paint));
    }
    if let Some(first) = &detail.original {
        sections.push(format!("{}{}", paint.heading("FIRST PAYLOAD UNDER THIS KEY"), original(first)));
    }
    sections.join("\n")
}

fn about(detail: &DeadLetterDetail, paint: Paint) -> String {
    let letter = &detail.summary;
    let tone = if letter.state == "dead" { Tone::Bad } else { Tone::Usual };
    let title = format!(
        "dead letter {}: {} is {}\n",
        letter.id,
        visible(&letter.reason),
        paint.tone(tone, &visible(&letter.state))
    );
    let tries = format!("{} in round {}", letter.attempts, letter.round);
    title
        + &facts(
            2,
            &[
                ("handler", letter.handler.as_deref().map(visible)),
                ("key", letter.key.as_deref().map(visible)),
                ("key rule", detail.key_rule.as_deref().map(visible)),
                ("ordering key", detail.ordering_key.as_deref().map(visible)),
                ("owner", letter.owner.as_deref().map(visible)),
                ("class", detail.class.as_deref().map(visible)),
                ("code", Some(visible(&letter.code))),
                ("message", Some(visible(&letter.message))),
                ("fingerprint", Some(visible(&letter.fingerprint))),
                ("attempts", Some(tries)),
                ("accepted", Some(time(&detail.accepted_at))),
                ("first failed", Some(time(&detail.first_failed_at))),
                ("last failed", Some(time(&letter.last_failed_at))),
                ("acted on", letter.acted_at.as_deref().map(time)),
                ("delivery is now", detail.standing.as_deref().map(visible)),
                ("version", detail.version.as_deref().map(digest)),
                ("revision", (detail.revision > 0).then(|| detail.revision.to_string())),
            ],
        )
}

/// The lineage of a payload.
pub(super) fn edits(edits: &[Edit], paint: Paint) -> String {
    let columns = [
        ("EDITED", Side::Left),
        ("DEAD LETTER", Side::Right),
        ("REVISION", Side::Right),
        ("WHO", Side::Left),
        ("HASH BEFORE", Side::Left),
        ("AFTER", Side::Left),
        ("WHY", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for edit in edits {
        table.row(vec![
            cell(time(&edit.at)),
            cell(edit.dead_letter.to_string()),
            cell(edit.revision.to_string()),
            cell(cut(&edit.actor, KEY_WIDTH)),
            cell(digest(&edit.hash_before)),
            cell(digest(&edit.hash_after)),
            cell(cut(&edit.reason, MESSAGE_WIDTH)),
        ]);
    }
    table.render(paint)
}

fn event(detail: &DeadLetterDetail, paint: Paint) -> String {
    let extensions: Vec<String> = detail
        .extensions
        .iter()
        .map(|(name, value)| format!("{}={}", visible(name), visible(value)))
        .collect();
    paint.heading("EVENT")
        + &facts(
            2,
            &[
                ("type", Some(visible(&detail.summary.event_type))),
                ("source", Some(visible(&detail.source))),
                ("id", detail.event_id.as_deref().map(visible)),
                ("via", Some(visible(&detail.via))),
                ("subject", detail.subject.as_deref().map(visible)),
                ("time", detail.event_time.as_deref().map(time)),
                ("content type", detail.content_type.as_deref().map(visible)),
                ("schema", detail.data_schema.as_deref().map(visible)),
                ("traceparent", detail.traceparent.as_deref().map(visible)),
                ("extensions", (!extensions.is_empty()).then(|| extensions.join(" "))),
                ("payload hash", detail.payload_hash.as_deref().map(visible)),
                ("hash rule", detail.hash_rule.as_deref().map(visible)),
            ],
        )
}

fn payload(payload: &Payload) -> String {
    let size = count(i64::try_from(payload.bytes).unwrap_or(i64::MAX), "byte");
    let kind = if payload.encoding == "hex" { " that are not UTF-8, in hex" } else { "" };
    let shown: String = payload.body.chars().take(PAYLOAD_CHARS).collect();
    let rest = if shown.len() < payload.body.len() { "  … the rest is in --json\n" } else { "" };
    let lines: String = visible_lines(&shown).lines().map(|line| format!("  | {line}\n")).collect();
    format!("  {size}{kind}\n{lines}{rest}")
}

fn original(first: &Original) -> String {
    let mut text = facts(
        2,
        &[
            ("is", Some(visible(&first.standing))),
            ("accepted", Some(time(&first.accepted_at))),
            ("settled", first.settled_at.as_deref().map(time)),
            ("payload hash", Some(visible(&first.payload_hash))),
            ("hash rule", Some(visible(&first.hash_rule))),
        ],
    );
    match &first.payload {
        Some(bytes) => text.push_str(&payload(bytes)),
        None => text.push_str("  its bytes were let go when it was handled\n"),
    }
    text
}

#[must_use]
pub fn replayed(replayed: &Replayed) -> String {
    let lines: String = replayed
        .deliveries
        .iter()
        .map(|d| {
            format!(
                "  {} {} in round {}: {}\n",
                visible(&d.handler),
                visible(&d.key),
                d.round,
                visible(&d.verdict)
            )
        })
        .collect();
    format!("dead letter {} is replayed\n{lines}", replayed.id)
}

#[must_use]
pub fn discarded(discarded: &Discarded) -> String {
    format!("dead letter {} is discarded: {}\n", discarded.id, visible(&discarded.reason))
}

#[must_use]
pub fn restored(restored: &Restored) -> String {
    format!("dead letter {} is open again\n", restored.id)
}

#[must_use]
pub fn edited(edited: &Edited) -> String {
    format!(
        "dead letter {} has another payload (revision {}, hash {} was {}); to put it back to work: wonce dead replay {}\n",
        edited.id,
        edited.revision,
        digest(&edited.hash_after),
        digest(&edited.hash_before),
        edited.id
    )
}
