//! The way to the hosts: the live stream as messages that survive the host going away and coming
//! back ([`follow`]), and single questions to the admin API ([`Ask`]). Several hosts of one fleet
//! may be named: any of them answers for all. Knows nothing of what is drawn.

pub mod ask;
pub mod backoff;
pub mod error;
pub mod sse;
pub mod stream;
pub mod target;

pub use ask::Ask;
pub use error::Error;
pub use stream::{Clock, Feed, MAX_REPORTS, Report, follow};
pub use target::{Hosts, Target};
