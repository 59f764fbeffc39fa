use proptest::prelude::*;
use wonce_core::name::{Error, HandlerName, Key, MAX_KEY_BYTES, MAX_NAME_BYTES};

#[test]
fn names_are_short_lower_case_words() {
    for good in ["a", "payments", "eu-west_2", &"n".repeat(MAX_NAME_BYTES)] {
        assert!(HandlerName::parse(good).is_ok(), "{good}");
    }
    for bad in ["", "9a", "-a", "A", "ä", "a b", "a.b", "a\0", &"n".repeat(MAX_NAME_BYTES + 1)] {
        assert!(HandlerName::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn the_login_role_of_the_longest_name_fits_postgres() {
    assert!("wonce_0123abcd_".len() + MAX_NAME_BYTES <= 63);
}

proptest! {
    #[test]
    fn a_key_is_any_short_text_without_nul(text in "(?s).{0,300}") {
        let expected = match text.len() {
            0 => Err(Error::Empty),
            bytes if bytes > MAX_KEY_BYTES => Err(Error::TooLong { bytes, limit: MAX_KEY_BYTES }),
            _ if text.contains('\0') => Err(Error::Nul),
            _ => Ok(text.clone()),
        };
        prop_assert_eq!(Key::parse(text).map(String::from), expected);
    }

    #[test]
    fn what_is_written_as_json_is_checked_when_it_is_read(text in "[a-zA-Z0-9_-]{0,60}") {
        let json = serde_json::Value::from(text.as_str()).to_string();
        let read = serde_json::from_str::<HandlerName>(&json).ok();
        prop_assert_eq!(read, HandlerName::parse(text).ok());
    }
}
