//! Significance of comparisons and figures, and the resulting limitations.

use findings::{Basis, Comparison, Difference};
use stats::{interval::median_estimate, verdict::is_sure};

use crate::compare::CONFIDENCE;

pub(crate) const LEAST_RATIO: f64 = 1.1;
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Higher,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WeighedDifference {
    pub(crate) side: Side,
    /// Whether the difference is significant. If not, the finding can only be a note.
    pub(crate) sure: bool,
    pub(crate) limitation: Option<&'static str>,
}

const ONE_TRIAL: &str = "This comparison is based on single trials and ignores variation between trials. Repeat \
     the measurement before acting on it.";
const BARE: &str =
    "This comparison is based on single numbers without intervals; their variation is unknown.";
const OPEN: &str = "Not significant: with so few trials or so much noise, two measurements of the same setting \
     could differ by this much.";

pub(crate) fn weigh(comparison: &Comparison) -> Option<WeighedDifference> {
    let ratio = comparison.ratio;
    let side = if ratio < 1.0 { Side::Lower } else { Side::Higher };
    let once = (comparison.basis == Basis::Intervals).then_some(ONE_TRIAL);
    let unsure = |limitation| {
        apart(ratio).then_some(WeighedDifference { side, sure: false, limitation: Some(limitation) })
    };
    match (comparison.verdict, comparison.ratio_interval) {
        (Difference::None, _) => None,
        (Difference::Lower | Difference::Higher, _) => {
            Some(WeighedDifference { side, sure: true, limitation: once })
        }
        (Difference::Unclear, None) => unsure(BARE),
        (Difference::Unclear, Some(interval)) if interval.low <= 1.0 && interval.high >= 1.0 => None,
        (Difference::Unclear, Some(_)) => unsure(once.unwrap_or(OPEN)),
    }
}

fn apart(ratio: f64) -> bool {
    ratio > 0.0 && (ratio >= LEAST_RATIO || ratio <= LEAST_RATIO.recip())
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Above {
    pub(crate) estimate: f64,
    pub(crate) sure: bool,
}

/// Uses the median, because a value may be 0 in some trials.
pub(crate) fn above(values: &[f64], threshold: f64) -> Option<Above> {
    let estimate = median_estimate(values, CONFIDENCE).filter(|estimate| estimate.value >= threshold)?;
    let holds = |interval: stats::Interval| interval.low >= threshold && is_sure(interval.confidence);
    Some(Above { estimate: estimate.value, sure: estimate.interval.is_some_and(holds) })
}

pub(crate) fn of_many(comparisons: usize) -> Option<String> {
    const FEW: usize = 3;
    (comparisons > FEW).then(|| {
        format!(
            "{comparisons} comparisons were tested, each with its own interval, so one may exceed the noise by \
             chance. Trust differences that appear in several comparisons, or repeat the run."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Interval;

    fn comparison(ratio: f64, interval: Option<(f64, f64)>, verdict: Difference, basis: Basis) -> Comparison {
        let ratio_interval = interval.map(|(low, high)| Interval { low, high, confidence: 0.95 });
        Comparison { ratio, ratio_interval, difference: 0.0, difference_interval: None, verdict, basis }
    }

    #[test]
    fn difference_is_significant_only_by_verdict() {
        let (trials, once) = (Basis::Trials, Basis::Intervals);
        for (given, sure) in [
            (comparison(0.5, Some((0.4, 0.6)), Difference::Lower, trials), Some(true)),
            (comparison(0.5, Some((0.4, 0.6)), Difference::Unclear, trials), Some(false)),
            (comparison(0.5, Some((0.4, 1.6)), Difference::Unclear, trials), None),
            (comparison(0.97, Some((0.96, 0.98)), Difference::None, trials), None),
            (comparison(0.5, None, Difference::Unclear, trials), Some(false)),
            (comparison(0.95, None, Difference::Unclear, trials), None),
            (comparison(2.8, Some((2.7, 2.9)), Difference::Higher, once), Some(true)),
            (comparison(1.2, Some((1.15, 1.25)), Difference::Unclear, once), Some(false)),
            (comparison(1.05, Some((1.04, 1.06)), Difference::Unclear, once), None),
        ] {
            assert_eq!(weigh(&given).map(|weighed| weighed.sure), sure, "{given:?}");
        }
    }

    #[test]
    fn figure_is_significant_if_its_interval_exceeds_the_threshold() {
        let of = |values: &[f64]| above(values, 0.5).map(|above| above.sure);
        assert_eq!(of(&[0.6, 0.7, 0.8, 0.6, 0.7]), Some(true));
        assert_eq!(of(&[0.6, 0.7, 0.8, 0.4, 0.7]), Some(false));
        assert_eq!((of(&[0.0, 0.0, 0.0, 0.0, 0.9]), of(&[0.0, 0.9, 0.9, 0.9, 0.9])), (None, Some(false)));
        assert_eq!(
            (of(&[0.6, 0.7, 0.8, 0.7]), of(&[0.6]), of(&[0.4; 9]), of(&[])),
            (Some(false), Some(false), None, None)
        );
    }
}
