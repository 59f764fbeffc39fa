//! One server-sent event as a value: the name of the event says which document its data is. Knows
//! nothing of the bytes around them (`event:`, `data:`, `id:`).

use super::{Alert, Bye, Change, Gauges, Hello, HostSeen, LogBatch, Op, Snapshot, Tick, data_of, read};

macro_rules! messages {
    ($($(#[$doc:meta])* $variant:ident($document:ty) = $event:literal;)*) => {
        /// An event of the stream.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Message {
            $($(#[$doc])* $variant($document),)*
        }

        impl Message {
            /// Every event name of this protocol.
            pub const EVENTS: &'static [&'static str] = &[$($event),*];

            /// The `event:` of the frame.
            #[must_use]
            pub fn event(&self) -> &'static str {
                match self {
                    $(Message::$variant(_) => $event,)*
                }
            }

            /// The `data:` of the frame: one line of JSON.
            ///
            /// # Errors
            /// When a number of the document has no JSON form (it is not finite).
            pub fn data(&self) -> Result<String, serde_json::Error> {
                match self {
                    $(Message::$variant(document) => data_of(document),)*
                }
            }

            /// Reads a frame. `None` for an event that this version does not know: skip and count it.
            ///
            /// # Errors
            /// When the data is not the event's document.
            pub fn parse(event: &str, data: &str) -> Result<Option<Self>, serde_json::Error> {
                Ok(Some(match event {
                    $($event => Message::$variant(read(data)?),)*
                    _ => return Ok(None),
                }))
            }
        }
    };
}

messages! {
    /// Who answers; first and once.
    Hello(Hello) = "hello";
    /// All that is known now: forget what was known before.
    Snapshot(Box<Snapshot>) = "snapshot";
    /// What hosts counted since the last frame.
    Tick(Tick) = "tick";
    /// What the database knows.
    Gauges(Gauges) = "gauges";
    /// A host came, fell silent, spoke again or stopped.
    Host(HostSeen) = "host";
    /// An alert began or ended.
    Alert(Alert) = "alert";
    /// Somebody did something.
    Change(Change) = "change";
    /// A bulk operation moved on.
    Op(Op) = "op";
    /// Log lines of the answering host; on [`super::LOGS_PATH`] only.
    Log(LogBatch) = "log";
    /// The host ends the stream.
    Bye(Bye) = "bye";
}
