//! What is around every screen: who is looked at and how, the tabs, the verdict, and the last line
//! with where the person is and what the keys do. Knows no screen.

use ratatui::layout::Rect;

use super::canvas::{Canvas, piece, rows};
use super::overview::{counted, p99};
use crate::keys::{Action, Binding, Context, Key};
use crate::live::{Link, Severity};
use crate::model::{Entry, Flow, Model, Screen, Tone};
use crate::text::{age, number, rate, time_of_day, width};
use crate::theme::Role;

pub(super) fn head(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    identity(canvas, rows(area, 0, 1), model);
    tabs(canvas, rows(area, 1, 1), model);
    verdict(canvas, rows(area, 2, 1), model);
}

fn identity(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let seen = &model.seen;
    let who = seen.hello.as_ref().map_or_else(|| "nobody yet".to_owned(), |hello| hello.host.clone());
    let hosts = format!("hosts {}/{}", seen.totals.hosts_alive, seen.totals.hosts);
    let role = if seen.totals.hosts_alive < seen.totals.hosts { Role::Warning } else { Role::Text };
    let known = if seen.known < seen.window.span() && seen.hello.is_some() {
        format!(" ({} known)", age(seen.known))
    } else {
        String::new()
    };
    let (state, state_role) = state(model);
    let line = [
        piece(Role::Accent, "wonce"),
        piece(Role::Text, format!("  {who}  ")),
        piece(role, hosts),
        piece(Role::Text, format!("  {}{known}  ", seen.window.label())),
        piece(state_role, state),
    ];
    canvas.line(area, &line);
    canvas.put_right(area, &format!(" {}", time_of_day(&seen.now)), Role::Muted);
}

/// Whether what is shown is now.
fn state(model: &Model) -> (String, Role) {
    if let Flow::Frozen { since } = model.flow {
        return (format!("FROZEN for {}", age(model.now.since(since))), Role::Warning);
    }
    match &model.seen.link {
        Link::Live { .. } => ("LIVE".to_owned(), Role::Good),
        Link::Connecting { .. } => ("CONNECTING".to_owned(), Role::Warning),
        Link::Stale { since, next, attempt, .. } => {
            let wait = next.since(model.now);
            let next = format!("try {attempt} in {}", age(wait));
            (format!("STALE for {}, {next}", age(model.now.since(*since))), Role::Bad)
        }
        Link::Refused { .. } => ("REFUSED".to_owned(), Role::Bad),
    }
}

/// From this width on the tabs have their whole names.
const WIDE_TABS: u16 = 115;

fn tabs(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let dead = model.seen.totals.dead_letters.map_or_else(String::new, |dead| format!(" {}", number(dead.n)));
    let in_dead = matches!(model.screen(), Screen::Groups(_) | Screen::Letters(..) | Screen::Letter(_));
    let in_ops = matches!(model.screen(), Screen::Operations | Screen::Operation(_));
    let is = |screen: Screen| *model.screen() == screen;
    let names = if area.width >= WIDE_TABS {
        ["Overview", "Dead letters", "Operations", "Hosts", "Sources, sinks", "Changes", "Log", "Effects"]
    } else {
        ["Overview", "Dead", "Ops", "Hosts", "I/O", "Changes", "Log", "Effects"]
    };
    let tabs = [
        (format!("1 {}", names[0]), is(Screen::Overview)),
        (format!("2 {}{dead}", names[1]), in_dead),
        (format!("3 {}", names[2]), in_ops),
        (format!("4 {}", names[3]), is(Screen::Hosts)),
        (format!("5 {}", names[4]), is(Screen::Outlets)),
        (format!("6 {}", names[5]), is(Screen::Changes)),
        (format!("7 {}", names[6]), matches!(model.screen(), Screen::Logs { .. })),
        (format!("8 {}", names[7]), matches!(model.screen(), Screen::Effects(..))),
    ];
    let mut line = Vec::new();
    for (text, here) in tabs {
        if here {
            line.push(piece(Role::Accent, format!("[{text}]")));
        } else {
            line.push(piece(Role::Muted, format!(" {text} ")));
        }
    }
    canvas.line(area, &line);
}

