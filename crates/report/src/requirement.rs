//! Requirements for a configuration, e.g. `p99<50us`.

use std::{fmt, str::FromStr};

use units::{BitRate, Bytes, Nanos, significant};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Requirement {
    pub(crate) quantity: Quantity,
    /// In base units: nanoseconds, bits per second, bytes, or CPU-seconds per GB.
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Quantity {
    Percentile(f64),
    Throughput,
    CpuTime,
    /// Time from the start of a virtual machine until its agent responds.
    Boot,
    Memory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Compliance {
    Met,
    Unclear,
    Unknown,
    Missed,
}

const WORDS: [(&str, Quantity); 11] = [
    ("p25", Quantity::Percentile(0.25)),
    ("p50", Quantity::Percentile(0.5)),
    ("median", Quantity::Percentile(0.5)),
    ("p75", Quantity::Percentile(0.75)),
    ("p90", Quantity::Percentile(0.9)),
    ("p99", Quantity::Percentile(0.99)),
    ("p99.9", Quantity::Percentile(0.999)),
    ("throughput", Quantity::Throughput),
    ("cpu-time", Quantity::CpuTime),
    ("boot", Quantity::Boot),
    ("memory", Quantity::Memory),
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRequirement(String);

impl fmt::Display for UnknownRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnknownRequirement {}

impl FromStr for Requirement {
    type Err = UnknownRequirement;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = |what: String| UnknownRequirement(what);
        let (name, sign, limit) = text
            .split_once('<')
            .map(|(name, limit)| (name, '<', limit))
            .or_else(|| text.split_once('>').map(|(name, limit)| (name, '>', limit)))
            .ok_or_else(|| wrong("use a bound, e.g. p99<50us or throughput>10Gbit/s".to_owned()))?;
        let (name, limit) = (name.trim().to_lowercase(), limit.trim_start_matches('=').trim());
        let quantity = WORDS.iter().find(|(word, _)| *word == name).map(|(_, quantity)| *quantity);
        let quantity = quantity.ok_or_else(|| {
            let known = WORDS.map(|(word, _)| word).join(", ");
            wrong(format!("unknown quantity `{name}`; use one of {known}"))
        })?;
        if (sign == '>') != quantity.more_is_better() {
            let (other, example) = (if sign == '>' { '<' } else { '>' }, quantity.example());
            return Err(wrong(format!("{name} needs the opposite bound: `{other}`, e.g. {example}")));
        }
        let limit = quantity
            .parse(limit)
            .map_err(|reason| wrong(format!("{reason}, e.g. {}", quantity.example())))?;
        Ok(Self { quantity, limit })
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.quantity.more_is_better() { '>' } else { '<' };
        write!(f, "{} {sign} {}", self.quantity.word(), self.quantity.phrase(self.limit))
    }
}

/// An end is `None` if it is unknown because there are too few trials or messages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ends {
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

impl Ends {
    /// For values that do not vary between trials.
    pub(crate) const fn exact(value: f64) -> Self {
        Self { low: Some(value), high: Some(value) }
    }

    /// Adds [`ALLOWANCE`], for values of which the variation between trials is unknown.
    pub(crate) fn widened(self) -> Self {
        let by = 1.0 + ALLOWANCE;
        Self { low: self.low.map(|low| low / by), high: self.high.map(|high| high * by) }
    }
}

/// Successive trials at the same setting often differ by up to this much.
pub(crate) const ALLOWANCE: f64 = 0.25;

impl Requirement {
    pub(crate) fn judge(&self, ends: Ends) -> Compliance {
        let Ends { low, high } = ends;
        let (worst, best) = if self.quantity.more_is_better() { (low, high) } else { (high, low) };
        if worst.is_some_and(|worst| self.is_within(worst)) {
            return Compliance::Met;
        }
        if best.is_some_and(|best| !self.is_within(best)) { Compliance::Missed } else { Compliance::Unclear }
    }

    fn is_within(&self, value: f64) -> bool {
        if self.quantity.more_is_better() { value > self.limit } else { value < self.limit }
    }
}

impl Quantity {
    pub(crate) const fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput)
    }

    pub(crate) fn word(self) -> &'static str {
        WORDS.iter().find(|(_, quantity)| *quantity == self).map_or("", |(word, _)| word)
    }

    fn example(self) -> &'static str {
        match self {
            Self::Percentile(_) => "p99<50us",
            Self::Throughput => "throughput>10Gbit/s",
            Self::CpuTime => "cpu-time<0.5",
            Self::Boot => "boot<5s",
            Self::Memory => "memory<512MiB",
        }
    }

    fn parse(self, text: &str) -> Result<f64, String> {
        let quantity = match self {
            Self::Percentile(_) | Self::Boot => text.parse::<Nanos>().map(|time| time.0 as f64),
            Self::Throughput => text.parse::<BitRate>().map(|rate| rate.0),
            Self::Memory => text.parse::<Bytes>().map(|size| size.0 as f64),
            Self::CpuTime => {
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
                return number.ok_or_else(|| format!("`{text}` is not a number of CPU-seconds per GB"));
            }
        };
        quantity.map_err(|error| error.to_string())
    }

    pub(crate) fn phrase(self, value: f64) -> String {
        match self {
            Self::Percentile(_) | Self::Boot => Nanos(value as u64).to_string(),
            Self::Throughput => BitRate(value).to_string(),
            Self::Memory => Bytes(value as u64).to_string(),
            Self::CpuTime => format!("{} CPU-s/GB", significant(value, 3)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_and_displays_requirements() {
        for (text, phrase) in [
            ("p99<50us", "p99 < 50.0 µs"),
            ("Median <= 1ms", "p50 < 1.00 ms"),
            ("throughput>10Gbit/s", "throughput > 10.0 Gbit/s"),
            ("boot < 5s", "boot < 5.00 s"),
            ("cpu-time<0.5", "cpu-time < 0.500 CPU-s/GB"),
        ] {
            assert_eq!(text.parse::<Requirement>().expect(text).to_string(), phrase);
        }
    }

    #[test]
    fn rejects_invalid_requirements_with_an_example() {
        for (text, named) in [
            ("p99", "p99<50us"),
            ("p98<5us", "p99.9"),
            ("p99>50us", "p99<50us"),
            ("throughput<1Gbit/s", "throughput>10Gbit/s"),
            ("boot<soon", "boot<5s"),
            ("cpu-time<-1", "cpu-time<0.5"),
        ] {
            let refused = text.parse::<Requirement>().expect_err(text).to_string();
            assert!(refused.contains(named), "{text}: {refused}");
        }
    }

    #[test]
    fn interval_across_the_bound_is_undecided() {
        let least: Requirement = "throughput>10Gbit/s".parse().expect("a bound");
        let between = |low, high| Ends { low: Some(low), high: Some(high) };
        assert_eq!(least.judge(between(10.5e9, 12e9)), Compliance::Met);
        assert_eq!(least.judge(between(9.5e9, 12e9)), Compliance::Unclear);
        assert_eq!(least.judge(between(8e9, 9.5e9)), Compliance::Missed);
        assert_eq!(least.judge(Ends::exact(12e9).widened()), Compliance::Unclear);
        assert_eq!(least.judge(Ends::exact(13e9).widened()), Compliance::Met);
        let most: Requirement = "p50<50us".parse().expect("a bound");
        assert_eq!(most.judge(between(48e3, 51e3)), Compliance::Unclear);
        assert_eq!(most.judge(Ends::exact(50e3)), Compliance::Missed);
        assert_eq!(most.judge(Ends { low: Some(20e3), high: None }), Compliance::Unclear, "too few messages");
        assert_eq!(most.judge(Ends { low: Some(60e3), high: None }), Compliance::Missed);
    }
}
