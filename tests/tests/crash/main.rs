//! What survives the death of hosts and of Postgres: real processes, really killed.

mod alerts;
mod files;
mod kills;
mod live;
mod load;
mod order;
mod pooler;
mod private;
mod races;
mod start;
mod stop;
mod survivors;
mod telemetry;
mod top;
mod verbs;
mod versions;
