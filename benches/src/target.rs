//! The target for a ratio, and whether it is met.

use std::fmt;

use stats::{Estimate, verdict::LEAST_CONFIDENCE};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Target {
    pub(crate) least: Option<f64>,
    pub(crate) most: Option<f64>,
}

impl Target {
    pub(crate) const NONE: Self = Self { least: None, most: None };

    pub(crate) const fn between(least: f64, most: f64) -> Self {
        Self { least: Some(least), most: Some(most) }
    }

    pub(crate) const fn at_least(least: f64) -> Self {
        Self { least: Some(least), most: None }
    }

    pub(crate) const fn at_most(most: f64) -> Self {
        Self { least: None, most: Some(most) }
    }

    pub(crate) fn verdict(&self, ratio: &Estimate) -> Verdict {
        if *self == Self::NONE {
            return Verdict::NoTarget;
        }
        let Some(interval) = ratio.interval.filter(|it| it.confidence >= LEAST_CONFIDENCE) else {
            return Verdict::Unclear;
        };
        let inside = |value: f64| {
            self.least.is_none_or(|least| least <= value) && self.most.is_none_or(|most| value <= most)
        };
        let below = self.least.is_some_and(|least| interval.high < least);
        let above = self.most.is_some_and(|most| interval.low > most);
        if inside(interval.low) && inside(interval.high) {
            Verdict::Met
        } else if below || above {
            Verdict::Missed
        } else {
            Verdict::Unclear
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.least, self.most) {
            (Some(least), Some(most)) => write!(f, "{least:.3} to {most:.3}"),
            (Some(least), None) => write!(f, ">= {least:.3}"),
            (None, Some(most)) => write!(f, "<= {most:.3}"),
            (None, None) => f.write_str("-"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Met,
    Missed,
    /// Only a part of the interval meets the target, or there are fewer than five pairs.
    Unclear,
    NotMeasured,
    NoTarget,
}

impl Verdict {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Unclear => "unclear",
            Self::NotMeasured => "not measured",
            Self::NoTarget => "-",
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;

    #[test]
    fn target_is_met_or_missed_only_by_the_whole_interval() {
        let estimate = |low: f64, high: f64| Estimate {
            value: (low * high).sqrt(),
            interval: Some(Interval { low, high, confidence: 0.95 }),
        };
        let around_one = Target::between(1.0, 1.1);
        let cases = [
            (Target::at_most(0.1), estimate(0.05, 0.10), Verdict::Met),
            (Target::at_most(0.1), estimate(0.05, 0.11), Verdict::Unclear),
            (Target::at_most(0.1), estimate(0.11, 0.12), Verdict::Missed),
            (Target::at_least(3.0), estimate(3.0, 3.1), Verdict::Met),
            (Target::at_least(3.0), estimate(2.8, 2.9), Verdict::Missed),
            (around_one, estimate(1.0, 1.1), Verdict::Met),
            (around_one, estimate(0.9, 1.2), Verdict::Unclear),
            (around_one, estimate(0.8, 0.9), Verdict::Missed),
            (around_one, estimate(1.2, 1.3), Verdict::Missed),
            (around_one, Estimate { value: 1.05, interval: None }, Verdict::Unclear),
            (Target::NONE, estimate(1.0, 1.1), Verdict::NoTarget),
        ];
        for (target, ratio, expected) in cases {
            assert_eq!(target.verdict(&ratio), expected, "{target}, {ratio:?}");
        }
    }
}
