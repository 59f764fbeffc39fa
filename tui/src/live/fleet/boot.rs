//! One boot of one host: what it has counted so far, so that a tick shows what is new. A tick that
//! was counted is never counted again. Knows nothing of other hosts.

use std::collections::{BTreeMap, VecDeque};

use wonce_api::live::tick::{Counters, Stage, Vitals};
use wonce_api::live::{HandlerTick, HostSeen, HostTick};

use super::series::Done;
use crate::live::Counts;
use crate::live::timeline::{Millis, Named, Span, Timeline};

/// Processor times that stay, for their rate.
const CPU_SAMPLES: usize = 12;
/// The pace of ticks when nobody has said it.
const TICK_MS: u64 = 1_000;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Boot {
    pub(crate) seen: Option<HostSeen>,
    /// When that was said.
    pub(crate) seen_at: Millis,
    pub(crate) vitals: Vitals,
    pub(crate) handlers: BTreeMap<String, Counters>,
    sinks: BTreeMap<String, BTreeMap<String, u64>>,
    sources: BTreeMap<String, BTreeMap<String, u64>>,
    pub(crate) flow: Timeline<Counts>,
    /// Flow of each handler in the last seconds.
    pub(crate) handler_flow: BTreeMap<String, Timeline<Counts>>,
    cpu: VecDeque<(Millis, u64)>,
    /// All samples of each histogram, as it was said last.
    samples: BTreeMap<(String, Stage), u64>,
    seq: u64,
    /// Whether all it has counted is known: what is not there is zero.
    is_known: bool,
    /// The end of what was heard.
    pub(crate) until: Option<Millis>,
    pub(crate) ticks_missed: u64,
    pub(crate) samples_lost: u64,
}

/// What a tick adds.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) handlers: Vec<(String, Done)>,
    pub(crate) sinks: Vec<(String, Named)>,
    pub(crate) sources: Vec<(String, Named)>,
    /// Histograms that could not be read.
    pub(crate) unread: u64,
}

impl Boot {
    /// Whether it has heard this tick already.
    pub(crate) fn has(&self, tick: &HostTick) -> bool {
        tick.seq <= self.seq
    }

    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Takes what it had counted when it was heard of first, which is no news.
    pub(crate) fn begin(&mut self, before: Option<&HostTick>) {
        self.is_known = true;
        if let Some(tick) = before {
            self.remember(tick);
        }
    }

    /// Takes a tick and gives what is new in it; none when it was heard before.
    pub(crate) fn take(&mut self, tick: &HostTick, span: Span) -> Option<News> {
        if self.has(tick) {
            return None;
        }
        if !self.is_known {
            self.is_known = true;
            if !begins(tick) {
                self.remember(tick);
                self.until = Some(span.to);
                return Some(News::default());
            }
        }
        self.count_missed(tick, span);
        let mut news = News::default();
        // Samples of a time that was heard in part are in the sum already, in part.
        let is_whole = self.until.is_none_or(|until| span.from + HEARD_SLACK_MS >= until);
        for handler in &tick.handlers {
            let before = self.handlers.get(&handler.handler).cloned().unwrap_or_default();
            let mut done = Done::of(&handler.counters, &before);
            if is_whole {
                news.unread += done.time(handler);
            }
            self.count_lost(handler, &done);
            if !done.is_empty() {
                self.flow.add(span, &done.counts);
                self.handler_flow.entry(handler.handler.clone()).or_default().add(span, &done.counts);
                news.handlers.push((handler.handler.clone(), done));
            }
        }
        news.sinks = tick
            .sinks
            .iter()
            .map(|s| (s.sink.clone(), Named::since(&s.effects, self.sinks.get(&s.sink))))
            .collect();
        news.sources = tick
            .sources
            .iter()
            .map(|s| (s.source.clone(), Named::since(&s.answers, self.sources.get(&s.source))))
            .collect();
        self.remember(tick);
        self.until = self.until.max(Some(span.to));
        Some(news)
    }

    /// Processors in use over the last seconds.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    pub(crate) fn processors(&self) -> Option<f64> {
        let ((then, first), (now, last)) = (self.cpu.front()?, self.cpu.back()?);
        (now > then).then(|| last.saturating_sub(*first) as f64 / (now - then) as f64)
    }

    pub(crate) fn see_cpu(&mut self, at: Millis) {
        self.cpu.extend(self.vitals.cpu_ms.map(|cpu| (at, cpu)));
        while self.cpu.len() > CPU_SAMPLES {
            self.cpu.pop_front();
        }
    }

    pub(crate) fn pass(&mut self, now: Millis) {
        self.flow.pass(now);
        self.handler_flow.values_mut().for_each(|flow| flow.pass(now));
    }

    fn remember(&mut self, tick: &HostTick) {
        self.seq = tick.seq;
        self.vitals = tick.vitals.clone();
        for handler in &tick.handlers {
            self.handlers.insert(handler.handler.clone(), handler.counters.clone());
        }
        for sink in &tick.sinks {
            self.sinks.insert(sink.sink.clone(), sink.effects.clone());
        }
        for source in &tick.sources {
            self.sources.insert(source.source.clone(), source.answers.clone());
        }
    }

    /// A hole in the numbers of ticks that their time does not cover.
    fn count_missed(&mut self, tick: &HostTick, span: Span) {
        let hole = tick.seq.saturating_sub(self.seq + 1);
        let heard = span.to.abs_diff(span.from) / TICK_MS;
        if self.seq > 0 {
            self.ticks_missed += hole.saturating_sub(heard.saturating_sub(1));
        }
    }

    fn count_lost(&mut self, handler: &HandlerTick, done: &Done) {
        for stage in Stage::ALL {
            let Some(timing) = handler.timing(stage) else { continue };
            let heard = done.times.get(&stage).map_or(0, super::Distribution::samples);
            let name = (handler.handler.clone(), stage);
            if let Some(before) = self.samples.insert(name, timing.count) {
                self.samples_lost += timing.count.saturating_sub(before).saturating_sub(heard);
            }
        }
    }
}

/// Two spans that overlap by less were not heard twice: clocks of two machines are never the same.
const HEARD_SLACK_MS: Millis = 700;

/// Whether a tick covers all the time since its boot.
fn begins(tick: &HostTick) -> bool {
    tick.seq.saturating_mul(TICK_MS) <= tick.covers_ms.saturating_add(TICK_MS / 2)
}
