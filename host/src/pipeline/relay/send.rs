//! One attempt of one effect: send, decide, write down. Knows nothing of how it was found.

use std::time::{Duration, Instant};

use wonce_core::effect::EffectState;
use wonce_core::name::SinkName;
use wonce_core::relay::{SendDecision, SendOutcome, decide_send};
use wonce_core::retry::Jitter;

use super::RelaySettings;
use super::pause::Pause;
use crate::crash;
use crate::sink::{OutgoingEffect, Registered};
use crate::store::Store;
use crate::store::outbox::{ClaimedEffect, InHand, Settled};
use crate::telemetry::{metrics, trace_id};

/// A sink ends by its own time-out, which says more; this long after it is cut off.
const CUT_OFF_SLACK: Duration = Duration::from_secs(1);
/// Pauses between tries to write a result.
const SETTLE_PAUSE: Duration = Duration::from_millis(100);
const SETTLE_PAUSE_CEILING: Duration = Duration::from_secs(2);

/// Carries the effects of one sink.
pub(super) struct Courier {
    pub(super) store: Store,
    pub(super) name: SinkName,
    pub(super) registered: Registered,
    pub(super) settings: RelaySettings,
}

/// What became free with the end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Freed {
    /// The next effect of an ordering key may be due at once.
    OrderingKey,
    Nothing,
}

/// Whether the result is in the database.
enum Written {
    Yes,
    No,
}

impl Courier {
    /// When, counted from the claim, this host must have answered for an effect.
    pub(super) fn deadline(&self) -> Duration {
        self.settings.stall_allowance + self.cut_off() + self.settings.settle_allowance
    }

    fn cut_off(&self) -> Duration {
        self.registered.settings.timeout + CUT_OFF_SLACK
    }

    pub(super) async fn send(
        self: std::sync::Arc<Self>,
        claimed: ClaimedEffect,
        claimed_at: Instant,
    ) -> Freed {
        let in_hand = claimed.in_hand(self.settings.host);
        let (doubt, key) = (claimed.doubt, claimed.key);
        let outgoing = OutgoingEffect {
            handler: claimed.handler,
            attempt: claimed.attempt,
            traceparent: claimed.traceparent,
            effect: claimed.effect,
        };
        crash::point("relay-before-send");
        let started = Instant::now();
        let outcome = self.attempt(&outgoing, claimed_at).await;
        crash::point("relay-after-send");
        let settings = &self.registered.settings;
        let jitter = Jitter(rand::random());
        let decision =
            decide_send(outcome, settings.unknown, doubt, in_hand.attempt, &settings.retry, jitter);
        if let Written::Yes = self.settle(in_hand, &decision, claimed_at).await {
            metrics::effect(&outgoing.handler, &self.name, decision.state());
            report(&outgoing, &key.to_string(), &decision, started.elapsed());
        }
        match outgoing.effect.ordering_key {
            Some(_) => Freed::OrderingKey,
            None => Freed::Nothing,
        }
    }

    async fn attempt(&self, outgoing: &OutgoingEffect, claimed_at: Instant) -> SendOutcome {
        if claimed_at.elapsed() > self.settings.stall_allowance {
            // Sent now, it could still be on its way when another host takes it over.
            let reason = "not sent: this host stalled between the claim and the sending".to_owned();
            return SendOutcome::Retry { after: None, reason };
        }
        metrics::effect(&outgoing.handler, &self.name, EffectState::Sending);
        tokio::time::timeout(self.cut_off(), self.registered.sink.send(outgoing))
            .await
            .unwrap_or_else(|_| SendOutcome::Unknown { reason: "no answer in time".to_owned() })
    }

    /// Tries until it is written or the deadline passes: then the effect is not ours any more.
    async fn settle(&self, in_hand: InHand, decision: &SendDecision, claimed_at: Instant) -> Written {
        let mut pause = Pause::new(SETTLE_PAUSE, SETTLE_PAUSE_CEILING);
        loop {
            let error = match self.store.settle_effect(in_hand, decision).await {
                Ok(Settled::Written) => return Written::Yes,
                Ok(Settled::Overtaken) => "another host or a person took it over".to_owned(),
                Err(error) if error.is_outage() && claimed_at.elapsed() < self.deadline() => {
                    tokio::time::sleep(pause.take()).await;
                    continue;
                }
                Err(error) => error.explained(),
            };
            tracing::warn!(
                sink = %self.name, effect = in_hand.id.0, attempt = in_hand.attempt.0,
                result = decision.state().as_str(), error,
                "the result of an effect could not be written; its sink's policy decides after the deadline"
            );
            return Written::No;
        }
    }
}

/// One line an attempt.
fn report(outgoing: &OutgoingEffect, key: &str, decision: &SendDecision, took: Duration) {
    let effect = &outgoing.effect;
    let trace_id = outgoing.traceparent.as_deref().and_then(trace_id);
    let duration_ms = took.as_secs_f64() * 1000.0;
    macro_rules! line {
        ($level:ident, $error:expr, $text:literal) => {
            tracing::$level!(
                handler = %outgoing.handler, key, sink = %effect.sink, dedup_key = effect.dedup_key,
                attempt = outgoing.attempt.0, duration_ms, trace_id, error = $error, $text
            )
        };
    }
    match decision {
        SendDecision::Confirm => line!(debug, None::<&str>, "effect confirmed"),
        SendDecision::Again { reason, .. } => line!(info, reason, "effect is sent again later"),
        SendDecision::Refuse { reason } => line!(warn, reason, "effect refused"),
        SendDecision::Hold { reason } => {
            line!(warn, reason, "effect may have arrived; it is held for people")
        }
    }
}
