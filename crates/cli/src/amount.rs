//! Amounts as iperf3 writes them: `128K` of data is 1024 times, `100M` of a rate 1000 times.
//!
//! What plumb writes elsewhere (`128KiB`, `10Gbit/s`, `500ms`) is read as well. Flags are told by name only.

use units::{BitRate, Bytes, Nanos};

use crate::failure::Misuse;

/// The suffixes, each a thousand (or 1024) times the one before.
const SUFFIXES: &str = "kmgt";

/// A size: `1500`, `128K` (powers of 1024).
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    let read = scaled(text, 1024.0).map(|bytes| Bytes(bytes.round() as u64));
    let read = read.or_else(|| text.parse().ok()).filter(|bytes| *bytes > Bytes(0));
    read.ok_or_else(|| {
        format!("`{text}` is no size: write bytes, with K, M, G or T for powers of 1024, as 128K")
    })
}

/// A count of things: `1000`, `10K` (powers of 1024, as iperf3 has it).
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let read = scaled(text, 1024.0).map(|count| count.round() as u64).filter(|count| *count > 0);
    read.ok_or_else(|| format!("`{text}` is no count: write a number, with K, M or G for powers of 1024"))
}

/// A rate in bits per second: `100M` (powers of 1000); `None` is no limit, written as 0.
pub(crate) fn rate(text: &str) -> Result<Option<BitRate>, String> {
    let read = scaled(text, 1000.0).map(BitRate).or_else(|| text.parse().ok());
    let read = read.ok_or_else(|| {
        format!("`{text}` is no rate: write bits per second, with K, M, G or T for powers of 1000, as 100M")
    })?;
    Ok((read.0 > 0.0).then_some(read))
}

/// Events in a second: `10k` (powers of 1000).
pub(crate) fn frequency(text: &str) -> Result<f64, String> {
    let read = scaled(text, 1000.0).filter(|rate| *rate > 0.0);
    read.ok_or_else(|| format!("`{text}` is no rate: write how many a second, with k or M, as 10k"))
}

/// A time in seconds, as iperf3 has it, or with its unit: `10`, `0.5`, `500ms`.
pub(crate) fn seconds(text: &str) -> Result<Nanos, String> {
    let bare = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && (0.0..1e9).contains(seconds));
    let read = bare.map(|seconds| Nanos((seconds * 1e9).round() as u64)).or_else(|| text.parse().ok());
    read.ok_or_else(|| {
        format!("`{text}` is no time: write seconds, or a number with its unit, as 10 or 500ms")
    })
}

/// A time that a flag was given, within bounds that it has.
pub(crate) fn within(flag: &str, time: Nanos, (least, most): (Nanos, Nanos)) -> Result<Nanos, Misuse> {
    if (least..=most).contains(&time) {
        return Ok(time);
    }
    let (asked, least, most) = (time.seconds(), least.seconds(), most.seconds());
    Err(Misuse::new(format!("{flag} {asked} is out of range: choose {least} to {most} seconds")))
}

/// A time in milliseconds, as iperf3's time-outs are, or with its unit.
pub(crate) fn milliseconds(text: &str) -> Result<Nanos, String> {
    let read = text.parse::<u32>().ok().map(|millis| Nanos::from_millis(millis.into()));
    let read = read.or_else(|| text.parse().ok()).filter(|time| *time > Nanos(0));
    read.ok_or_else(|| {
        format!("`{text}` is no time: write milliseconds, or a number with its unit, as 3000 or 3s")
    })
}

/// A time in microseconds, as the kernel counts busy polling, or with its unit.
pub(crate) fn microseconds(text: &str) -> Result<Nanos, String> {
    let read = text.parse::<u32>().ok().map(|micros| Nanos(u64::from(micros) * 1000));
    let read = read.or_else(|| text.parse().ok()).filter(|time| *time > Nanos(0));
    read.ok_or_else(|| {
        format!("`{text}` is no time: write microseconds, or a number with its unit, as 50 or 50us")
    })
}

/// A whole number in the three ways of C: `52`, `064`, `0x34`.
pub(crate) fn whole(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

/// A number with one of iperf3's suffixes or none.
fn scaled(text: &str, step: f64) -> Option<f64> {
    let last = text.chars().last()?.to_ascii_lowercase();
    let (number, power) = match SUFFIXES.find(last) {
        Some(place) => (&text[..text.len() - 1], place as i32 + 1),
        None => (text, 0),
    };
    let plain = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value = number.parse::<f64>().ok().filter(|_| plain)? * step.powi(power);
    (value.is_finite() && value <= 9e18).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_powers_of_1024_as_iperf3_has_them() {
        for (text, bytes) in [
            ("1500", 1500),
            ("128K", 131_072),
            ("1.5k", 1536),
            ("2M", 2 << 20),
            ("1g", 1 << 30),
            ("128KiB", 131_072),
        ] {
            assert_eq!(size(text), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn rates_are_powers_of_1000_and_nought_is_no_limit() {
        for (text, bits) in [
            ("100M", Some(1e8)),
            ("1.5g", Some(1.5e9)),
            ("64k", Some(64e3)),
            ("0", None),
            ("10Gbit/s", Some(1e10)),
        ] {
            assert_eq!(rate(text), Ok(bits.map(BitRate)), "{text}");
        }
    }

    #[test]
    fn times_are_seconds_or_say_their_unit() {
        for (text, nanos) in [("10", 10_000_000_000), ("0.5", 500_000_000), ("250ms", 250_000_000), ("0", 0)]
        {
            assert_eq!(seconds(text), Ok(Nanos(nanos)), "{text}");
        }
        assert_eq!(milliseconds("3000"), Ok(Nanos::from_secs(3)));
        assert_eq!(milliseconds("3s"), Ok(Nanos::from_secs(3)));
    }

    #[test]
    fn what_is_no_amount_is_answered_with_an_example() {
        for text in ["", "K", "ten", "10q", "-5", "1e999", "inf", "nan", "0"] {
            assert!(size(text).is_err_and(|said| said.contains("128K")), "{text}");
        }
        for text in ["fast", "-1M", "10X", ""] {
            assert!(rate(text).is_err_and(|said| said.contains("100M")), "{text}");
        }
        for text in ["", "soon", "-1", "inf"] {
            assert!(seconds(text).is_err_and(|said| said.contains("500ms")), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_read_as_c_reads_them() {
        for (text, value) in
            [("52", Some(52)), ("064", Some(52)), ("0x34", Some(52)), ("0", Some(0)), ("0x", None)]
        {
            assert_eq!(whole(text), value, "{text}");
        }
    }
}
