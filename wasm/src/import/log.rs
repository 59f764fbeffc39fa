//! `log`: lines into the call's log book, which bounds them. Knows nothing of where they go.

use crate::bindings::wonce::handler::log::{Host, Level};
use crate::log::{LogLevel, LogLine, LogOrigin};
use crate::state::State;

impl Host for State {
    fn write(
        &mut self,
        level: Level,
        message: String,
        fields: Vec<(String, String)>,
    ) -> wasmtime::Result<()> {
        self.handling("log.write")?;
        let level = match level {
            Level::Trace => LogLevel::Trace,
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        self.log.write(LogLine { level, origin: LogOrigin::Log, message, fields });
        Ok(())
    }
}
