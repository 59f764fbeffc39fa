//! What a handler uses in nearly every line: `use wonce::prelude::*;`.

pub use crate::Outcome::{self, Done};
pub use crate::outbox::Effect;
pub use crate::sql::{FromRow, Json, Numeric};
pub use crate::{Date, Delivery, Event, Failure, OrFail, Timestamp, Uuid};
pub use crate::{config, context, outbox, sql};
pub use crate::{debug, error, info, trace, warn};
pub use crate::{ignored, permanent, rejected, retry, retry_after};
