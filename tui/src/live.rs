//! What the stream has said, kept as a model of the fleet: counters per host and boot, histograms
//! per column of time, gauges, hosts, alerts, what people did. [`Fleet`] takes messages and gives
//! plain values to draw: [`Overview`], [`HandlerDetail`]. Knows no terminal, no socket and no clock.

pub mod clock;
pub mod detail;
pub mod distribution;
pub mod fleet;
mod json;
pub mod link;
pub mod logs;
pub mod overview;
pub mod row;
mod timeline;
pub mod verdict;

pub use clock::{Moment, Window};
pub use detail::{ClassRow, HandlerDetail, HeatColumn, HostShare, StageRow};
pub use distribution::{Distribution, Quantiles};
pub use fleet::Fleet;
pub use link::Link;
pub use logs::{Line, Logs, Said};
pub use overview::{BooksLine, Overview, Totals};
pub use row::{Counts, HandlerRow, HandlerState, Health, HostRow, HostState, Rates, SinkRow, SourceRow};
pub use verdict::{Severity, Subject, Verdict};
