//! Settings: declared with their defaults under `[settings]` in `handler.toml`, overridden by the operator.

use std::fmt::Display;
use std::str::FromStr;

use crate::{host, retry};

/// A setting's text, or `None` when neither the manifest nor the operator has it.
pub fn get(key: &str) -> Option<String> {
    host::setting(key)
}

/// A setting as a value.
///
/// # Errors
/// [`retry`] with the code `setting-missing` or `setting-invalid`: an operator can mend both while the event waits.
pub fn parse<T>(key: &str) -> crate::Result<T>
where
    T: FromStr,
    T::Err: Display,
{
    let text = get(key).ok_or_else(|| {
        retry("setting-missing", format!("the setting \"{key}\" is not set; give it a value under [settings]"))
    })?;
    read(key, &text)
}

/// A setting as a value, or `default` when it is not set.
///
/// # Errors
/// [`retry`] with the code `setting-invalid` when it is set to something else.
pub fn parse_or<T>(key: &str, default: T) -> crate::Result<T>
where
    T: FromStr,
    T::Err: Display,
{
    get(key).map_or(Ok(default), |text| read(key, &text))
}

fn read<T>(key: &str, text: &str) -> crate::Result<T>
where
    T: FromStr,
    T::Err: Display,
{
    text.parse().map_err(|error| {
        retry("setting-invalid", format!("the setting \"{key}\" cannot be \"{text}\": {error}; correct it"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_of_the_wrong_kind_names_itself_and_waits_for_the_operator() {
        let failure = read::<u16>("port", "many").unwrap_err();
        assert!(matches!(failure, crate::Failure::Retry(_)));
        assert_eq!(failure.fault().code, "setting-invalid");
        assert!(failure.fault().message.contains("\"port\""), "{}", failure.fault().message);
    }
}
