//! What stands between quotes. Knows nothing of the tokens around it.

use super::{Scanner, Token, is_newline, is_space};
use crate::statement::Denied;

/// How a string treats a backslash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backslash {
    /// As any other character.
    Plain,
    /// It takes the next character with it, a quote too.
    Escapes,
}

impl Scanner<'_> {
    /// `'...'`; the opening quote is next.
    pub(super) fn string(&mut self) -> Result<Token, Denied> {
        self.quoted_string(Backslash::Plain)
    }

    /// `E'...'`; the opening quote is next.
    pub(super) fn escape_string(&mut self) -> Result<Token, Denied> {
        self.quoted_string(Backslash::Escapes)
    }

    fn quoted_string(&mut self, backslash: Backslash) -> Result<Token, Denied> {
        loop {
            self.at += 1;
            self.skip_segment(backslash)?;
            if !self.continues_string() {
                return Ok(Token::Literal);
            }
        }
    }

    /// To behind the closing quote; a doubled quote does not close.
    fn skip_segment(&mut self, backslash: Backslash) -> Result<(), Denied> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'\''), Some(b'\'')) => self.at += 2,
                (Some(b'\''), _) => {
                    self.at += 1;
                    return Ok(());
                }
                (Some(b'\\'), Some(_)) if backslash == Backslash::Escapes => self.at += 2,
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(Denied::Unterminated("a string")),
            }
        }
    }

    /// A string goes on, in the same mode, when only white space and `--` comments with at
    /// least one line end stand before another quote. Missing this for `E'...'` would let a
    /// backslash in the second part hide code.
    fn continues_string(&mut self) -> bool {
        let end = self.at;
        let mut lines = false;
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b), _) if is_space(b) => {
                    lines |= is_newline(b);
                    self.at += 1;
                }
                (Some(b'-'), Some(b'-')) => self.skip_line_comment(),
                (Some(b'\''), _) if lines => return true,
                _ => {
                    self.at = end;
                    return false;
                }
            }
        }
    }

    /// `"..."`; the opening quote is next.
    pub(super) fn quoted_identifier(&mut self) -> Result<Token, Denied> {
        self.at += 1;
        let start = self.at;
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'"'), Some(b'"')) => self.at += 2,
                (Some(b'"'), _) => {
                    let name = self.text[start..self.at].replace("\"\"", "\"");
                    self.at += 1;
                    return Ok(Token::Quoted(name));
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(Denied::Unterminated("a quoted identifier")),
            }
        }
    }
}
