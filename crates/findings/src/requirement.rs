//! Requirements for a configuration, e.g. `p99<50us`.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::Serialize;
use units::{BitRate, Bytes, Nanos, significant};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Requirement {
    pub quantity: RequiredQuantity,
    /// The limit in nanoseconds, bits per second, bytes, or CPU-seconds per GB.
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RequiredQuantity {
    Percentile(f64),
    Throughput,
    CpuTime,
    /// Time from the start of a virtual machine until its agent responds.
    Boot,
    Memory,
}

const WORDS: [(&str, RequiredQuantity); 11] = [
    ("p25", RequiredQuantity::Percentile(0.25)),
    ("p50", RequiredQuantity::Percentile(0.5)),
    ("median", RequiredQuantity::Percentile(0.5)),
    ("p75", RequiredQuantity::Percentile(0.75)),
    ("p90", RequiredQuantity::Percentile(0.9)),
    ("p99", RequiredQuantity::Percentile(0.99)),
    ("p99.9", RequiredQuantity::Percentile(0.999)),
    ("throughput", RequiredQuantity::Throughput),
    ("cpu-time", RequiredQuantity::CpuTime),
    ("boot", RequiredQuantity::Boot),
    ("memory", RequiredQuantity::Memory),
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

impl Requirement {
    #[must_use]
    pub fn is_met_by(&self, value: f64) -> bool {
        if self.quantity.more_is_better() { value > self.limit } else { value < self.limit }
    }
}

impl RequiredQuantity {
    #[must_use]
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Throughput)
    }

    #[must_use]
    pub fn word(self) -> &'static str {
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

    #[must_use]
    pub fn phrase(self, value: f64) -> String {
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
}
