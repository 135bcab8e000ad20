//! Formats a value and its interval in the same unit and with the same precision.

use findings::Interval;
use workload::{Metric, Quantity};

/// U+2212, as wide as a plus sign.
const MINUS: &str = "\u{2212}";

/// A unit, and the number of decimals for three significant digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    divisor: f64,
    decimals: usize,
    pub unit: &'static str,
}

const RATES: [(f64, &str); 4] = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
const BYTE_RATES: [(f64, &str); 4] =
    [((1_u64 << 30) as f64, "GiB/s"), ((1_u64 << 20) as f64, "MiB/s"), (1024.0, "KiB/s"), (1.0, "B/s")];
const BYTES: [(f64, &str); 4] =
    [((1_u64 << 30) as f64, "GiB"), ((1_u64 << 20) as f64, "MiB"), (1024.0, "KiB"), (1.0, "B")];
const DECIMAL_BYTES: [(f64, &str); 4] = [(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")];
const FREQUENCIES: [(f64, &str); 4] = [(1e9, "G/s"), (1e6, "M/s"), (1e3, "k/s"), (1.0, "/s")];
const COUNTS: [(f64, &str); 4] = [(1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")];
const PER_GIGABYTE: [(f64, &str); 4] =
    [(1e9, "G instr/GB"), (1e6, "M instr/GB"), (1e3, "k instr/GB"), (1.0, "instr/GB")];
const PER_MESSAGE: [(f64, &str); 4] = [(1e9, "G instr"), (1e6, "M instr"), (1e3, "k instr"), (1.0, "instr")];
const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

pub(crate) fn with_minus(text: &str) -> String {
    text.replace('-', MINUS)
}

impl Scale {
    /// For relative changes. More decimals would exceed the three-digit precision of values.
    pub(crate) const CHANGE: Self = Self { divisor: 0.01, unit: "%", decimals: 1 };

    #[must_use]
    pub fn of(metric: Metric, value: f64) -> Self {
        let units = match (metric, metric.quantity()) {
            (Metric::InstructionsPerGigabyte, _) => PER_GIGABYTE,
            (Metric::InstructionsPerMessage, _) => PER_MESSAGE,
            (_, Quantity::BitRate) => RATES,
            (_, Quantity::ByteRate) => BYTE_RATES,
            (_, Quantity::Time) => TIMES,
            (_, Quantity::PerSecond) => FREQUENCIES,
            (_, Quantity::Share | Quantity::Count | Quantity::Size | Quantity::Plain) => COUNTS,
        };
        Self::among(units, value)
    }

    fn among(units: [(f64, &'static str); 4], value: f64) -> Self {
        // Round first, so that 999.9 Mbit/s becomes 1.00 Gbit/s rather than 1000 Mbit/s.
        let fits = |(divisor, _): &&(f64, &str)| value.abs() / divisor >= 0.9995;
        let (divisor, unit) = units.iter().find(fits).copied().unwrap_or(units[3]);
        Self { divisor, unit, decimals: decimals(value / divisor) }
    }

    pub(crate) fn last_digit(self) -> f64 {
        self.divisor / 10f64.powi(self.decimals as i32)
    }

    pub(crate) fn near(self, value: f64) -> Self {
        let value = value / self.divisor;
        let decimals = if value.abs() < 0.995 { 3 } else { decimals(value) };
        Self { decimals, ..self }
    }

    /// Uses binary or decimal prefixes, depending on which need fewer digits.
    pub(crate) fn of_bytes(value: f64) -> Self {
        let scales = [BYTES, DECIMAL_BYTES].map(|units| Self::among(units, value));
        let exact = scales.iter().filter_map(|scale| scale.exact(value));
        exact.min_by_key(|scale| scale.decimals).unwrap_or(scales[0])
    }

    pub(crate) fn plain(value: f64) -> Self {
        Self { divisor: 1.0, unit: "", decimals: decimals(value) }
    }

    /// Keeps all digits of a quoted value.
    pub(crate) fn quoting(self, value: f64) -> Self {
        self.exact(value).unwrap_or(self)
    }

    /// Returns `None` if the value needs more than nine decimals. Such a value was computed rather than quoted.
    fn exact(self, value: f64) -> Option<Self> {
        let all = format!("{:.10}", value / self.divisor);
        let decimals = all.trim_end_matches('0').split_once('.').map_or(0, |(_, decimals)| decimals.len());
        (decimals < 10).then(|| Self { decimals: decimals.max(self.decimals), ..self })
    }

    pub(crate) fn percent(share: f64) -> Self {
        Self { divisor: 0.01, unit: "%", decimals: if (share * 100.0).abs() < 9.995 { 2 } else { 1 } }
    }

    pub(crate) fn times(ratio: f64) -> Self {
        Self { divisor: 1.0, unit: "x", decimals: decimals(ratio) }
    }

    pub(crate) const fn divisor(self) -> f64 {
        self.divisor
    }

    #[must_use]
    pub fn number(self, value: f64) -> String {
        let decimals = self.decimals;
        let text = format!("{:.decimals$}", value.abs() / self.divisor);
        let negative = value < 0.0 && text.bytes().any(|digit| (b'1'..=b'9').contains(&digit));
        if negative { format!("{MINUS}{text}") } else { text }
    }

    pub(crate) fn signed(self, value: f64) -> String {
        let number = self.number(value);
        if number.starts_with(MINUS) { number } else { format!("+{number}") }
    }

    #[must_use]
    pub fn quantity(self, value: f64) -> String {
        self.with_unit(&self.number(value))
    }

    pub(crate) fn with_unit(self, number: &str) -> String {
        let gap = if self.unit == "x" { "" } else { " " };
        format!("{number}{gap}{}", self.unit)
    }

    #[must_use]
    pub fn range(self, interval: &Interval) -> String {
        format!("{} to {}", self.number(interval.low), self.number(interval.high))
    }

    pub(crate) fn signed_range(self, interval: &Interval) -> String {
        format!("{} to {}", self.signed(interval.low), self.signed(interval.high))
    }
}

fn decimals(value: f64) -> usize {
    match value.abs() {
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_and_interval_share_unit_and_decimals() {
        let interval = Interval { low: 0.954e9, high: 1.0481e9, confidence: 0.9375 };
        let scale = Scale::of(Metric::Throughput, 1.021e9);
        assert_eq!(scale.quantity(1.021e9), "1.02 Gbit/s");
        assert_eq!(scale.range(&interval), "0.95 to 1.05");
    }

    #[test]
    fn rounding_moves_to_the_next_unit() {
        let show = |metric, value| Scale::of(metric, value).quantity(value);
        assert_eq!(show(Metric::Throughput, 999.96e6), "1.00 Gbit/s");
        assert_eq!(show(Metric::Throughput, 999.2e6), "999 Mbit/s");
        assert_eq!(show(Metric::Throughput, 9.9951e9), "10.0 Gbit/s");
        assert_eq!(show(Metric::RoundTrip, 49_312.0), "49.3 µs");
        assert_eq!(show(Metric::RoundTrip, 0.0), "0.00 ns");
    }

    #[test]
    fn quoted_values_keep_their_digits() {
        let time = |value| Scale::of(Metric::RoundTrip, value).quoting(value).quantity(value);
        assert_eq!(time(32_867.0), "32.867 µs");
        assert_eq!(time(70_482_702_503.0), "70.482702503 s");
        assert_eq!(time(50_000.0), "50.0 µs");
        assert_eq!(time(100_000.0 / 3.0), "33.3 µs", "computed");
        let bytes = |value| Scale::of_bytes(value).quantity(value);
        assert_eq!(bytes(128e6), "128 MB");
        assert_eq!(bytes(134_217_728.0), "128 MiB");
        assert_eq!(bytes(1.06 * 1_073_741_824.0), "1.06 GiB");
    }

    #[test]
    fn difference_has_a_sign_except_zero() {
        let scale = Scale::of(Metric::Throughput, 6.9e9);
        assert_eq!(scale.signed(-6.9e9), "−6.90");
        assert_eq!(scale.signed(6.9e9), "+6.90");
        assert_eq!(scale.signed(-1.0), "+0.00");
    }
}
