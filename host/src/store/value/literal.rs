//! Encoded parameter → SQL literal, for the values whose literal means the same under every setting
//! of the session: numbers, booleans, NULL and short plain ASCII text. All others are bound.
//!
//! There is nothing to escape by design: a text with a quote, a backslash or a byte outside
//! printable ASCII has no literal here, so neither `standard_conforming_strings` nor
//! `client_encoding` can give the quotes another meaning.

use tokio_postgres::types::Type;

use super::encode::Encoded;

/// Longer texts are bound: the server's lexer would copy them once more.
const MAX_TEXT_BYTES: usize = 256;

/// Writes the literal of `value` for a parameter of type `ty` behind `out`, or nothing when it has none.
#[must_use]
pub(in crate::store) fn write(out: &mut String, value: &Encoded, ty: &Type) -> Written {
    match value {
        Encoded::Null => out.push_str("NULL"),
        Encoded::Text(text) if is_plain(text) => quote(out, text),
        Encoded::Text(_) => return Written::Nothing,
        Encoded::Binary(bytes) => match number(bytes, ty) {
            Some(number) => quote(out, &number),
            None => return Written::Nothing,
        },
    }
    Written::Literal
}

/// Whether a value has a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::store) enum Written {
    Literal,
    Nothing,
}

fn is_plain(text: &str) -> bool {
    text.len() <= MAX_TEXT_BYTES && text.bytes().all(|b| matches!(b, b' '..=b'~') && b != b'\'' && b != b'\\')
}

/// Quoted, so that a negative number is a constant and not an expression.
fn quote(out: &mut String, text: &str) {
    out.push('\'');
    out.push_str(text);
    out.push('\'');
}

fn number(bytes: &[u8], ty: &Type) -> Option<String> {
    match *ty {
        Type::BOOL => bytes.try_into().ok().map(|[byte]: [u8; 1]| (byte != 0).to_string()),
        Type::INT2 => bytes.try_into().ok().map(|bytes| i16::from_be_bytes(bytes).to_string()),
        Type::INT4 => bytes.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).to_string()),
        Type::INT8 => bytes.try_into().ok().map(|bytes| i64::from_be_bytes(bytes).to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(value: &Encoded, ty: &Type) -> Option<String> {
        let mut out = String::new();
        (write(&mut out, value, ty) == Written::Literal).then_some(out)
    }

    #[test]
    fn plain_values_have_a_literal() {
        let int8 = Encoded::Binary(i64::MIN.to_be_bytes().to_vec());
        assert_eq!(literal(&int8, &Type::INT8).as_deref(), Some("'-9223372036854775808'"));
        assert_eq!(literal(&Encoded::Binary(vec![1]), &Type::BOOL).as_deref(), Some("'true'"));
        assert_eq!(literal(&Encoded::Null, &Type::TEXT).as_deref(), Some("NULL"));
        let text = Encoded::Text("order-17: paid; --".to_owned());
        assert_eq!(literal(&text, &Type::TEXT).as_deref(), Some("'order-17: paid; --'"));
    }

    #[test]
    fn what_a_session_could_read_otherwise_has_none() {
        for text in ["it's", r"a\b", "é", "a\nb", "\u{0}", &"x".repeat(MAX_TEXT_BYTES + 1)] {
            assert_eq!(literal(&Encoded::Text(text.to_owned()), &Type::TEXT), None, "{text:?}");
        }
        assert_eq!(literal(&Encoded::Binary(vec![0; 8]), &Type::FLOAT8), None);
        assert_eq!(literal(&Encoded::Binary(vec![0; 3]), &Type::INT8), None);
    }
}
