//! Postgres' binary `numeric` as exact decimal text. The wire has base-10000 digits, the weight
//! of the first one, a sign and the count of decimals to show.

const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;

/// Decimal text, `NaN`, `Infinity` or `-Infinity`.
pub(super) fn to_text(raw: &[u8]) -> Result<String, String> {
    let mut words = raw.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let mut header = || words.next().ok_or_else(|| "a numeric has at least 8 bytes".to_owned());
    let (count, weight, sign, scale) = (header()?, header()?, header()?, header()?);
    let weight = i32::from(weight.cast_signed());
    let digits: Vec<u16> = words.take(usize::from(count)).collect();
    let prefix = match sign {
        POSITIVE => "",
        NEGATIVE => "-",
        NAN => return Ok("NaN".to_owned()),
        INFINITY => return Ok("Infinity".to_owned()),
        NEGATIVE_INFINITY => return Ok("-Infinity".to_owned()),
        other => return Err(format!("0x{other:04x} is no sign of a numeric")),
    };
    let group = |position: i32| {
        let index = usize::try_from(weight - position).ok();
        index.and_then(|i| digits.get(i)).copied().unwrap_or(0)
    };

    let mut text = String::from(prefix);
    let whole: String = (0..=weight.max(0)).rev().map(|position| format!("{:04}", group(position))).collect();
    let whole = whole.trim_start_matches('0');
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if scale > 0 {
        let groups = i32::from(scale.div_ceil(4));
        let decimals: String = (1..=groups).map(|n| format!("{:04}", group(-n))).collect();
        text.push('.');
        text.push_str(&decimals[..usize::from(scale)]);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::to_text;

    fn wire(weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
        let count = u16::try_from(digits.len()).expect("few digits");
        [count, weight.cast_unsigned(), sign, scale]
            .iter()
            .chain(digits)
            .flat_map(|word| word.to_be_bytes())
            .collect()
    }

    #[track_caller]
    fn check(weight: i16, sign: u16, scale: u16, digits: &[u16], expected: &str) {
        assert_eq!(to_text(&wire(weight, sign, scale, digits)).as_deref(), Ok(expected));
    }

    #[test]
    fn numbers_keep_every_digit() {
        check(0, 0, 0, &[], "0");
        check(0, 0, 2, &[], "0.00");
        check(1, 0, 0, &[1, 2], "10002");
        check(2, 0x4000, 0, &[12], "-1200000000");
        check(0, 0, 3, &[12, 3450], "12.345");
        check(-1, 0, 4, &[5], "0.0005");
        check(-2, 0, 6, &[100], "0.000001");
        check(0, 0xC000, 0, &[], "NaN");
        check(0, 0xF000, 0, &[], "-Infinity");
    }

    #[test]
    fn a_short_wire_form_is_an_error() {
        assert!(to_text(&[0, 1]).is_err());
    }
}
