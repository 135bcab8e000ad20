//! What a comparison says: pairs of measurements, their ratio with its interval, and the target beside it.
//!
//! It must not know how the measurements were taken or how they are shown.

use std::fmt;

use stats::{Estimate, describe, ratio, verdict::LEAST_CONFIDENCE};

use crate::rounds::Taken;

/// The confidence that intervals are asked for.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Plumb against one peer.
#[derive(Debug)]
pub(crate) struct Comparison {
    /// The bench.
    pub(crate) name: &'static str,
    /// What was done.
    pub(crate) what: &'static str,
    /// The unit of the values.
    pub(crate) unit: &'static str,
    /// Who stands for plumb.
    pub(crate) ours: &'static str,
    /// Against whom.
    pub(crate) peer: &'static str,
    /// The peer's value and ours, a pair a round.
    pub(crate) pairs: Vec<(f64, f64)>,
    /// Ours over the peer's; `None` without pairs.
    pub(crate) ratio: Option<Estimate>,
    /// Where the ratio should be.
    pub(crate) target: Target,
    /// Why the peer has no value, or fewer than there were rounds.
    pub(crate) failure: Option<String>,
}

impl Comparison {
    /// Pairs the values number `which` that both took in the same rounds.
    pub(crate) fn new(
        (name, what, unit): (&'static str, &'static str, &'static str),
        (ours, peer): (&Taken, &Taken),
        which: usize,
        target: Target,
    ) -> Self {
        let rounds = peer.values.iter().zip(&ours.values);
        let pairs: Vec<_> =
            rounds.filter_map(|(peer, ours)| Some((*peer.get(which)?, *ours.get(which)?))).collect();
        let ratio = ratio::paired_ratio(&pairs, CONFIDENCE);
        let failure = peer.failure.clone();
        Self { name, what, unit, ours: ours.name, peer: peer.name, pairs, ratio, target, failure }
    }

    /// Our values, and how they scatter.
    pub(crate) fn our_spread(&self) -> Option<Spread> {
        Spread::of(self.pairs.iter().map(|(_, ours)| *ours))
    }

    /// The peer's values, and how they scatter.
    pub(crate) fn peer_spread(&self) -> Option<Spread> {
        Spread::of(self.pairs.iter().map(|(peer, _)| *peer))
    }

    /// Whether the target is reached, as far as the interval can tell.
    pub(crate) fn verdict(&self) -> Verdict {
        match self.ratio {
            None => Verdict::NotMeasured,
            Some(ratio) => self.target.verdict(&ratio),
        }
    }
}

/// Median, smallest and largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Spread {
    pub(crate) median: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Spread {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        let (least, most) = describe::min_max(&values)?;
        Some(Self { median: describe::median(&values)?, least, most })
    }
}

/// Where a ratio should be, ends included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Target {
    /// The least, if there is one.
    pub(crate) least: Option<f64>,
    /// The most, if there is one.
    pub(crate) most: Option<f64>,
}

impl Target {
    /// From `least` to `most`.
    pub(crate) const fn between(least: f64, most: f64) -> Self {
        Self { least: Some(least), most: Some(most) }
    }

    /// No more than `most`.
    pub(crate) const fn at_most(most: f64) -> Self {
        Self { least: None, most: Some(most) }
    }

    fn verdict(&self, ratio: &Estimate) -> Verdict {
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
            (None, None) => f.write_str("none"),
        }
    }
}

/// What the interval of a ratio says about the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The whole interval reaches it.
    Met,
    /// Nothing of the interval reaches it.
    Missed,
    /// A part of the interval does, or the pairs are too few for an interval that means something: five at
    /// least.
    Unclear,
    /// There is no ratio.
    NotMeasured,
}

impl Verdict {
    /// The verdict in one or two words.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Met => "met",
            Self::Missed => "missed",
            Self::Unclear => "unclear",
            Self::NotMeasured => "not measured",
        }
    }
}

#[cfg(test)]
mod tests {
    use stats::Interval;

    use super::*;

    fn taken(name: &'static str, values: &[f64]) -> Taken {
        Taken { name, values: values.iter().map(|value| vec![*value]).collect(), failure: None }
    }

    fn estimate(low: f64, high: f64) -> Estimate {
        let interval = Some(Interval { low, high, confidence: CONFIDENCE });
        Estimate { value: (low * high).sqrt(), interval }
    }

    #[test]
    fn the_ratio_is_ours_over_the_peers_and_only_rounds_of_both_count() {
        let ours = taken("plumb", &[1.0; 6]);
        let peer = taken("peer", &[4.0; 5]);
        let comparison = Comparison::new(("a", "b", "ms"), (&ours, &peer), 0, Target::at_most(0.5));
        assert_eq!(comparison.pairs.len(), 5);
        assert!((comparison.ratio.unwrap().value - 0.25).abs() < 1e-12);
        assert_eq!(comparison.verdict(), Verdict::Met);
        assert_eq!(comparison.peer_spread(), Some(Spread { median: 4.0, least: 4.0, most: 4.0 }));
    }

    #[test]
    fn a_peer_without_values_has_no_verdict() {
        let comparison = Comparison::new(
            ("a", "b", "ms"),
            (&taken("plumb", &[1.0]), &taken("peer", &[])),
            0,
            Target::at_most(1.0),
        );
        assert_eq!((comparison.verdict(), comparison.our_spread()), (Verdict::NotMeasured, None));
    }

    #[test]
    fn a_few_pairs_prove_nothing_however_clear_they_look() {
        let ours = taken("plumb", &[1.0; 4]);
        let comparison =
            Comparison::new(("a", "b", "ms"), (&ours, &taken("peer", &[4.0; 4])), 0, Target::at_most(0.5));
        assert_eq!(comparison.verdict(), Verdict::Unclear);
    }

    #[test]
    fn a_target_is_met_or_missed_only_by_the_whole_interval() {
        let around_one = Target::between(1.0, 1.1);
        let cases = [
            (Target::at_most(0.1), estimate(0.05, 0.10), Verdict::Met),
            (Target::at_most(0.1), estimate(0.05, 0.11), Verdict::Unclear),
            (Target::at_most(0.1), estimate(0.11, 0.12), Verdict::Missed),
            (around_one, estimate(1.0, 1.1), Verdict::Met),
            (around_one, estimate(0.9, 1.2), Verdict::Unclear),
            (around_one, estimate(0.8, 0.9), Verdict::Missed),
            (around_one, estimate(1.2, 1.3), Verdict::Missed),
            (around_one, Estimate { value: 1.05, interval: None }, Verdict::Unclear),
        ];
        for (target, ratio, expected) in cases {
            assert_eq!(target.verdict(&ratio), expected, "{target}, {ratio:?}");
        }
    }
}
