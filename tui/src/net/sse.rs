//! Server-sent events from bytes, as they come in: pieces may end anywhere. Knows nothing of what
//! the events say.

/// A longer event is refused: a snapshot of a large fleet takes a few of these.
pub const MAX_EVENT_BYTES: usize = 32 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    /// `message` when it has no name.
    pub name: String,
    /// Lines joined by line feeds.
    pub data: String,
    /// Its own id, if it has one.
    pub id: Option<String>,
}

/// An event is longer than [`MAX_EVENT_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {MAX_EVENT_BYTES} bytes")]
pub struct TooLong;

/// Takes bytes and gives events.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    has_begun: bool,
    name: String,
    data: String,
    has_data: bool,
    id: Option<String>,
}

impl Parser {
    /// Takes the next bytes and gives the events that are complete.
    ///
    /// # Errors
    /// When one is too long; the stream cannot be read on then.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (text, end) = match piece.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (text, Some(*end)),
                Some(_) | None => (piece, None),
            };
            let belongs = std::mem::take(&mut self.after_return) && text.is_empty() && end == Some(b'\n');
            if belongs {
                continue;
            }
            if self.line.len() + self.data.len() + text.len() > MAX_EVENT_BYTES {
                return Err(TooLong);
            }
            self.line.extend_from_slice(text);
            if let Some(end) = end {
                self.after_return = end == b'\r';
                let line = std::mem::take(&mut self.line);
                events.extend(self.take_line(&line));
            }
        }
        Ok(events)
    }

    fn take_line(&mut self, line: &[u8]) -> Option<Event> {
        let line = if std::mem::replace(&mut self.has_begun, true) {
            line
        } else {
            line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
        };
        if line.is_empty() {
            return self.dispatch();
        }
        let text = String::from_utf8_lossy(line);
        let (field, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            // Comments begin with the colon; other fields mean nothing here.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Event> {
        let name = std::mem::take(&mut self.name);
        let name = if name.is_empty() { "message".to_owned() } else { name };
        let event = Event { name, data: std::mem::take(&mut self.data), id: self.id.take() };
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = ":\n\nevent: hello\nid: b:1\ndata: {\"a\":\ndata:  1}\n\nretry: 5\r\nevent: tick\r\ndata: ü\r\n\r\n:x\ndata\n\nevent: lost\n\n";

    fn expected() -> Vec<Event> {
        let event = |name: &str, data: &str, id: Option<&str>| Event {
            name: name.to_owned(),
            data: data.to_owned(),
            id: id.map(str::to_owned),
        };
        vec![
            event("hello", "{\"a\":\n 1}", Some("b:1")),
            event("tick", "ü", None),
            event("message", "", None),
        ]
    }

    #[test]
    fn events_are_the_same_however_the_bytes_are_cut() {
        for size in [1, 2, 3, 7, STREAM.len()] {
            let mut parser = Parser::default();
            let chunks = STREAM.as_bytes().chunks(size);
            let events: Vec<Event> = chunks.flat_map(|chunk| parser.feed(chunk).expect("short")).collect();
            assert_eq!(events, expected(), "in pieces of {size}");
        }
    }

    #[test]
    fn an_event_without_an_end_is_refused_at_its_limit() {
        let mut parser = Parser::default();
        let chunk = vec![b'x'; 1024 * 1024];
        let refused = (0..=MAX_EVENT_BYTES / chunk.len()).find_map(|_| parser.feed(&chunk).err());
        assert_eq!(refused, Some(TooLong));
        let mut parser = Parser::default();
        let mut lines = b"data: ".to_vec();
        lines.extend(&chunk);
        lines.push(b'\n');
        let refused = (0..=MAX_EVENT_BYTES / chunk.len()).find_map(|_| parser.feed(&lines).err());
        assert_eq!(refused, Some(TooLong), "many lines are no way around it");
    }
}
