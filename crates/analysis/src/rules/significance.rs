//! How far a comparison or a figure can be believed, and what has to be said beside it. Must not know what was
//! compared.

use findings::{Basis, CellSummary, Comparison, Difference};
use stats::verdict::is_sure;

use crate::compare;

/// What is called a difference where no noise floor says it: a tenth.
pub(crate) const LEAST_RATIO: f64 = 1.1;
/// A single steady trial against another establishes what no repetition would undo: a quarter.
const BEYOND_REPETITION: f64 = 1.25;

/// Which side of a comparison is lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    /// The other one.
    Higher,
}

/// A difference that was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeighedDifference {
    pub(crate) side: Side,
    /// Whether it is established; otherwise it may be told as a note only.
    pub(crate) sure: bool,
    /// What has to be said beside it.
    pub(crate) caveat: Option<&'static str>,
}

const ONE_TRIAL: &str = "It rests on the intervals within single trials: what changes from one trial to the next is \
                         not in it. Repeat it before acting on it.";
const SHIFTED: &str =
    "The rate jumped within a single trial, so another trial could give another mean: repeat it.";
const BARE: &str =
    "It rests on single numbers without an interval: nothing says how far they would vary if repeated.";
const NO_FLOOR: &str =
    "There is no noise floor to hold it against: it may be what the same setting differs from itself by.";

/// What a comparison shows; `None` where it shows no difference worth telling, or cannot tell. `swing` is what
/// [`swing`] says of both sides together.
pub(crate) fn weigh(comparison: &Comparison, swing: f64) -> Option<WeighedDifference> {
    let ratio = comparison.ratio;
    let side = if ratio < 1.0 { Side::Lower } else { Side::Higher };
    let once = comparison.basis == Basis::Intervals;
    match (comparison.verdict, comparison.ratio_interval) {
        (Difference::None, _) => None,
        (Difference::Lower | Difference::Higher, _) if !once => {
            Some(WeighedDifference { side, sure: true, caveat: None })
        }
        (_, None) => apart(ratio).then_some(WeighedDifference { side, sure: false, caveat: Some(BARE) }),
        (_, Some(interval)) if interval.low <= 1.0 && interval.high >= 1.0 => None,
        (_, Some(interval)) if once => {
            let beyond = BEYOND_REPETITION * swing;
            let sure = interval.low > beyond || interval.high < beyond.recip();
            let caveat = Some(if swing > 1.0 && !sure { SHIFTED } else { ONE_TRIAL });
            apart(ratio).then_some(WeighedDifference { side, sure, caveat })
        }
        (_, Some(_)) => {
            apart(ratio).then_some(WeighedDifference { side, sure: false, caveat: Some(NO_FLOOR) })
        }
    }
}

/// By how much the rate of these cells jumped within their trials: the highest level over the lowest, multiplied; 1
/// where none did. So far another trial may be off as well.
pub(crate) fn swing<'a>(cells: impl IntoIterator<Item = &'a CellSummary>) -> f64 {
    let of = |cell: &CellSummary| {
        let levels = || cell.shifts.iter().flat_map(|it| [it.shift.before, it.shift.after]);
        let (low, high) = (levels().fold(f64::INFINITY, f64::min), levels().fold(0.0, f64::max));
        if cell.shifts.is_empty() { 1.0 } else { high / low.max(f64::MIN_POSITIVE) }
    };
    cells.into_iter().map(of).product()
}

fn apart(ratio: f64) -> bool {
    ratio > 0.0 && (ratio >= LEAST_RATIO || ratio <= LEAST_RATIO.recip())
}

/// A figure of each trial, held against a threshold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Above {
    /// The median over the trials, at or above the threshold.
    pub(crate) median: f64,
    /// Whether its interval lies above as well.
    pub(crate) sure: bool,
}

/// Whether the median of `values` reaches `threshold`; `None` where it does not, or there are no values.
pub(crate) fn above(values: &[f64], threshold: f64) -> Option<Above> {
    let estimate = compare::estimate(values).filter(|estimate| estimate.median >= threshold)?;
    let holds = |interval: findings::Interval| interval.low >= threshold && is_sure(interval.confidence);
    Some(Above { median: estimate.median, sure: estimate.interval.is_some_and(holds) })
}

/// What has to be said where one claim was picked out of many comparisons; `None` for a few.
pub(crate) fn of_many(comparisons: usize) -> Option<String> {
    const FEW: usize = 3;
    (comparisons > FEW).then(|| {
        format!(
            "{comparisons} comparisons were looked at, and each interval holds for its own alone: among so many one \
             may lie beyond the noise by chance. Believe what shows on several, or repeat it."
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
    fn a_difference_is_sure_only_where_interval_and_floor_or_a_steady_trial_say_so() {
        let (trials, once) = (Basis::Trials, Basis::Intervals);
        for (given, swing, sure) in [
            (comparison(0.5, Some((0.4, 0.6)), Difference::Lower, trials), 1.0, Some(true)),
            (comparison(0.5, Some((0.4, 0.6)), Difference::Unclear, trials), 1.0, Some(false)),
            (comparison(0.5, Some((0.4, 1.6)), Difference::Unclear, trials), 1.0, None),
            (comparison(0.97, Some((0.96, 0.98)), Difference::None, trials), 1.0, None),
            (comparison(0.5, None, Difference::Unclear, trials), 1.0, Some(false)),
            (comparison(0.95, None, Difference::Unclear, trials), 1.0, None),
            (comparison(2.8, Some((2.7, 2.9)), Difference::Unclear, once), 1.0, Some(true)),
            (comparison(2.8, Some((2.7, 2.9)), Difference::Higher, once), 2.5, Some(false)),
            (comparison(1.2, Some((1.15, 1.25)), Difference::Higher, once), 1.0, Some(false)),
            (comparison(1.05, Some((1.04, 1.06)), Difference::Higher, once), 1.0, None),
        ] {
            assert_eq!(weigh(&given, swing).map(|weighed| weighed.sure), sure, "{given:?}");
        }
    }

    #[test]
    fn a_figure_is_sure_when_the_interval_of_its_median_lies_above() {
        let of = |values: &[f64]| above(values, 0.5).map(|above| above.sure);
        assert_eq!(of(&[0.6, 0.7, 0.8, 0.6, 0.7]), Some(true));
        assert_eq!(of(&[0.6, 0.7, 0.8, 0.4, 0.7]), Some(false));
        assert_eq!(
            (of(&[0.6, 0.7, 0.8, 0.7]), of(&[0.6]), of(&[0.4; 9]), of(&[])),
            (Some(false), Some(false), None, None)
        );
    }
}
