//! Everything that needs the real PostgreSQL programs, in one test binary.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

mod lifecycle;
mod refusals;
mod support;
