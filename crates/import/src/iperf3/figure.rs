//! Numbers as iperf3 prints them. units.c prints at most three digits unless `-f` fixes the unit. Prefixes are
//! decimal for bits and binary for bytes, including in rates.

use units::Nanos;

/// A printed number. The exact value is within half a unit of the last digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Figure {
    pub(super) value: f64,
    pub(super) within: f64,
}

impl Figure {
    /// Returns the closest value that is printed the same way, even after rounding to whole bytes.
    pub(super) fn nearest(self, value: f64) -> f64 {
        let within = self.within * 0.9;
        value.clamp(self.value - within, self.value + within)
    }

    pub(super) fn allows(self, value: f64) -> bool {
        (value - self.value).abs() <= self.within
    }
}

pub(super) fn bytes(number: &str, unit: &str) -> Option<Figure> {
    printed(number, prefix(unit, "Bytes", 1024.0)?)
}

pub(super) fn rate(number: &str, unit: &str) -> Option<Figure> {
    let of_bytes = || prefix(unit, "Bytes/sec", 1024.0).map(|factor| factor * 8.0);
    printed(number, prefix(unit, "bits/sec", 1000.0).or_else(of_bytes)?)
}

fn prefix(unit: &str, base: &str, step: f64) -> Option<f64> {
    match unit.strip_suffix(base)? {
        "" => Some(1.0),
        "K" | "k" => Some(step),
        "M" | "m" => Some(step * step),
        "G" | "g" => Some(step.powi(3)),
        "T" | "t" => Some(step.powi(4)),
        _ => None,
    }
}

fn printed(number: &str, factor: f64) -> Option<Figure> {
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = number.parse().ok().filter(|_| plain)?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let within = 0.5 * 10f64.powi(-(decimals.min(20) as i32)) * factor;
    let value = value * factor;
    // A larger value means a damaged log.
    (value < 1e18).then_some(Figure { value, within })
}

/// Parses seconds with two decimals, without rounding.
pub(super) fn seconds(text: &str) -> Option<Nanos> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = text.parse().ok().filter(|_| plain)?;
    (value < 1e9).then(|| Nanos((value * 1e6).round() as u64 * 1000))
}
