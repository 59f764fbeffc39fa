//! Messages as the bytes of a stream of server-sent events. Knows nothing of their order.

use std::fmt::Write;

use wonce_api::live::{Cursor, Message};

/// A comment: it keeps the line alive and says nothing.
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";

/// The messages of one frame. Only the last one carries the cursor: whoever has it has all.
pub(super) fn frame(messages: &[Message], cursor: &Cursor) -> Vec<u8> {
    let mut text = String::new();
    for (index, message) in messages.iter().enumerate() {
        let is_last = index + 1 == messages.len();
        event(&mut text, message, is_last.then_some(cursor));
    }
    text.into_bytes()
}

/// A message that is no step of the stream.
pub(super) fn aside(message: &Message) -> Vec<u8> {
    let mut text = String::new();
    event(&mut text, message, None);
    text.into_bytes()
}

fn event(text: &mut String, message: &Message, cursor: Option<&Cursor>) {
    let data = match message.data() {
        Ok(data) => data,
        Err(error) => {
            tracing::error!(event = message.event(), error = %error, "a message of the live stream has no JSON form");
            return;
        }
    };
    let id = cursor.map_or_else(String::new, |cursor| format!("id: {cursor}\n"));
    write!(text, "event: {}\n{id}data: {data}\n\n", message.event()).expect("a text takes what is written");
}
