//! The part of a message that says what went wrong, without ids, numbers and quoted values.
//! Knows nothing of who wrote the message.

/// Words after which Postgres quotes a name of the schema, not a value: two constraints are
/// two problems.
const BEFORE_A_NAME: [&str; 12] = [
    "column",
    "constraint",
    "relation",
    "table",
    "index",
    "function",
    "type",
    "schema",
    "role",
    "trigger",
    "sequence",
    "view",
];
/// A word this long with a digit in it is taken for an id.
const ID_BYTES: usize = 20;
/// A word of hexadecimal digits this long, with a decimal digit in it, is taken for an id.
const HEX_BYTES: usize = 8;

/// Quoted values become `?`; ids, UUIDs, hexadecimal numbers and runs of digits become `#`;
/// runs of white space become one space.
#[must_use]
pub fn normalised(message: &str) -> String {
    let mut normal = String::with_capacity(message.len());
    let mut last_word = "";
    let mut rest = message;
    while let Some(character) = rest.chars().next() {
        let word_bytes = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        if word_bytes > 0 {
            last_word = &rest[..word_bytes];
            push_word(&mut normal, last_word);
            rest = &rest[word_bytes..];
        } else if let Some(quoted) = quoted_at(rest, &normal) {
            let name = character == '"' && BEFORE_A_NAME.contains(&last_word);
            normal.push_str(if name { quoted } else { "?" });
            rest = &rest[quoted.len()..];
        } else {
            match character {
                space if space.is_whitespace() => {
                    if !normal.ends_with(' ') {
                        normal.push(' ');
                    }
                }
                other => normal.push(other),
            }
            rest = &rest[character.len_utf8()..];
        }
    }
    normal.trim().to_owned()
}

/// The quoted text that starts here, with its quotes. An apostrophe within a word never gets
/// here as an opening quote: it follows a letter.
fn quoted_at<'a>(rest: &'a str, before: &str) -> Option<&'a str> {
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"' | '`'))?;
    if before.chars().next_back().is_some_and(is_word) {
        return None;
    }
    let inner = rest[1..].find(quote)?;
    Some(&rest[..inner + 2])
}

fn push_word(normal: &mut String, word: &str) {
    if is_id(word) {
        normal.push('#');
        return;
    }
    let mut in_digits = false;
    for character in word.chars() {
        match (character.is_ascii_digit(), in_digits) {
            (true, false) => normal.push('#'),
            (true, true) => {}
            (false, _) => normal.push(character),
        }
        in_digits = character.is_ascii_digit();
    }
}

fn is_id(word: &str) -> bool {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let prefixed = word.strip_prefix("0x").is_some_and(|digits| !digits.is_empty() && hex(digits));
    prefixed || (has_digit && (word.len() >= ID_BYTES || (word.len() >= HEX_BYTES && hex(word))))
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '-'
}
