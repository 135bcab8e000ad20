//! Parses numbers as people and tools write them: `23.5 Gbits/sec`, `6,408`, `~15,200/sec`, `+47.4% (15.6 μs)`.

use crate::unit::{Unit, unit};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Amount {
    pub(crate) number: f64,
    pub(crate) unit: Option<Unit>,
    pub(crate) approximate: bool,
    /// Whether the number has no fraction, separators or exponent.
    pub(crate) plain: bool,
    /// Whether the number has no fraction or exponent.
    pub(crate) whole: bool,
}

impl Amount {
    /// `unit` applies if the number has no unit. Returns `None` if the value overflows, or if the unit belongs to
    /// another quantity.
    pub(crate) fn in_base(&self, unit: Option<Unit>) -> Option<f64> {
        let factor = match (self.unit, unit) {
            (Some(own), Some(other)) if own.quantity != other.quantity => return None,
            (own, other) => own.or(other).map_or(1.0, |unit| unit.factor),
        };
        let value = self.number * factor;
        value.is_finite().then(|| as_written(value))
    }
}

/// Removes the rounding error of a multiplication: 32.3 μs are 32300 ns, not 32299.999999999996 ns.
pub(crate) fn as_written(value: f64) -> f64 {
    format!("{value:.14e}").parse().unwrap_or(value)
}

/// Parses a number with its unit, optionally followed by a remark in parentheses.
pub(crate) fn amount(text: &str) -> Option<Amount> {
    let text = text.trim();
    let exact = text.trim_start_matches(['~', '≈']).trim_start();
    let (number, rest) = leading_number(exact)?;
    let bracketed =
        rest.trim().strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).filter(|it| unit(it).is_some());
    let rest = bracketed.unwrap_or_else(|| without_spread(without_remark(rest.trim())));
    let unit = if rest.is_empty() { None } else { Some(unit(rest)?) };
    let written = &exact[..exact.len() - leading_rest(exact).len()];
    let whole = written.chars().all(|c| c.is_ascii_digit() || c == ',');
    Some(Amount {
        number,
        unit,
        approximate: exact.len() < text.len(),
        plain: whole && !written.contains(','),
        whole,
    })
}

/// Commas may only separate thousands.
pub(crate) fn leading_number(text: &str) -> Option<(f64, &str)> {
    let rest = leading_rest(text);
    let written = &text[..text.len() - rest.len()];
    let number = written.strip_prefix('+').unwrap_or(written);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let fraction_only = whole.trim_start_matches('-').is_empty();
    if fraction.contains(',') || !(fraction_only || parts_thousands(whole.trim_start_matches('-'))) {
        return None;
    }
    let value: f64 = number.replace(',', "").parse().ok()?;
    f64::is_finite(value).then_some((value, rest))
}

pub(crate) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    (digits && parts_thousands(text)).then(|| text.replace(',', "").parse().ok())?
}

fn leading_rest(text: &str) -> &str {
    let bytes = text.as_bytes();
    let mut end = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    while bytes.get(end).is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'.')) {
        end += 1;
    }
    let exponent = bytes.get(end).is_some_and(|byte| matches!(byte, b'e' | b'E'));
    let signed = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    if exponent && bytes.get(end + 1 + signed).is_some_and(u8::is_ascii_digit) {
        end += 1 + signed;
        while bytes.get(end).is_some_and(u8::is_ascii_digit) {
            end += 1;
        }
    }
    &text[end..]
}

fn parts_thousands(digits: &str) -> bool {
    let mut groups = digits.split(',');
    let first = groups.next().unwrap_or_default();
    let mut parted = groups.clone().peekable();
    !first.is_empty() && (parted.peek().is_none() || first.len() <= 3) && groups.all(|group| group.len() == 3)
}

fn without_remark(text: &str) -> &str {
    match text.find('(') {
        Some(at) if text.ends_with(')') => text[..at].trim_end(),
        _ => text,
    }
}

