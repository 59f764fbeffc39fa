//! The rows of the screen in the order in which they are shown, each by its name. Who draws and who
//! chooses read the same list. Knows nothing of how rows look.

use std::cmp::Ordering;

use wonce_api::dead_letter::{DeadLetterSummary, Group};
use wonce_api::effect::EffectSummary;
use wonce_api::operation::Operation;

use crate::desk::Answer;
use crate::live::{HandlerRow, Line, Said, SinkRow};
use crate::model::{Model, Order, Screen, Sort};

impl Model {
    /// The names of the rows that can be chosen, in their order.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        match self.screen() {
            Screen::Overview => self.handlers().map(|row| row.name.clone()).collect(),
            Screen::Groups(_) => self.groups().map(|group| group.fingerprint.clone()).collect(),
            Screen::Letters(..) => self.letters().map(|letter| letter.id.to_string()).collect(),
            Screen::Outlets => self.sinks().map(|sink| sink.name.clone()).collect(),
            Screen::Effects(..) => self.effects().map(|one| one.effect.id.to_string()).collect(),
            Screen::Logs { .. } => self.log_lines().map(|line| line.number.to_string()).collect(),
            Screen::Operations => self.operations().map(|operation| operation.id.to_string()).collect(),
            Screen::Handler(_)
            | Screen::Letter(_)
            | Screen::Operation(_)
            | Screen::Event { .. }
            | Screen::Hosts
            | Screen::Changes
            | Screen::Help => Vec::new(),
        }
    }

    /// Where the chosen row is now; none without rows.
    #[must_use]
    pub fn chosen_index(&self) -> Option<usize> {
        self.chosen_of(&self.rows())
    }

    /// The name of the chosen row.
    #[must_use]
    pub fn chosen(&self) -> Option<String> {
        let mut rows = self.rows();
        self.chosen_of(&rows).map(|index| rows.swap_remove(index))
    }

    /// Where the chosen one is among these rows.
    pub(crate) fn chosen_of(&self, rows: &[String]) -> Option<usize> {
        let place = self.place();
        let by_name = place.chosen.as_ref().and_then(|name| rows.iter().position(|row| row == name));
        // A log that nobody moves in is followed: its newest line is the chosen one.
        let index = if self.follows_log() { usize::MAX } else { place.index };
        by_name.or_else(|| (!rows.is_empty()).then(|| index.min(rows.len() - 1)))
    }

    /// Whether the newest line of the log stays the chosen one.
    pub(crate) fn follows_log(&self) -> bool {
        matches!(self.screen(), Screen::Logs { .. }) && self.place().chosen.is_none()
    }

    /// The log lines that pass the filter, oldest first.
    pub fn log_lines(&self) -> impl Iterator<Item = &Line> {
        self.logs.lines().filter(|line| match &line.said {
            Said::Line(said) => {
                let fields = said.fields.values().map(String::as_str);
                let texts: Vec<&str> = fields.chain([said.message.as_str(), line.host.as_str()]).collect();
                self.passes(&texts)
            }
            Said::Missed(_) => true,
        })
    }

    /// Handlers that pass the filter, in the chosen order.
    pub fn handlers(&self) -> impl Iterator<Item = &HandlerRow> {
        let mut rows: Vec<&HandlerRow> = self
            .seen
            .handlers
            .iter()
            .filter(|row| self.passes(&[&row.name, &row.why, &row.version, &row.ordering]))
            .collect();
        // The model gives them worst first; sorting is stable.
        rows.sort_by(|a, b| compare(self.sort, a, b));
        if self.order == Order::Reversed {
            rows.reverse();
        }
        rows.into_iter()
    }

    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        let all = match self.place().page.answer() {
            Some(Answer::Groups(list)) => list.groups.as_slice(),
            _ => &[],
        };
        all.iter().filter(|group| {
            let handler = group.handler.as_deref().unwrap_or_default();
            self.passes(&[handler, &group.reason, &group.code, &group.message, &group.fingerprint])
        })
    }

    pub fn letters(&self) -> impl Iterator<Item = &DeadLetterSummary> {
        let all = match self.place().page.answer() {
            Some(Answer::Letters(list)) => list.dead_letters.as_slice(),
            _ => &[],
        };
        all.iter().filter(|letter| {
            let (handler, key) = (letter.handler.as_deref(), letter.key.as_deref());
            let known = [handler.unwrap_or_default(), key.unwrap_or_default()];
            self.passes(&[known[0], known[1], &letter.reason, &letter.code, &letter.message])
        })
    }

    pub fn sinks(&self) -> impl Iterator<Item = &SinkRow> {
        self.seen.sinks.iter().filter(|row| self.passes(&[&row.name, &row.why]))
    }

    pub fn effects(&self) -> impl Iterator<Item = &EffectSummary> {
        let all = match self.place().page.answer() {
            Some(Answer::Effects(list)) => list.effects.as_slice(),
            _ => &[],
        };
        all.iter().filter(|one| {
            let error = one.effect.last_error.as_deref().unwrap_or_default();
            self.passes(&[
                &one.handler,
                &one.key,
                &one.effect.sink,
                &one.effect.effect_type,
                &one.effect.state,
                error,
            ])
        })
    }

    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        let all = match self.place().page.answer() {
            Some(Answer::Operations(list)) => list.operations.as_slice(),
            _ => &[],
        };
        all.iter().filter(|operation| {
            self.passes(&[&operation.verb, &operation.state, &operation.actor, &operation.reason])
        })
    }

    /// Whether one of the texts holds the filter, whatever its case.
    #[must_use]
    pub fn passes(&self, texts: &[&str]) -> bool {
        let wanted = self.place().filter.to_lowercase();
        wanted.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&wanted))
    }
}

fn compare(sort: Sort, a: &HandlerRow, b: &HandlerRow) -> Ordering {
    let n = |count: Option<wonce_api::live::Count>| count.map_or(0, |count| count.n);
    let share = |row: &HandlerRow| row.counts.error_share().unwrap_or(-1.0);
    let rate = |row: &HandlerRow| row.rates.ended_well();
    match sort {
        Sort::Worst => Ordering::Equal,
        Sort::Name => a.name.cmp(&b.name),
        Sort::Rate => rate(b).total_cmp(&rate(a)),
        Sort::Errors => share(b).total_cmp(&share(a)),
        Sort::Slowest => b.run.p99.cmp(&a.run.p99),
        Sort::Depth => n(b.depth).cmp(&n(a.depth)),
        Sort::Dead => n(b.dead_letters).cmp(&n(a.dead_letters)),
    }
}
