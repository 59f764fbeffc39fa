//! A scanner modelled on Postgres' `scan.l`, versions 14 to 18. It splits a text exactly
//! where Postgres does; where versions differ it refuses. Knows nothing of what tokens mean.

use super::Denied;

mod quoted;

/// One token; comments and white space are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A keyword or identifier without quotes, folded as Postgres folds: ASCII only.
    Word(String),
    /// A quoted identifier, its doubled quotes undone, case as written.
    Quoted(String),
    /// A string, number, bit string or parameter.
    Literal,
    Open,
    Close,
    Semicolon,
    Dot,
    /// Any other character.
    Other,
}

/// Splits a text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Denied> {
    if text.contains('\0') {
        return Err(Denied::Nul);
    }
    let mut scanner = Scanner { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        scanner.skip_space_and_comments()?;
        if scanner.at >= text.len() {
            return Ok(tokens);
        }
        tokens.push(scanner.token()?);
    }
}

/// `at` counts bytes. Every token starts and ends at a character border, because each byte
/// beyond ASCII belongs to a word, a comment or what stands between quotes.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn token(&mut self) -> Result<Token, Denied> {
        let token = match self.byte(0) {
            Some(b'\'') => return self.string(),
            Some(b'"') => return self.quoted_identifier(),
            Some(b'$') => return self.dollar(),
            Some(b'0'..=b'9') => return self.number(),
            // One token in Postgres: the second dot starts no number.
            Some(b'.') if self.byte(1) == Some(b'.') => {
                self.at += 2;
                return Ok(Token::Other);
            }
            Some(b'.') if self.byte(1).is_some_and(|b| b.is_ascii_digit()) => return self.number(),
            Some(b) if starts_word(b) => return self.word(),
            Some(b'(') => Token::Open,
            Some(b')') => Token::Close,
            Some(b';') => Token::Semicolon,
            Some(b'.') => Token::Dot,
            Some(_) | None => Token::Other,
        };
        self.at += 1;
        Ok(token)
    }

    /// A word, or the string that a one-letter word introduces. Postgres takes the longest
    /// match, so the letter counts only when the quote follows it at once.
    fn word(&mut self) -> Result<Token, Denied> {
        let start = self.at;
        self.skip_while(continues_word);
        let word = self.text[start..self.at].to_ascii_lowercase();
        match (word.as_str(), self.byte(0), self.byte(1)) {
            ("e", Some(b'\''), _) => self.escape_string(),
            ("b" | "x", Some(b'\''), _) => self.bit_string(),
            ("n", Some(b'\''), _) => self.string(),
            ("u", Some(b'&'), Some(b'\'')) => {
                self.at += 1;
                self.string()
            }
            ("u", Some(b'&'), Some(b'"')) => Err(Denied::UnicodeIdentifier),
            _ => Ok(Token::Word(word)),
        }
    }

    /// A number in any base. Postgres up to 14 ends `1e'` after the 1 and reads a string with
    /// escapes, later ones refuse it; so a letter right behind a number is refused here, and
    /// a dollar sign, before which 14 ends `1_0$a$` after the 1 and 16 after the 0.
    fn number(&mut self) -> Result<Token, Denied> {
        let base = match (self.byte(0), self.byte(1).map(|b| b.to_ascii_lowercase())) {
            (Some(b'0'), Some(b'x' | b'o' | b'b')) => 2,
            _ => 0,
        };
        self.at += base;
        if base == 0 {
            self.skip_while(is_digit);
            // `1..2` is no number with two points.
            if self.byte(0) == Some(b'.') && self.byte(1) != Some(b'.') {
                self.at += 1;
                self.skip_while(is_digit);
            }
            self.exponent();
        } else {
            self.skip_while(|b| b.is_ascii_hexdigit() || b == b'_');
        }
        self.end_number("a letter or '$' right behind a number")
    }

    fn exponent(&mut self) {
        if !matches!(self.byte(0), Some(b'e' | b'E')) {
            return;
        }
        let sign = usize::from(matches!(self.byte(1), Some(b'+' | b'-')));
        if self.byte(1 + sign).is_some_and(|b| b.is_ascii_digit()) {
            self.at += 1 + sign;
            self.skip_while(is_digit);
        }
    }

    fn end_number(&self, what: &'static str) -> Result<Token, Denied> {
        match self.byte(0) {
            Some(b) if starts_word(b) || b == b'$' => Err(Denied::Ambiguous(what)),
            Some(_) | None => Ok(Token::Literal),
        }
    }

    /// `$1`, `$$...$$`, `$tag$...$tag$` or a lone dollar sign.
    fn dollar(&mut self) -> Result<Token, Denied> {
        let start = self.at;
        self.at += 1;
        if self.byte(0).is_some_and(|b| b.is_ascii_digit()) {
            self.skip_while(|b| b.is_ascii_digit());
            return self.end_number("a letter or '$' right behind a parameter");
        }
        if self.byte(0).is_some_and(starts_word) {
            self.skip_while(|b| starts_word(b) || b.is_ascii_digit());
        }
        if self.byte(0) != Some(b'$') {
            self.at = start + 1;
            return Ok(Token::Other);
        }
        self.at += 1;
        let tag = &self.text[start..self.at];
        let end = self.text[self.at..].find(tag).ok_or(Denied::Unterminated("a dollar-quoted string"))?;
        self.at += end + tag.len();
        Ok(Token::Literal)
    }

    fn skip_space_and_comments(&mut self) -> Result<(), Denied> {
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b), _) if is_space(b) => self.at += 1,
                (Some(b'-'), Some(b'-')) => self.skip_line_comment(),
                (Some(b'/'), Some(b'*')) => self.skip_block_comment()?,
                _ => return Ok(()),
            }
        }
    }

    /// Up to, not over, the end of the line; a carriage return ends it too.
    fn skip_line_comment(&mut self) {
        self.skip_while(|b| !is_newline(b));
    }

    fn skip_block_comment(&mut self) -> Result<(), Denied> {
        let mut depth = 0_usize;
        loop {
            match (self.byte(0), self.byte(1)) {
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    self.at += 2;
                }
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    self.at += 2;
                    if depth == 0 {
                        return Ok(());
                    }
                }
                (Some(_), _) => self.at += 1,
                (None, _) => return Err(Denied::Unterminated("a comment")),
            }
        }
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&belongs) {
            self.at += 1;
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }
}

/// Postgres takes every byte beyond ASCII for a letter, a no-break space too.
fn starts_word(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

fn continues_word(byte: u8) -> bool {
    starts_word(byte) || byte.is_ascii_digit() || byte == b'$'
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

/// The vertical tab is space from Postgres 16 on and an error before.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_newline(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}
