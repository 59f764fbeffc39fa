//! RFC 3339 times. Knows nothing of attributes.

use jiff::Timestamp;
use wonce_core::event::Micros;

use crate::source::Error;
use crate::source::text::shown;

/// Where the fixed part of an RFC 3339 time has which characters; `0` is a digit.
const SHAPE: &[u8] = b"0000-00-00T00:00:00";

/// Reads a time; what is finer than a microsecond is cut off.
///
/// # Errors
/// When the text is not RFC 3339 or no such time exists.
pub(super) fn parse(text: &str) -> Result<Micros, Error> {
    let refused = |reason: String| Error::Time { found: shown(text), reason };
    if !has_shape(text) {
        return Err(refused("date, 'T', time and offset are needed".to_owned()));
    }
    let timestamp: Timestamp = text.parse().map_err(|e: jiff::Error| refused(e.to_string()))?;
    Ok(Micros(timestamp.as_microsecond()))
}

/// The parser takes more than RFC 3339 allows (years of six digits, zone names, no seconds).
fn has_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let fits = |(byte, wanted): (&u8, &u8)| match wanted {
        b'0' => byte.is_ascii_digit(),
        other => byte.eq_ignore_ascii_case(other),
    };
    bytes.len() > SHAPE.len() && bytes.iter().zip(SHAPE).all(fits) && !text.contains('[')
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_with_offsets_and_fractions_are_the_same_instant() {
        let utc = parse("2018-04-05T17:31:00Z").expect("valid");
        assert_eq!(parse("2018-04-05T19:31:00+02:00").expect("valid"), utc);
        assert_eq!(parse("2018-04-05T17:31:00.000001999Z").expect("valid").0, utc.0 + 1);
        assert_eq!(utc.0, 1_522_949_460_000_000);
    }

    #[test]
    fn what_is_not_rfc_3339_is_refused() {
        for text in [
            "2018-04-05",
            "2018-04-05T17:31Z",
            "2018-04-05T17:31:00",
            "2018-13-05T17:31:00Z",
            "-009999-04-05T17:31:00Z",
            "2018-04-05T17:31:00+00:00[UTC]",
            "yesterday",
            "1522949460",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
