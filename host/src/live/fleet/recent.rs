//! What all hosts counted of one handler within a window that ends now, from the columns of
//! history. Knows nothing of the rules that ask.

use std::time::Duration;

use wonce_api::live::tick::{Counters, Stage};
use wonce_api::live::{HandlerTick, HostTick};
use wonce_core::alert::judge::Recent;
use wonce_core::fault::FaultClass;

use super::{Boot, Fleet};

impl Fleet {
    /// Exact to one column. A boot that is gone counts no more.
    pub(in crate::live) fn recent(&self, handler: &str, window: Duration) -> Recent {
        let mut recent = Recent::default();
        let (mut claimed, mut known): (Option<Duration>, Duration) = (None, Duration::ZERO);
        for boot in self.boots.values() {
            let Some(seen) = &boot.seen else { continue };
            let mut age = Duration::try_from_secs_f64(seen.heard_seconds_ago).unwrap_or_default();
            let (mut last, mut before): (Option<&Counters>, Option<&Counters>) = (None, None);
            for tick in boot.open.iter().rev().chain(boot.columns.iter().rev()) {
                if let Some(counted) = of(tick, handler) {
                    let side = if age < window { &mut last } else { &mut before };
                    side.get_or_insert(&counted.counters);
                    if counted.timing(Stage::Claim).is_some() {
                        claimed = Some(claimed.map_or(age, |known| known.min(age)));
                    }
                }
                age += Duration::from_millis(tick.covers_ms);
            }
            known = known.max(age);
            let before = before.or_else(|| boot.counted_before(handler));
            if let Some(last) = last {
                count(&mut recent, last, before.unwrap_or(&Counters::default()));
            }
        }
        recent.unclaimed = claimed.unwrap_or(known);
        recent
    }
}

impl Boot {
    fn counted_before(&self, handler: &str) -> Option<&Counters> {
        self.before.as_ref().and_then(|before| of(before, handler)).map(|counted| &counted.counters)
    }
}

fn of<'a>(tick: &'a HostTick, handler: &str) -> Option<&'a HandlerTick> {
    tick.handlers.iter().find(|counted| counted.handler == handler)
}

fn count(recent: &mut Recent, last: &Counters, before: &Counters) {
    let since = |now: u64, then: u64| now.saturating_sub(then);
    recent.committed += since(last.done + last.ignored, before.done + before.ignored);
    recent.failed += since(last.failed, before.failed);
    for class in FaultClass::ALL {
        let of = |counters: &Counters| counters.faults.get(class.as_str()).copied().unwrap_or(0);
        *recent.faults.entry(class).or_default() += since(of(last), of(before));
    }
}
