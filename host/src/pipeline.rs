//! The journey of an event, one file a step:
//!
//! 1. [`intake`]: events are routed, given their keys and accepted, many in one commit
//! 2. [`dispatch`]: workers under a bounded number of permits claim what is due
//! 3. [`batch`], [`invoke`]: the guests run, one after the other, in the claim's own transaction
//! 4. [`settle`]: what became of each is written in that same transaction
//! 5. [`relay`]: committed effects go to their sinks
//! 6. [`upkeep`]: heartbeats, and what must not grow
//!
//! Beside the journey, [`lineup`] says which version of a handler the next claim runs, [`operation`]
//! puts back what died, as people asked for it, and [`notice`] tells a webhook of alerts.
//!
//! Invariant: no step knows the admin API or the command line, and none writes SQL.

mod batch;
pub mod deliver;
pub mod dispatch;
pub mod handler;
pub mod intake;
pub mod invoke;
pub mod lineup;
pub mod notice;
pub mod operation;
pub mod parked;
pub mod probation;
pub mod relay;
pub mod scout;
pub mod settle;
pub mod submitted;
pub mod upkeep;
pub mod wake;
