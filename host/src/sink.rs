//! Where effects go. A sink turns one effect into its own idiom, sends it once under the effect's
//! dedup key and says what came back. It never retries, never looks into the database and never
//! decides what becomes of the effect: the relay does.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use wonce_core::delivery::Attempt;
use wonce_core::effect::Effect;
use wonce_core::name::{HandlerName, SinkName};
use wonce_core::relay::{SendOutcome, UnknownPolicy};
use wonce_core::retry::RetryPolicy;

pub mod http;

/// One attempt to carry out an effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingEffect {
    pub handler: HandlerName,
    pub attempt: Attempt,
    pub traceparent: Option<String>,
    pub effect: Effect,
}

/// A way out.
#[async_trait]
pub trait Sink: Send + Sync + Debug {
    /// Sends the effect once. Bounded in time by the implementation; the relay cuts off at the
    /// sink's `timeout` anyway and then calls the outcome unknown.
    async fn send(&self, effect: &OutgoingEffect) -> SendOutcome;
}

/// How effects are handed to one sink.
#[derive(Debug, Clone, PartialEq)]
pub struct SinkSettings {
    /// Effects of this sink that one host sends at once.
    pub concurrency: NonZeroUsize,
    /// The longest that one attempt may take.
    pub timeout: Duration,
    pub retry: RetryPolicy,
    /// What to do when nobody knows whether an effect arrived.
    pub unknown: UnknownPolicy,
}

const DEFAULT_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(16).expect("16 is not zero");

impl Default for SinkSettings {
    /// Somebody else's outage is longer than a bug of ours: 15 attempts over about 45 minutes.
    fn default() -> Self {
        let retry =
            RetryPolicy { max_attempts: 15, ceiling: Duration::from_secs(300), ..RetryPolicy::default() };
        Self {
            concurrency: DEFAULT_CONCURRENCY,
            timeout: Duration::from_secs(15),
            retry,
            unknown: UnknownPolicy::default(),
        }
    }
}

/// A sink that this host knows.
#[derive(Debug, Clone)]
pub struct Registered {
    pub sink: Arc<dyn Sink>,
    pub settings: SinkSettings,
}

/// The sinks of a host by name.
#[derive(Debug, Clone, Default)]
pub struct Sinks(BTreeMap<SinkName, Registered>);

impl Sinks {
    /// Adds a sink, or replaces the one of this name.
    pub fn register(&mut self, name: SinkName, sink: Arc<dyn Sink>, settings: SinkSettings) {
        self.0.insert(name, Registered { sink, settings });
    }

    #[must_use]
    pub fn get(&self, name: &SinkName) -> Option<&Registered> {
        self.0.get(name)
    }

    /// Whether a sink of this name is known; takes any text, such as the database may hold.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        self.0.keys().any(|known| known.as_str() == name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&SinkName, &Registered)> {
        self.0.iter()
    }

    #[must_use]
    pub fn names(&self) -> Vec<SinkName> {
        self.0.keys().cloned().collect()
    }
}
