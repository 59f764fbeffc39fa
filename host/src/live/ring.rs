//! The last frames, so that a reader who was away for a while gets what it missed as one frame.
//! Pure; knows nothing of readers.

use std::collections::{BTreeMap, VecDeque};

use wonce_api::live::{HostTick, Message, Tick, coalesce};

/// Frames that stay: five minutes.
pub(super) const KEPT_FRAMES: usize = 300;

/// What happened in about a second. A frame always ends with a tick.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Frame {
    pub(super) seq: u64,
    /// Edges and gauges, in the order in which they came.
    pub(super) before: Vec<Message>,
    /// At most one a boot.
    pub(super) ticks: Vec<HostTick>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ring(VecDeque<Frame>);

impl Frame {
    pub(super) fn into_messages(self) -> Vec<Message> {
        let mut messages = self.before;
        messages.push(Message::Tick(Tick { seq: self.seq, hosts: self.ticks }));
        messages
    }
}

impl Ring {
    pub(super) fn push(&mut self, frame: Frame) {
        if self.0.len() == KEPT_FRAMES {
            self.0.pop_front();
        }
        self.0.push_back(frame);
    }

    /// Everything after a frame, as one; none when some of it is lost or there is no such frame.
    pub(super) fn after(&self, seq: u64) -> Option<Frame> {
        let (first, last) = (self.0.front()?.seq, self.0.back()?.seq);
        if seq > last || seq + 1 < first {
            return None;
        }
        let mut missed = self.0.iter().filter(|frame| frame.seq > seq);
        match (missed.next(), missed.next()) {
            (None, _) => Some(Frame { seq: last, before: Vec::new(), ticks: Vec::new() }),
            (Some(only), None) => Some(only.clone()),
            (Some(first), Some(second)) => as_one([first, second].into_iter().chain(missed)),
        }
    }
}

/// Ticks are added up, of gauges and of each operation the last hold, other edges stay as they were.
fn as_one<'a>(frames: impl Iterator<Item = &'a Frame>) -> Option<Frame> {
    let (mut seq, mut before, mut gauges) = (0, Vec::new(), None);
    let mut boots: BTreeMap<&str, Vec<HostTick>> = BTreeMap::new();
    let mut ops: BTreeMap<&str, &Message> = BTreeMap::new();
    for frame in frames {
        seq = frame.seq;
        for message in &frame.before {
            match message {
                Message::Gauges(_) => gauges = Some(message),
                Message::Op(op) => drop(ops.insert(&op.id, message)),
                other => before.push(other.clone()),
            }
        }
        frame.ticks.iter().for_each(|tick| boots.entry(&tick.boot).or_default().push(tick.clone()));
    }
    before.extend(ops.into_values().cloned());
    before.extend(gauges.cloned());
    let ticks: Result<Vec<Option<HostTick>>, _> = boots.into_values().map(coalesce).collect();
    match ticks {
        Ok(ticks) => Some(Frame { seq, before, ticks: ticks.into_iter().flatten().collect() }),
        Err(error) => {
            tracing::warn!(error = %error, "ticks cannot be put together; the reader gets a snapshot");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use wonce_api::live::tick::{Strays, Vitals};
    use wonce_api::live::{Bye, HandlerTick, Op};

    use super::*;

    fn tick(boot: &str, seq: u64, done: u64) -> HostTick {
        let mut handler = HandlerTick { handler: "a".to_owned(), ..HandlerTick::default() };
        handler.counters.done = done;
        HostTick {
            boot: boot.to_owned(),
            seq,
            at: String::new(),
            covers_ms: 1_000,
            vitals: Vitals::default(),
            handlers: vec![handler],
            sources: Vec::new(),
            sinks: Vec::new(),
            strays: Strays::default(),
        }
    }

    fn edge(reason: &str) -> Message {
        Message::Bye(Bye { reason: reason.to_owned(), retry_ms: 0 })
    }

    fn ring(frames: std::ops::RangeInclusive<u64>) -> Ring {
        let mut ring = Ring::default();
        for seq in frames {
            let before = vec![edge(&seq.to_string())];
            ring.push(Frame { seq, before, ticks: vec![tick("b1", seq, seq * 10), tick("b2", seq, seq)] });
        }
        ring
    }

    #[test]
    fn what_was_missed_is_one_tick_a_host_and_every_edge() {
        let missed = ring(1..=5).after(2).expect("it is all there");
        assert_eq!(missed.seq, 5);
        assert_eq!(missed.before, [edge("3"), edge("4"), edge("5")]);
        let seen: Vec<(&str, u64, u64)> = missed
            .ticks
            .iter()
            .map(|tick| (tick.boot.as_str(), tick.covers_ms, tick.handlers[0].counters.done))
            .collect();
        assert_eq!(seen, [("b1", 3_000, 50), ("b2", 3_000, 5)]);
    }

    #[test]
    fn of_an_operation_that_moved_on_in_a_gap_only_the_last_state_is_told() {
        let mut ring = Ring::default();
        for done in 1..=3 {
            let op = |id: &str| {
                Message::Op(Op {
                    id: id.to_owned(),
                    verb: "replay".to_owned(),
                    state: "running".to_owned(),
                    target: String::new(),
                    total: 9,
                    done,
                    failed: 0,
                    skipped: 0,
                    actor: String::new(),
                    reason: String::new(),
                    started_at: String::new(),
                })
            };
            ring.push(Frame { seq: done, before: vec![op("1"), op("2")], ticks: Vec::new() });
        }
        let missed = ring.after(1).expect("it is all there");
        let of = |message: &Message| match message {
            Message::Op(op) => Some((op.id.clone(), op.done)),
            _ => None,
        };
        let told: Vec<_> = missed.before.iter().filter_map(of).collect();
        assert_eq!(told, [("1".to_owned(), 3), ("2".to_owned(), 3)]);
    }

    #[test]
    fn a_gap_that_is_too_long_or_not_of_this_stream_is_none() {
        let kept = u64::try_from(KEPT_FRAMES).expect("few");
        let ring = ring(1..=kept + 10);
        assert!(ring.after(9).is_none(), "frame 10 is lost");
        assert!(ring.after(10).is_some());
        assert!(ring.after(kept + 11).is_none(), "nobody has sent it yet");
        assert!(Ring::default().after(0).is_none());
    }

    #[test]
    fn a_reader_that_has_all_misses_nothing() {
        let nothing = ring(1..=3).after(3).expect("it is all there");
        assert_eq!((nothing.before.len(), nothing.ticks.len()), (0, 0));
    }
}
