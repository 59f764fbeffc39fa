//! Structured log lines. The host adds handler, version, event and trace, keeps lines of a call that was rolled
//! back, and drops what is over its limits. Use the macros [`info!`](crate::info) and its siblings.

#[doc(inline)]
pub use crate::bindings::wonce::handler::log::Level;
use crate::host;

/// Writes one line. Never fails. Field names are lower-case ASCII letters, digits, `-`, `_` and `.`.
pub fn write(level: Level, message: &str, fields: &[(String, String)]) {
    host::write_log(level, message, fields);
}

/// One line at a level; the other macros are this one with the level filled in.
#[macro_export]
#[doc(hidden)]
macro_rules! __log {
    ($level:ident, $($field:ident = $value:expr),+ ; $($message:tt)+) => {
        $crate::log::write(
            $crate::log::Level::$level,
            &::std::format!($($message)+),
            &[$((::std::string::String::from(::core::stringify!($field)), ::std::string::ToString::to_string(&$value))),+],
        )
    };
    ($level:ident, $($message:tt)+) => {
        $crate::log::write($crate::log::Level::$level, &::std::format!($($message)+), &[])
    };
}

/// Logs at the level `trace`; takes what [`info!`](crate::info) takes.
#[macro_export]
macro_rules! trace { ($($line:tt)+) => { $crate::__log!(Trace, $($line)+) }; }

/// Logs at the level `debug`; takes what [`info!`](crate::info) takes.
#[macro_export]
macro_rules! debug { ($($line:tt)+) => { $crate::__log!(Debug, $($line)+) }; }

/// Logs a line, as `format!` would write it, after optional fields.
///
/// ```no_run
/// let (order, cents) = ("o-1", 9900);
/// wonce::info!("order {order} is paid");
/// wonce::info!(order = order, amount_cents = cents; "order is paid");
/// ```
#[macro_export]
macro_rules! info { ($($line:tt)+) => { $crate::__log!(Info, $($line)+) }; }

/// Logs at the level `warn`; takes what [`info!`](crate::info) takes.
#[macro_export]
macro_rules! warn { ($($line:tt)+) => { $crate::__log!(Warn, $($line)+) }; }

/// Logs at the level `error`; takes what [`info!`](crate::info) takes.
#[macro_export]
macro_rules! error { ($($line:tt)+) => { $crate::__log!(Error, $($line)+) }; }
