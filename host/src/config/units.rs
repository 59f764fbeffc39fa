//! Durations and sizes as people write them: a whole number and a unit. Knows no key and
//! no limit; only one spelling of each exists, so that a grep finds them all.

use std::time::Duration;

use super::report::Complaint;

const MILLIS_PER: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const BYTES_PER: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Reads `250ms`, `5s`, `10m`, `2h` or `90d`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, Complaint> {
    let remedy = "write a whole number and ms, s, m, h or d, such as \"250ms\", \"5s\" or \"10m\"";
    parse(text, &MILLIS_PER)
        .map(Duration::from_millis)
        .ok_or_else(|| Complaint::new(format!("\"{text}\" is not a duration"), remedy))
}

/// Reads `512B`, `512KiB`, `64MiB` or `1GiB`: the count of bytes.
pub(crate) fn parse_size(text: &str) -> Result<u64, Complaint> {
    let remedy = "write a whole number and B, KiB, MiB or GiB, such as \"512KiB\" or \"64MiB\"";
    parse(text, &BYTES_PER)
        .ok_or_else(|| Complaint::new(format!("\"{text}\" is not a size in bytes"), remedy))
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// The shortest spelling that `parse_duration` reads back.
pub(crate) fn show_duration(duration: Duration) -> String {
    show(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX), &MILLIS_PER)
}

/// The shortest spelling that `parse_size` reads back.
pub(crate) fn show_size(bytes: u64) -> String {
    show(bytes, &BYTES_PER)
}

fn show(amount: u64, units: &[(&str, u64)]) -> String {
    let exact = units.iter().rev().find(|(_, factor)| amount != 0 && amount.is_multiple_of(*factor));
    match exact.or(units.first()) {
        Some((name, factor)) => format!("{}{name}", amount / factor),
        None => amount.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back() {
        for text in ["0ms", "1ms", "250ms", "5s", "90s", "10m", "25h", "90d"] {
            let duration = parse_duration(text).expect(text);
            assert_eq!(show_duration(duration), text);
        }
        for text in ["0B", "1B", "1023B", "512KiB", "64MiB", "3GiB"] {
            assert_eq!(show_size(parse_size(text).expect(text)), text);
        }
    }

    #[test]
    fn anything_but_a_whole_number_and_a_unit_is_refused() {
        for text in ["", "5", "s", "5 s", "1.5s", "-1s", "5S", "5sec", "99999999999999999999s", "1m30s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["", "64", "64MB", "64mib", "64 MiB", "1.5MiB", "-1B", "99999999999GiB"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
