//! The grammar of RFC 8259, one function per production. Knows nothing of what the value
//! is for.

use std::borrow::Cow;

use super::{Document, Error, Json, MAX_DEPTH, Members};

pub(super) fn document(text: &str) -> Result<Document<'_>, Error> {
    let mut reader = Reader { text, at: 0, members: Members::Unique };
    reader.skip_space();
    let root = reader.value(0)?;
    reader.skip_space();
    if reader.at < text.len() {
        return Err(reader.wanted("the end"));
    }
    Ok(Document { root, members: reader.members })
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    members: Members,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Json<'a>, Error> {
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Boolean(true)),
            Some(b'f') => self.word("false", Json::Boolean(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.wanted("a value")),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, Error> {
        self.enter(depth)?;
        let mut members = Vec::new();
        if self.closes(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.wanted("a member name in double quotes"));
            }
            let name = self.string()?;
            self.skip_space();
            self.eat(b':', "':'")?;
            self.skip_space();
            members.push((name, self.value(depth + 1)?));
            if self.closes(b'}') {
                break;
            }
            self.eat(b',', "',' or '}'")?;
        }
        members.sort_by(|(a, _), (b, _)| a.cmp(b));
        if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            self.members = Members::Repeated;
        }
        Ok(Json::Object(members))
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, Error> {
        self.enter(depth)?;
        let mut items = Vec::new();
        if self.closes(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            self.skip_space();
            items.push(self.value(depth + 1)?);
            if self.closes(b']') {
                return Ok(Json::Array(items));
            }
            self.eat(b',', "',' or ']'")?;
        }
    }

    /// Steps over an opening bracket, unless that is one level too many.
    fn enter(&mut self, depth: usize) -> Result<(), Error> {
        if depth >= MAX_DEPTH {
            return Err(Error::TooDeep { at: self.at });
        }
        self.at += 1;
        Ok(())
    }

    /// Steps over white space and, if it is next, the closing bracket.
    fn closes(&mut self, bracket: u8) -> bool {
        self.skip_space();
        let closes = self.peek() == Some(bracket);
        self.at += usize::from(closes);
        closes
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Error> {
        self.at += 1;
        let start = self.at;
        let mut unescaped: Option<String> = None;
        loop {
            let run = self.at;
            while self.peek().is_some_and(|b| b >= 0x20 && b != b'"' && b != b'\\') {
                self.at += 1;
            }
            if let Some(text) = &mut unescaped {
                text.push_str(&self.text[run..self.at]);
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    let plain = &self.text[start..self.at - 1];
                    return Ok(unescaped.map_or(Cow::Borrowed(plain), Cow::Owned));
                }
                Some(b'\\') => {
                    let before = &self.text[start..self.at];
                    let character = self.escape()?;
                    unescaped.get_or_insert_with(|| before.to_owned()).push(character);
                }
                _ => return Err(self.wanted("the rest of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<char, Error> {
        self.at += 1;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.wanted("an escape")),
        };
        self.at += 1;
        Ok(plain)
    }

    /// `\uXXXX`, or two of them for a character beyond the first plane. Half a pair is no
    /// character, so the text is refused.
    fn unicode_escape(&mut self) -> Result<char, Error> {
        let first = self.hex4()?;
        let code = if (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 1;
            let second = self.hex4()?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(self.wanted("the second half of a surrogate pair"));
            }
            0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00)
        } else {
            first
        };
        char::from_u32(code).ok_or_else(|| self.wanted("a whole surrogate pair"))
    }

    /// The four digits after the `u` that is next.
    fn hex4(&mut self) -> Result<u32, Error> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4);
        let digits = digits.filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let code = digits.and_then(|text| u32::from_str_radix(text, 16).ok());
        let code = code.ok_or_else(|| self.wanted("four hexadecimal digits"))?;
        self.at += 4;
        Ok(code)
    }

    fn number(&mut self) -> Result<Json<'a>, Error> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(Json::Number(&self.text[start..self.at]))
    }

    fn digits(&mut self) -> Result<(), Error> {
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start { Err(self.wanted("a digit")) } else { Ok(()) }
    }

    fn word(&mut self, word: &'static str, value: Json<'a>) -> Result<Json<'a>, Error> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.wanted("true, false or null"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn eat(&mut self, byte: u8, wanted: &'static str) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(self.wanted(wanted));
        }
        self.at += 1;
        Ok(())
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn wanted(&self, wanted: &'static str) -> Error {
        Error::Syntax { at: self.at, wanted }
    }
}
