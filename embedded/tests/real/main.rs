//! Everything that needs the real PostgreSQL programs, in one test binary.

mod lifecycle;
mod refusals;
mod support;
