//! The three forms of the figures: a table for the terminal, `report.json` for programs, a plot for the README.

pub(crate) mod plot;
pub(crate) mod report;
pub(crate) mod table;
