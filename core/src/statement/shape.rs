//! The shape of an allowed statement: its first keyword, that it is alone, and where INTO
//! stands. Knows nothing of names.

use super::scan::Token;
use super::{ALLOWED_KEYWORDS, Denied};

/// How far the statement within one pair of parentheses, or at the top, has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Nothing yet, or only the list of a WITH.
    BeforeVerb,
    /// INSERT or MERGE as the statement's verb was the last token: INTO may come.
    IntoMayCome,
    /// Within the statement, where INSERT could also be a column's label
    /// (`SELECT 1 insert INTO t` is a SELECT INTO).
    AfterVerb,
}

pub(super) fn check(tokens: &[Token]) -> Result<(), Denied> {
    first_keyword(tokens)?;
    let mut levels = vec![Level::BeforeVerb];
    for (index, token) in tokens.iter().enumerate() {
        let level = levels.last_mut().ok_or(Denied::Parentheses)?;
        match token {
            Token::Semicolon if index + 1 < tokens.len() => return Err(Denied::SeveralStatements),
            Token::Word(word) if word == "into" && *level != Level::IntoMayCome => return Err(Denied::Into),
            Token::Word(word) => *level = after_word(*level, word),
            Token::Open => {
                *level = after_other(*level);
                levels.push(Level::BeforeVerb);
            }
            Token::Close => {
                levels.pop();
            }
            Token::Quoted(_) | Token::Literal | Token::Semicolon | Token::Dot | Token::Other => {
                *level = after_other(*level);
            }
        }
    }
    if levels.len() == 1 { Ok(()) } else { Err(Denied::Parentheses) }
}

fn first_keyword(tokens: &[Token]) -> Result<(), Denied> {
    let first = tokens.iter().find(|token| **token != Token::Open);
    match first {
        Some(Token::Word(word)) if ALLOWED_KEYWORDS.contains(&word.as_str()) => Ok(()),
        Some(Token::Word(word)) => Err(Denied::FirstKeyword(word.to_ascii_uppercase())),
        Some(Token::Quoted(name)) => Err(Denied::FirstKeyword(format!("\"{name}\""))),
        Some(Token::Semicolon) => Err(Denied::FirstKeyword(";".to_owned())),
        Some(Token::Literal | Token::Dot | Token::Other) => {
            Err(Denied::FirstKeyword("something that is no keyword".to_owned()))
        }
        Some(Token::Open | Token::Close) => Err(Denied::Parentheses),
        None => Err(Denied::Empty),
    }
}

fn after_word(level: Level, word: &str) -> Level {
    match (level, word) {
        (Level::BeforeVerb, "insert" | "merge") => Level::IntoMayCome,
        (Level::BeforeVerb, "select" | "update" | "delete" | "values" | "table") => Level::AfterVerb,
        (Level::BeforeVerb, _) => Level::BeforeVerb,
        (Level::IntoMayCome | Level::AfterVerb, _) => Level::AfterVerb,
    }
}

fn after_other(level: Level) -> Level {
    match level {
        Level::BeforeVerb => Level::BeforeVerb,
        Level::IntoMayCome | Level::AfterVerb => Level::AfterVerb,
    }
}
