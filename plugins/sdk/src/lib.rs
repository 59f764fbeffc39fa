//! Write wonce handlers in Rust.
//!
//! A handler is one function. It gets one event, and everything it does happens in one Postgres transaction that
//! the host holds open for it: its SQL, the effects it puts in the outbox, and the host's own note that this event
//! is done. `Ok` commits all of it, a failure rolls all of it back, and a second delivery of the same event never
//! reaches the handler.
//!
//! ```
//! use serde::Deserialize;
//! use serde_json::json;
//! use wonce::prelude::*;
//!
//! #[derive(Deserialize)]
//! struct Payment { payment_id: String, order_id: String, amount_cents: i64 }
//!
//! #[derive(FromRow)]
//! struct Order { amount_cents: i64, email: String }
//!
//! #[wonce::handler]
//! fn handle(event: Event) -> wonce::Result {
//!     let payment: Payment = event.json()?;
//!     let order = sql::query_opt::<Order>("select amount_cents, email from orders where id = $1", &[&payment.order_id])?
//!         .ok_or_else(|| retry("order-missing", format!("order \"{}\" does not exist yet", payment.order_id)))?;
//!     if order.amount_cents != payment.amount_cents {
//!         return Err(permanent("wrong-amount", "the payment is not the order's amount"));
//!     }
//!     sql::execute("update orders set paid_by = $2 where id = $1", &[&payment.order_id, &payment.payment_id])?;
//!     outbox::emit(Effect::to("email").json("receipt.requested", &json!({ "to": order.email }))?)?;
//!     Ok(Done)
//! }
//! ```
//!
//! `#[wonce::handler]` also puts the crate's `handler.toml` into the component, so that the file to deploy is one.
//!
//! What goes wrong decides what the host does, and `?` chooses for you:
//!
//! | error | becomes |
//! |---|---|
//! | [`Event::json`], `serde_json::Error` | [`rejected`]: the producer's fault, dead letter at once |
//! | [`sql::Error`] from the database or its connection | [`retry`] |
//! | [`sql::Error`] of the statement's own making (denied, parameter, row of another shape) | [`permanent`] |
//! | [`outbox::Error`] | [`permanent`] |
//! | any other error | say it: `.or_retry("code")?`, `.or_permanent("code")?`, `.or_rejected("code")?` ([`OrFail`]) |
//!
//! A handler is an ordinary function: natively, in `cargo test`, `wonce::mock` stands in for the host and the database.

#![warn(missing_docs)]

// The derive says `::wonce`; so must the SDK's own tests of it.
#[cfg(test)]
extern crate self as wonce;

#[doc(hidden)]
pub mod bindings;
pub mod config;
pub mod context;
mod event;
mod failure;
mod host;
pub mod log;
#[cfg(not(target_arch = "wasm32"))]
pub mod mock;
pub mod outbox;
pub mod prelude;
pub mod sql;
mod time;
mod uuid;
mod value;

#[doc(inline)]
pub use bindings::wonce::handler::types::{Delivery, Event, Failure, Fault, Outcome, Retry as RetryFailure};
pub use failure::{OrFail, ignored, permanent, rejected, retry, retry_after};
pub use time::{Date, NotATime, Timestamp};
pub use uuid::{NotAUuid, Uuid};
#[doc(inline)]
pub use wonce_macros::handler;

/// What a handler returns; with a type, what its helpers return.
pub type Result<T = Outcome, E = Failure> = core::result::Result<T, E>;

/// For the macros only.
#[doc(hidden)]
pub mod __private {
    pub use crate::bindings;
    pub use crate::bindings::export_handler;
    pub use crate::bindings::exports::wonce::handler::events::Guest;
}
