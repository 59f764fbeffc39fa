//! RFC 3339 to microseconds and back, on the proleptic Gregorian calendar. The day arithmetic counts years from
//! March, so that the leap day is the last day of its year and needs no special case.

use std::fmt;

const DAY: i64 = 86_400_000_000;
/// Days in the 400 years after which the calendar repeats.
const ERA: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i64 = 719_468;

pub(super) fn write(micros: i64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (days, rest) = (micros.div_euclid(DAY), micros.rem_euclid(DAY));
    write_day(days, out)?;
    let (seconds, fraction) = (rest / 1_000_000, rest % 1_000_000);
    write!(out, "T{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
    if fraction != 0 {
        write!(out, ".{fraction:06}")?;
    }
    out.write_str("Z")
}

pub(super) fn write_day(days: i64, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (year, month, day) = civil(days);
    write!(out, "{year:04}-{month:02}-{day:02}")
}

/// `None` for anything but a complete date and time with `Z` or an offset. Digits beyond the microsecond are cut off.
pub(super) fn read(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let fixed = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    let separated = matches!(bytes.get(10), Some(b'T' | b't' | b' '));
    if !text.is_ascii() || !separated || fixed.iter().any(|(at, byte)| bytes.get(*at) != Some(byte)) {
        return None;
    }
    let (year, month, day) = (number(text, 0, 4)?, number(text, 5, 7)?, number(text, 8, 10)?);
    let (hour, minute, second) = (number(text, 11, 13)?, number(text, 14, 16)?, number(text, 17, 19)?);
    let day_exists = (1..=12).contains(&month) && day >= 1 && civil(days(year, month, day)) == (year, month, day);
    // A leap second (60) is read as the second that follows.
    if !day_exists || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(&text[19..])?;
    let seconds = hour * 3600 + minute * 60 + second - offset(zone)?;
    Some(days(year, month, day) * DAY + seconds * 1_000_000 + fraction)
}

fn number(text: &str, from: usize, to: usize) -> Option<i64> {
    let digits = text.get(from..to)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// The microseconds of `.123456789Z`, and the zone behind them.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(digits) = text.strip_prefix('.') else { return Some((0, text)) };
    let end = digits.bytes().position(|byte| !byte.is_ascii_digit())?;
    if end == 0 {
        return None;
    }
    let micros = digits[..end].bytes().chain(std::iter::repeat(b'0')).take(6);
    Some((micros.fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0')), &digits[end..]))
}

/// Seconds east of UTC.
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes() {
        [b'Z' | b'z'] => return Some(0),
        [b'+', _, _, b':', _, _] => 1,
        [b'-', _, _, b':', _, _] => -1,
        _ => return None,
    };
    let (hours, minutes) = (number(zone, 1, 3)?, number(zone, 4, 6)?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH
}

/// Year, month and day.
fn civil(days: i64) -> (i64, i64, i64) {
    let (era, day_of_era) = ((days + EPOCH).div_euclid(ERA), (days + EPOCH).rem_euclid(ERA));
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use crate::time::{Date, Timestamp};

    #[test]
    fn known_times_read_and_write_the_same() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("2000-02-29T12:30:45Z", 951_827_445_000_000),
            ("2026-11-30T21:39:24.000500Z", 1_796_074_764_000_500),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Timestamp::from_micros(micros)), "{text}");
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
        }
    }

    #[test]
    fn an_offset_is_taken_off_and_a_finer_fraction_is_cut() {
        let utc: Timestamp = "2026-01-01T00:00:00.123456Z".parse().unwrap();
        assert_eq!("2026-01-01T02:30:00.1234569+02:30".parse(), Ok(utc));
        assert_eq!("2025-12-31t19:00:00.123456-05:00".parse(), Ok(utc));
    }

    #[test]
    fn times_that_do_not_exist_are_refused() {
        for text in [
            "",
            "2026-11-30",
            "2026-11-30T21:39:24",
            "2025-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+2:00",
            "2026-01-01T00:00:00Zé",
            "+026-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_day_survives_the_way_there_and_back() {
        for day in (-800_000..800_000).step_by(37) {
            let (year, month, of_month) = super::civil(day);
            assert_eq!(super::days(year, month, of_month), day);
        }
        assert_eq!(Date::from_days(20_787).to_string(), "2026-11-30");
    }
}
