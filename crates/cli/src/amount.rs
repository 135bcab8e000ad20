//! Parses amounts in iperf3's notation. Sizes use powers of 1024 (`128K`), rates powers of 1000 (`100M`).
//!
//! Also accepts plumb's own notation (`128KiB`, `10Gbit/s`, `500ms`).

use units::{BitRate, Bytes, Nanos};

use crate::failure::Misuse;

const SUFFIXES: &str = "kmgt";

/// Parses a size such as `1500` or `128K` (powers of 1024).
pub(crate) fn size(text: &str) -> Result<Bytes, String> {
    let read = scaled(text, 1024.0).map(|bytes| Bytes(bytes.round() as u64));
    let read = read.or_else(|| text.parse().ok()).filter(|bytes| *bytes > Bytes(0));
    read.ok_or_else(|| {
        format!("invalid size `{text}`: use bytes, or K, M, G or T for powers of 1024, e.g. 128K")
    })
}

pub(crate) fn count(text: &str) -> Result<u64, String> {
    let read = scaled(text, 1024.0).map(|count| count.round() as u64).filter(|count| *count > 0);
    read.ok_or_else(|| format!("invalid count `{text}`: use a number, or K, M or G for powers of 1024"))
}

/// Parses bits per second, e.g. `100M` (powers of 1000). 0 means unlimited and is returned as `None`.
pub(crate) fn rate(text: &str) -> Result<Option<BitRate>, String> {
    let read = scaled(text, 1000.0).map(BitRate).or_else(|| text.parse().ok());
    let read = read.ok_or_else(|| {
        format!("invalid rate `{text}`: use bits per second, or K, M, G or T for powers of 1000, e.g. 100M")
    })?;
    Ok((read.0 > 0.0).then_some(read))
}

pub(crate) fn frequency(text: &str) -> Result<f64, String> {
    let read = scaled(text, 1000.0).filter(|rate| *rate > 0.0);
    read.ok_or_else(|| {
        format!(
            "invalid rate `{text}`: use events per second, or k or M for powers of \
        1000, e.g. 10k"
        )
    })
}

/// Parses a time such as `10`, `0.5` or `500ms`. As in iperf3, the default unit is seconds.
pub(crate) fn seconds(text: &str) -> Result<Nanos, String> {
    let bare = text.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && (0.0..1e9).contains(seconds));
    let read = bare.map(|seconds| Nanos((seconds * 1e9).round() as u64)).or_else(|| text.parse().ok());
    read.ok_or_else(|| {
        format!("invalid time `{text}`: use seconds or a number with a unit, e.g. 10 or 500ms")
    })
}

pub(crate) fn within(flag: &str, time: Nanos, (least, most): (Nanos, Nanos)) -> Result<Nanos, Misuse> {
    if (least..=most).contains(&time) {
        return Ok(time);
    }
    let (value, least, most) = (time.seconds(), least.seconds(), most.seconds());
    Err(Misuse::new(format!("{flag} {value} is out of range: use {least} to {most} seconds")))
}

/// The default unit is milliseconds, as in iperf3's timeouts.
pub(crate) fn milliseconds(text: &str) -> Result<Nanos, String> {
    let read = text.parse::<u32>().ok().map(|millis| Nanos::from_millis(millis.into()));
    let read = read.or_else(|| text.parse().ok()).filter(|time| *time > Nanos(0));
    read.ok_or_else(|| {
        format!("invalid time `{text}`: use milliseconds or a number with a unit, e.g. 3000 or 3s")
    })
}

/// The default unit is microseconds, as in the kernel's busy polling settings.
pub(crate) fn microseconds(text: &str) -> Result<Nanos, String> {
    let read = text.parse::<u32>().ok().map(|micros| Nanos(u64::from(micros) * 1000));
    let read = read.or_else(|| text.parse().ok()).filter(|time| *time > Nanos(0));
    read.ok_or_else(|| {
        format!("invalid time `{text}`: use microseconds or a number with a unit, e.g. 50 or 50us")
    })
}

/// Parses an integer in C notation, e.g. `52`, `064` or `0x34`.
pub(crate) fn whole(text: &str) -> Option<u32> {
    let (digits, radix) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => (hex, 16),
        None if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        None => (text, 10),
    };
    u32::from_str_radix(digits, radix).ok()
}

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
    fn sizes_use_powers_of_1024() {
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
    fn rates_use_powers_of_1000_and_zero_means_unlimited() {
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
    fn times_default_to_seconds() {
        for (text, nanos) in [("10", 10_000_000_000), ("0.5", 500_000_000), ("250ms", 250_000_000), ("0", 0)]
        {
            assert_eq!(seconds(text), Ok(Nanos(nanos)), "{text}");
        }
        assert_eq!(milliseconds("3000"), Ok(Nanos::from_secs(3)));
        assert_eq!(milliseconds("3s"), Ok(Nanos::from_secs(3)));
    }

    #[test]
    fn rejects_invalid_amounts_with_example() {
        for text in ["", "K", "ten", "10q", "-5", "1e999", "inf", "nan", "0"] {
            assert!(size(text).is_err_and(|error| error.contains("128K")), "{text}");
        }
        for text in ["fast", "-1M", "10X", ""] {
            assert!(rate(text).is_err_and(|error| error.contains("100M")), "{text}");
        }
        for text in ["", "soon", "-1", "inf"] {
            assert!(seconds(text).is_err_and(|error| error.contains("500ms")), "{text}");
        }
    }

    #[test]
    fn parses_integers_like_c() {
        for (text, value) in
            [("52", Some(52)), ("064", Some(52)), ("0x34", Some(52)), ("0", Some(0)), ("0x", None)]
        {
            assert_eq!(whole(text), value, "{text}");
        }
    }
}