/// Removes the spread in `± 0.3 Gbits/sec` but keeps the unit.
fn without_spread(text: &str) -> &str {
    let Some(spread) = ["±", "+/-", "+-"].iter().find_map(|sign| text.strip_prefix(sign)) else {
        return text;
    };
    leading_number(spread.trim_start()).map_or(text, |(_, rest)| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::Quantity::{BitRate, Count, PerSecond, Plain, Share, Size, Time};

    #[test]
    fn parses_numbers_with_units() {
        for (text, quantity, value) in [
            ("23.5 Gbits/sec", BitRate, 23.5e9),
            ("9.60 Gbit/s", BitRate, 9.6e9),
            ("941Mbps", BitRate, 941e6),
            ("1 MB/s", BitRate, 8e6),
            ("1 MBytes/sec", BitRate, 8.0 * 1_048_576.0),
            ("1 MiB/s", BitRate, 8.0 * 1_048_576.0),
            ("4310.86 10^6bits/sec", BitRate, 4_310.86e6),
            ("32.867 μs", Time, 32_867.0),
            ("1,644.2 μs/call", Time, 1_644_200.0),
            ("70,482,702,503 ns (96.9%)", Time, 70_482_702_503.0),
            ("134ms", Time, 134e6),
            ("~15,200/sec", PerSecond, 15_200.0),
            ("1.2 Mpps", PerSecond, 1.2e6),
            ("9586.46 Trans/s", PerSecond, 9_586.46),
            ("56.2%", Share, 0.562),
            ("+47.4% (15.6 μs)", Share, 0.474),
            ("-3 %", Share, -0.03),
            ("64 KiB", Size, 65_536.0),
            ("1.9M", Count, 1.9e6),
            ("12 packets", Count, 12.0),
            ("1.8x", Plain, 1.8),
            ("23.5 ± 0.3 Gbits/sec", BitRate, 23.5e9),
            ("7100.000000 (Mb/s)", BitRate, 7100e6),
            ("698.866667 (OP/s)", PerSecond, 698.866_667),
        ] {
            let read = amount(text).unwrap_or_else(|| panic!("{text} is a number"));
            assert_eq!(read.unit.map(|unit| unit.quantity), Some(quantity), "{text}");
            let value_read = read.in_base(None).expect("finite");
            assert!((value_read / value - 1.0).abs() < 1e-9, "{text} is {value_read}");
        }
    }

    #[test]
    fn records_how_a_number_is_written() {
        let written = |text| amount(text).map(|amount| (amount.plain, amount.whole, amount.approximate));
        assert_eq!(written("128"), Some((true, true, false)));
        assert_eq!(written("6,408"), Some((false, true, false)));
        assert_eq!(written("~97,800"), Some((false, true, true)));
        assert_eq!(written("12.7"), Some((false, false, false)));
    }

    #[test]
    fn rejects_other_text() {
        for text in [
            "",
            "-",
            "n/a",
            "nan",
            "inf",
            "-inf",
            "∞",
            "Baseline",
            "12,7",
            "1,0000",
            "1.2.3",
            "1,2,3",
            "1.000,5",
            "<5",
            "5-7",
            "3 apples",
            "1e999",
            "--5",
            "0x10",
            "4 KVM",
            "12.7 Gbit/sec and more",
            ".",
            "+",
            "1e",
            "10^",
            "7 10^99bits/s",
        ] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn rejects_unit_of_another_quantity() {
        let gigabits = unit("Gbit/sec");
        assert_eq!(amount("12.7").and_then(|amount| amount.in_base(gigabits)), Some(12.7e9));
        assert_eq!(amount("12.7 Mbit/s").and_then(|amount| amount.in_base(gigabits)), Some(12.7e6));
        assert_eq!(amount("12.7 ms").and_then(|amount| amount.in_base(gigabits)), None);
        assert_eq!(amount("1e308").and_then(|amount| amount.in_base(gigabits)), None);
    }

    #[test]
    fn parses_integers_with_and_without_separators() {
        assert_eq!(whole("70,482,702,503"), Some(70_482_702_503));
        assert_eq!(whole("1000"), Some(1000));
        for text in ["", "1,00", "-1", "1.0", "1000,000", "99999999999999999999", ",100"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