fn verdict(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let verdict = &model.seen.verdict;
    let (mark, role) = canvas.theme.severity(verdict.severity);
    let others = match verdict.others {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    };
    let role = if verdict.severity == Severity::Fine { Role::Text } else { role };
    let rest = usize::from(area.width).saturating_sub(2 + width(&others));
    let text = crate::text::cut(&verdict.text, rest);
    canvas.line(
        area,
        &[piece(canvas.theme.severity(verdict.severity).1, mark), piece(role, format!(" {text}{others}"))],
    );
}

/// Where the person is, and what the keys do here; or what is being typed.
pub(super) fn foot(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    if let Some(prompt) = prompt(model) {
        canvas.line(area, &[piece(Role::Accent, prompt), piece(Role::Muted, "_")]);
        return;
    }
    if let Some(toast) = &model.toast {
        let role = match toast.tone {
            Tone::Good => Role::Good,
            Tone::Bad => Role::Bad,
        };
        canvas.put(area, &toast.text, role);
        return;
    }
    let filter = match model.place().filter.as_str() {
        "" => String::new(),
        filter => format!(" /{filter}"),
    };
    let crumbs = format!("{}{filter}", model.screen().title());
    let taken = canvas.put(area, &crumbs, Role::Strong);
    let room = usize::from(area.width.saturating_sub(taken + 2));
    canvas.put_right(area, &hints(model, room), Role::Muted);
}

fn prompt(model: &Model) -> Option<String> {
    match &model.entry {
        Entry::Filter => Some(format!("filter: {}", model.place().filter)),
        Entry::Lookup(text) => Some(format!("event key, or HANDLER KEY: {text}")),
        Entry::Keys | Entry::Palette(_) | Entry::Confirm(_) => None,
    }
}

/// The way to help and the way out always have room.
const ALWAYS: [Action; 2] = [Action::Help, Action::Quit];

/// As many hints as fit, the most wanted first.
fn hints(model: &Model, room: usize) -> String {
    let contexts: Vec<Context> = model.screen().contexts();
    let hint = |(binding, keys): (&Binding, &[Key])| {
        let key = keys.first().filter(|_| !binding.hint.is_empty())?;
        Some((binding.action, format!("{key} {}", binding.hint)))
    };
    let all: Vec<(Action, String)> = model.keymap.of(&contexts).filter_map(hint).collect();
    let (always, others): (Vec<_>, Vec<_>) = all.into_iter().partition(|(action, _)| ALWAYS.contains(action));
    let tail: Vec<String> = always.into_iter().map(|(_, hint)| hint).collect();
    let tail = tail.join("  ");
    let mut text = String::new();
    for (_, hint) in others {
        if width(&text) + width(&hint) + 2 + width(&tail) > room {
            break;
        }
        text.push_str(&hint);
        text.push_str("  ");
    }
    text + &tail
}

/// The least that is worth knowing, on a screen where nothing else has room.
pub(super) fn vital_signs(canvas: &mut Canvas<'_>, area: Rect, model: &Model) {
    let totals = &model.seen.totals;
    identity(canvas, rows(area, 0, 1), model);
    verdict(canvas, rows(area, 1, 1), model);
    let lines = [
        format!("{} in/s  {} done/s", rate(totals.rates.accepted), rate(totals.rates.ended_well())),
        format!("{} failed/s  {} retries/s", rate(totals.rates.failed), rate(totals.rates.retries)),
        format!("waiting {}  dead letters {}", counted(totals.depth), counted(totals.dead_letters)),
        format!("p99 {}", p99(&totals.run)),
        model
            .seen
            .books
            .as_ref()
            .map_or_else(|| "books not counted yet".to_owned(), crate::live::BooksLine::equation),
    ];
    for (row, line) in (2..).zip(lines) {
        canvas.put(rows(area, row, 1), &line, Role::Text);
    }
}
