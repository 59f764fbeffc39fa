//! `wonce handler …`.

use wonce_api::action::Action;
use wonce_api::handler::{BlockedKey, HandlerChanged, HandlerDetail, HandlerList, HandlerSummary, Version};

use super::table::{Side, Table, alarming, cell, toned};
use super::text::{count, cut, digest, facts, span, time, visible};
use super::{Paint, Tone};

const MESSAGE_WIDTH: usize = 60;
const KEY_WIDTH: usize = 40;

#[must_use]
pub fn list(list: &HandlerList, paint: Paint) -> String {
    summaries(&list.handlers, paint)
}

/// The table of handlers that list and status share.
pub(super) fn summaries(handlers: &[HandlerSummary], paint: Paint) -> String {
    if handlers.is_empty() {
        return "No handler is deployed: name one in wonce.toml.\n".to_owned();
    }
    let columns = [
        ("HANDLER", Side::Left),
        ("STATE", Side::Left),
        ("PENDING", Side::Right),
        ("DUE", Side::Right),
        ("OLDEST DUE", Side::Right),
        ("RETRIES", Side::Right),
        ("DEAD", Side::Right),
        ("ORDER", Side::Left),
        ("VERSION", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for handler in handlers {
        let state = if handler.state == "paused" { Tone::Warning } else { Tone::Usual };
        table.row(vec![
            cell(visible(&handler.name)),
            toned(state, visible(&handler.state)),
            cell(handler.pending.to_string()),
            cell(handler.due.to_string()),
            cell(handler.oldest_due_seconds.map_or_else(|| "-".to_owned(), span)),
            alarming(Tone::Warning, handler.scheduled_retries),
            alarming(Tone::Bad, handler.dead_letters),
            cell(visible(&handler.ordering)),
            cell(version(&handler.version)),
        ]);
    }
    table.render(paint)
}

#[must_use]
pub fn detail(detail: &HandlerDetail, paint: Paint) -> String {
    let mut page = summaries(std::slice::from_ref(&detail.summary), paint);
    page.push('\n');
    page.push_str(&facts(
        0,
        &[
            ("owner", detail.summary.owner.as_deref().map(visible)),
            ("digest", Some(visible(&detail.summary.version.digest))),
            ("previous", detail.previous_version.as_ref().map(version)),
            ("deployed", Some(format!("{} by {}", time(&detail.deployed_at), visible(&detail.deployed_by)))),
            (
                "database role",
                Some(detail.login_role.as_deref().map_or("shared (unsafe)".to_owned(), visible)),
            ),
            ("policy", Some(visible(&detail.policy.to_string()))),
        ],
    ));
    if !detail.blocked.is_empty() {
        page.push_str(&format!("\n{}", blocked(&detail.blocked, paint)));
    }
    if !detail.actions.is_empty() {
        page.push_str(&format!("\n{}", actions(&detail.actions, paint)));
    }
    page
}

fn blocked(keys: &[BlockedKey], paint: Paint) -> String {
    let columns = [
        ("BLOCKED KEY", Side::Left),
        ("HEAD", Side::Left),
        ("FAILED", Side::Right),
        ("NEXT", Side::Left),
        ("WAITING", Side::Right),
        ("WHY", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for key in keys {
        table.row(vec![
            cell(cut(&key.ordering_key, KEY_WIDTH)),
            cell(cut(&key.head, KEY_WIDTH)),
            cell(key.attempts.to_string()),
            cell(time(&key.due_at)),
            cell(key.followers.to_string()),
            cell(cut(key.message.as_deref().unwrap_or(""), MESSAGE_WIDTH)),
        ]);
    }
    table.render(paint)
}

/// Who did what, when and why.
pub(super) fn actions(actions: &[Action], paint: Paint) -> String {
    let columns = [("WHEN", Side::Left), ("WHO", Side::Left), ("DID", Side::Left), ("WHY", Side::Left)];
    let mut table = Table::new(&columns);
    for action in actions {
        table.row(vec![
            cell(time(&action.at)),
            cell(cut(&action.actor, KEY_WIDTH)),
            cell(format!("{} {}", visible(&action.verb), visible(&action.target))),
            cell(visible(&action.reason)),
        ]);
    }
    table.render(paint)
}

#[must_use]
pub fn changed(change: &HandlerChanged) -> String {
    let (handler, state) = (visible(&change.handler), visible(&change.state));
    if change.changed {
        format!("handler {handler} is {state} now, on every host\n")
    } else {
        format!("handler {handler} was {state} already; nothing was recorded\n")
    }
}

pub(super) fn version(version: &Version) -> String {
    let digest = digest(&version.digest);
    if version.label.is_empty() { digest } else { format!("{} ({digest})", visible(&version.label)) }
}

/// `1 failed attempt`.
pub(super) fn failed_attempts(number: i32) -> String {
    count(i64::from(number), "failed attempt")
}
