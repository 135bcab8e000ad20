//! Numbers with their uncertainty.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use units::{Confidence, significant};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// Actual confidence level, from 0 to 1. With few trials, it is lower than requested.
    pub confidence: f64,
}

/// The data that an interval is based on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Trials. Includes variation between them.
    #[default]
    Trials,
    /// Intervals within a single trial. Excludes variation between trials.
    Intervals,
}

/// A value estimated from trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The value from the workload's fit, so that values, ratios and differences of a run are consistent. 0 if
    /// no data arrived.
    pub estimate: f64,
    /// Mean over the trials in which data arrived.
    pub mean: f64,
    /// Sample standard deviation (n - 1) over the same trials. `None` for a single trial.
    pub deviation: Option<f64>,
    /// `None` if there are too few trials.
    pub interval: Option<Interval>,
    /// Number of trials, including outages.
    pub trials: u32,
    /// Number of trials in which no data arrived. `estimate` excludes these trials.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outages: u32,
    #[serde(default)]
    pub basis: Basis,
}

impl Estimate {
    /// Coefficient of variation. `None` for a single trial or a mean of zero.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        self.deviation.filter(|_| self.mean != 0.0).map(|deviation| deviation / self.mean)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// Significantly lower.
    Lower,
    /// Significantly higher.
    Higher,
    /// Within the noise floor.
    None,
    /// The interval is too wide, or there are too few trials.
    Unclear,
}

/// A comparison of two results within blocks, or of two single trials by their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Ratio of the two values. 0.9 means 10 % less.
    pub ratio: f64,
    pub ratio_interval: Option<Interval>,
    /// Difference of the two values, in the metric's unit.
    pub difference: f64,
    pub difference_interval: Option<Interval>,
    pub verdict: Difference,
    #[serde(default)]
    pub basis: Basis,
}

/// Minimum number of trials for a significant difference.
pub const FEWEST_TO_ESTABLISH: u32 = 5;

pub const SEVERAL: f64 = 2.0;

/// Formats a ratio as `−19.4 %` or `+8.1 %`, or as `2.31x` if it is large.
#[must_use]
pub fn change(ratio: f64) -> String {
    if ratio < SEVERAL { format!("{} %", percent(ratio)) } else { format!("{}x", significant(ratio, 3)) }
}

fn percent(ratio: f64) -> String {
    let tenths = ((ratio - 1.0) * 1000.0).round();
    format!("{}{:.1}", if tenths < 0.0 { '−' } else { '+' }, tenths.abs() / 10.0)
}

impl Comparison {
    #[must_use]
    pub fn bound(&self) -> Option<f64> {
        self.ratio_interval.map(|it| (it.high - 1.0).max(1.0 - it.low))
    }

    /// Returns the ratio of the larger value to the smaller one.
    #[must_use]
    pub fn times(&self) -> (f64, Option<Interval>) {
        if self.ratio >= 1.0 {
            return (self.ratio, self.ratio_interval);
        }
        let inverse = |it: Interval| Interval { low: it.high.recip(), high: it.low.recip(), ..it };
        (self.ratio.recip(), self.ratio_interval.map(inverse))
    }
}

/// Formats e.g. `−68.8 % (−72.0 to −64.9, 94 %)`.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = |value: f64| if self.ratio < SEVERAL { percent(value) } else { significant(value, 3) };
        write!(f, "{} ", change(self.ratio))?;
        match self.ratio_interval {
            Some(Interval { low, high, confidence }) => {
                write!(f, "({} to {}, {})", digits(low), digits(high), Confidence(confidence))
            }
            None => write!(f, "(too few trials for an interval)"),
        }
    }
}

/// Difference between repetitions of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NoiseFloor {
    pub workload: String,
    /// Identifier of the baseline.
    pub result: String,
    /// Differences smaller than this do not count (0.03 is 3 %).
    pub floor: f64,
    /// Ratio between repetitions of the baseline.
    pub ratio: f64,
    /// Number of pairs of trials.
    pub pairs: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratio_has_confidence_of_its_interval() {
        let comparison = Comparison {
            ratio: 0.3123,
            ratio_interval: Some(Interval { low: 0.28, high: 0.351, confidence: 0.9375 }),
            difference: -1.0,
            difference_interval: None,
            verdict: Difference::Lower,
            basis: Basis::Trials,
        };
        assert_eq!(comparison.to_string(), "−68.8 % (−72.0 to −64.9, 94 %)");
        assert_eq!(comparison.loss().to_string(), "68.8 % (64.9 to 72.0, 94 %)");
        let (times, interval) = comparison.times();
        assert_eq!(
            [times, interval.unwrap().low, interval.unwrap().high].map(|it| significant(it, 3)),
            ["3.20", "2.85", "3.57"]
        );
        let several = Comparison { ratio: 2.31, ratio_interval: None, ..comparison };
        assert_eq!(several.to_string(), "2.31x (too few trials for an interval)");
    }
}
