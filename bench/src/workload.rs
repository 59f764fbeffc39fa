//! The two pieces of work that everyone does, and the events that ask for them. The SQL here is the
//! SQL of the handlers under `plugins/`. It never knows who runs it.

use serde::{Deserialize, Serialize};

/// Rows of `bench.orders`.
pub(crate) const ORDERS: u64 = 100_000;
/// Different ordering keys, for ordered handlers.
const GROUPS: u64 = 10_000;
/// Coprime to the number of orders, so that neighbouring events touch rows far apart and no two of
/// the first 100,000 events touch the same row.
const STRIDE: u64 = 61_813;
/// Which of a hundred events fails, when one does.
const FAILING: u64 = 50;

/// What an event asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Workload {
    /// One UPDATE by primary key whose answer nobody waits for.
    Blind,
    /// One UPDATE … RETURNING whose answer decides, and one row of outbox.
    Payment,
}

/// What is wrong with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Fail {
    /// It asks to be tried again, once.
    Retry,
    /// It can never be done.
    Permanent,
}

/// An event's payload. About 200 bytes, as small events of real shops are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Body {
    pub(crate) key: String,
    /// The order.
    pub(crate) id: i64,
    pub(crate) amount: i64,
    /// What ordered handlers order by.
    pub(crate) group: String,
    pub(crate) note: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) fail: Option<Fail>,
}

/// How many of a hundred events fail, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Faults {
    None,
    OneInHundred(Fail),
}

impl Faults {
    /// How many of these events can never be done.
    pub(crate) fn permanent(self, events: u64) -> u64 {
        match self {
            Self::OneInHundred(Fail::Permanent) => events / 100 + u64::from(events % 100 > FAILING),
            Self::OneInHundred(Fail::Retry) | Self::None => 0,
        }
    }
}

impl Workload {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Blind => "blind",
            Self::Payment => "payment",
        }
    }

    /// The statement on the business's table.
    pub(crate) fn statement(self) -> &'static str {
        match self {
            Self::Blind => "UPDATE bench.orders SET status = 'seen', hits = hits + 1 WHERE id = $1",
            Self::Payment => {
                "UPDATE bench.orders SET status = 'paid', hits = hits + 1, amount = amount + $2 WHERE id = $1 RETURNING amount"
            }
        }
    }
}

/// The `n`-th event of a run.
pub(crate) fn body(prefix: &str, n: u64, faults: Faults) -> Body {
    let fail = match faults {
        Faults::OneInHundred(fail) if n % 100 == FAILING => Some(fail),
        Faults::OneInHundred(_) | Faults::None => None,
    };
    Body {
        key: format!("{prefix}-{n:07}"),
        id: i64::try_from(n * STRIDE % ORDERS + 1).unwrap_or(1),
        amount: 1200,
        group: format!("customer-{}", n % GROUPS),
        note: "two coffees, one cake, to be collected at the corner shop before noon".to_owned(),
        fail,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_events_of_a_run_touch_the_same_order() {
        let ids: HashSet<i64> = (0..ORDERS).map(|n| body("e", n, Faults::None).id).collect();
        assert_eq!(u64::try_from(ids.len()), Ok(ORDERS));
        assert_eq!((ids.iter().min(), ids.iter().max()), (Some(&1), Some(&100_000)));
    }

    #[test]
    fn one_event_in_a_hundred_fails_when_asked_for() {
        let failing = (0..1000).filter(|n| body("e", *n, Faults::OneInHundred(Fail::Retry)).fail.is_some());
        assert_eq!(failing.count(), 10);
        let counted = [50, 51, 150, 151].map(|n| Faults::OneInHundred(Fail::Permanent).permanent(n));
        assert_eq!(counted, [0, 1, 1, 2]);
    }

    #[test]
    fn a_payload_has_the_size_of_a_small_event() {
        let text = serde_json::to_string(&body("event", 1_234, Faults::None)).unwrap();
        assert!((150..=250).contains(&text.len()), "{text}");
        assert!(!text.contains("fail"), "{text}");
    }
}
