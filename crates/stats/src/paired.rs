//! Ratios of paired blocks of which some may have been disturbed: one estimator for an effect and for the noise that it is
//! compared with.

use crate::{
    describe,
    distribution::student_quantile,
    interval::{Estimate, Interval},
    ratio::paired_ratio,
};

/// With fewer pairs a disturbed one cannot be told from the others, and the exact interval is taken.
pub const FEWEST_TO_WEIGH: usize = 5;
/// Logarithms are taken to scatter by so much at least (0.1 %): equal values are as the instrument rounded them.
pub const LEAST_SCATTER: f64 = 0.001;

/// The median absolute deviation of normal values, over their standard deviation.
const NORMAL_MAD: f64 = 0.674_489_75;
/// A pair weighs nothing that lies so many standard deviations off, by what pairs of the workload scatter by ...
const CUT_BY_SHARED: f64 = 6.0;
/// ... and by what these scatter by, which few of them know badly.
const CUT_BY_OWN: f64 = 9.0;
/// Degrees of freedom of the pairs' own scatter, as a share of n - 1 (Kafadar 1982).
const OWN_FREEDOM: f64 = 0.7;
/// Those of the scatter of all pairs of a workload, likewise: there are two such comparisons at least.
const SHARED_FREEDOM: f64 = 2.0;
const MOST_STEPS: usize = 50;

/// What the log ratios of a workload's pairs scatter by, each comparison about its own median: the median of all absolute
/// deviations, as a standard deviation of normal values. At least [`LEAST_SCATTER`].
///
/// `None` without two pairs of one comparison, or for a value that is not finite and positive.
pub fn scatter(comparisons: &[Vec<(f64, f64)>]) -> Option<f64> {
    let mut deviations = Vec::new();
    for pairs in comparisons.iter().filter(|pairs| pairs.len() > 1) {
        let logs = logs(pairs)?;
        let (middle, n) = (describe::median(&logs)?, logs.len() as f64);
        // The median of few lies nearer to them than the truth does.
        let wider = (n / (n - 1.0)).sqrt();
        deviations.extend(logs.iter().map(|log| wider * (log - middle).abs()));
    }
    Some((describe::median(&deviations)? / NORMAL_MAD).max(LEAST_SCATTER))
}

/// Ratio second/first of paired positive values (one pair a block), without unit; `shared` is what [`scatter`] says of all
/// pairs of the workload.
///
/// Tukey's biweight of the log ratios with Student's interval (Mosteller & Tukey, Data Analysis and Regression, 1977;
/// Kafadar, Journal of the American Statistical Association 77, 1982): a pair weighs the less the farther off it is, and
/// nothing beyond a cut, so that nearly half of the pairs may be disturbed. Few pairs can lie together by chance, so they are
/// never taken to scatter by less than those of the workload, and the cut is the wider one of both.
///
/// With fewer pairs than [`FEWEST_TO_WEIGH`] it is [`paired_ratio`]. `None` as that, or for a scatter that is not
/// finite and positive.
pub fn ratio(pairs: &[(f64, f64)], shared: f64, confidence: f64) -> Option<Estimate> {
    if !(shared.is_finite() && shared > 0.0) {
        return None;
    }
    if pairs.len() < FEWEST_TO_WEIGH {
        return paired_ratio(pairs, confidence);
    }
    let logs = logs(pairs)?;
    let middle = describe::median(&logs)?;
    let own = lower_median(logs.iter().map(|log| (log - middle).abs())) / NORMAL_MAD;
    let cut = (CUT_BY_SHARED * shared).max(CUT_BY_OWN * own);
    let value = biweight(&logs, middle, cut);
    let freedom = logs.len() as f64 - 1.0;
    let weights: f64 = logs.iter().map(|log| weight(log - value, cut)).sum();
    let half = |share: f64, error: f64| Some(student_quantile(confidence, share * freedom)? * error);
    let by_shared = half(SHARED_FREEDOM, shared / weights.max(1.0).sqrt());
    let by_own = half(OWN_FREEDOM, standard_error(&logs, value, cut));
    let interval = by_shared.zip(by_own).map(|(shared, own)| {
        let half = shared.max(own);
        Interval { low: (value - half).exp(), high: (value + half).exp(), confidence }
    });
    let fits = |x: f64| x.is_finite() && x > 0.0;
    let all = fits(value.exp()) && interval.is_none_or(|it| fits(it.low) && fits(it.high));
    all.then(|| Estimate { value: value.exp(), interval })
}

/// How far from its ratio, as a logarithm, the interval of so many pairs reaches by their own scatter, if that is the workload's
/// and none was disturbed. `None` with fewer than [`FEWEST_TO_WEIGH`], or for a confidence outside (0, 1).
pub fn undisturbed_reach(pairs: usize, shared: f64, confidence: f64) -> Option<f64> {
    let n = (pairs >= FEWEST_TO_WEIGH).then_some(pairs as f64)?;
    Some(student_quantile(confidence, OWN_FREEDOM * (n - 1.0))? * shared / n.sqrt())
}

fn logs(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let fits = |x: f64| x.is_finite() && x > 0.0;
    pairs.iter().map(|(a, b)| (fits(*a) && fits(*b)).then(|| b.ln() - a.ln())).collect()
}

/// The lower one of the middle two: with three of six pairs disturbed, the upper one is a disturbed pair's.
fn lower_median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

/// How far off, as a share of the cut; `None` at the cut and beyond.
fn share(off: f64, cut: f64) -> Option<f64> {
    Some((off / cut).powi(2)).filter(|square| *square < 1.0)
}

fn weight(off: f64, cut: f64) -> f64 {
    share(off, cut).map_or(0.0, |square| (1.0 - square).powi(2))
}

/// The mean by these weights, from the median on until it stays.
fn biweight(logs: &[f64], middle: f64, cut: f64) -> f64 {
    let mut value = middle;
    for _ in 0..MOST_STEPS {
        let weights = logs.iter().map(|log| weight(log - value, cut));
        let (sum, all) = weights
            .zip(logs)
            .fold((0.0, 0.0), |(sum, all), (weight, log)| (sum + weight * log, all + weight));
        // Between two humps that are farther apart than the cut lies none.
        let next = if all > 0.0 { sum / all } else { value };
        if (next - value).abs() <= 1e-12 * cut {
            return next;
        }
        value = next;
    }
    value
}

/// Of the biweight, by its influence function (Mosteller & Tukey 1977).
fn standard_error(logs: &[f64], value: f64, cut: f64) -> f64 {
    let near = logs.iter().filter_map(|log| Some((log - value, share(log - value, cut)?)));
    let (squares, slope) = near.fold((0.0, 0.0), |(squares, slope), (off, square)| {
        let left = 1.0 - square;
        (squares + off.powi(2) * left.powi(4), slope + left * (1.0 - 5.0 * square))
    });
    squares.sqrt() / slope.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(logs: &[f64]) -> Vec<(f64, f64)> {
        logs.iter().map(|log: &f64| (2.0, 2.0 * log.exp())).collect()
    }

    fn judged(logs: &[f64], shared: f64) -> (f64, Interval) {
        let got = ratio(&of(logs), shared, 0.95).expect("pairs of positive values");
        (got.value.ln(), got.interval.expect("there are several"))
    }

    #[test]
    fn two_pairs_of_six_that_were_disturbed_move_it_by_little() {
        let quiet = [-0.1, -0.12, -0.09, -0.11, -0.105, -0.095];
        let (value, interval) = judged(&quiet, 0.02);
        let mut disturbed = quiet;
        (disturbed[1], disturbed[4]) = (-1.2, -1.1);
        let (moved, wider) = judged(&disturbed, 0.02);
        assert!((value - moved).abs() < 0.005, "{value} {moved}");
        assert!(wider.high < 0.95 && wider.low > 0.85, "{wider:?} for {interval:?}");
    }

    #[test]
    fn values_that_lie_together_by_chance_scatter_as_their_workload_does() {
        let (_, interval) = judged(&[0.01; 6], 0.03);
        let half = (interval.high / interval.low).ln() / 2.0;
        assert!((half - 2.228_139 * 0.03 / 6f64.sqrt()).abs() < 1e-6, "{half}");
        assert_eq!(scatter(&[of(&[0.2; 6]), of(&[-0.3; 6])]), Some(LEAST_SCATTER));
    }

    #[test]
    fn a_workload_scatters_as_its_quieter_half_does() {
        let quiet = of(&[0.00, 0.01, -0.01, 0.02, -0.02, 0.0]);
        let mut disturbed = of(&[0.30, 0.31, 0.29, 0.32, 0.28, 0.3]);
        let before = scatter(&[quiet.clone(), disturbed.clone()]).expect("there are pairs");
        disturbed[2].1 /= 3.0;
        let after = scatter(&[quiet, disturbed]).expect("there are pairs");
        assert!(after >= before && after < 2.0 * before, "{before} {after}");
        assert_eq!(
            (scatter(&[vec![(1.0, 1.0)]]), scatter(&[]), scatter(&[vec![(1.0, 0.0); 3]])),
            (None, None, None)
        );
    }

    #[test]
    fn fewer_than_five_pairs_have_the_exact_interval() {
        let pairs = of(&[0.1, 0.2, 0.3, 0.4]);
        assert_eq!(ratio(&pairs, 0.01, 0.95), paired_ratio(&pairs, 0.95));
        assert_eq!((ratio(&pairs, 0.0, 0.95), ratio(&pairs, f64::NAN, 0.95)), (None, None));
    }

    proptest! {
        #[test]
        fn the_value_lies_in_its_interval_and_scales(
            pairs in prop::collection::vec((1e-3..1e6f64, 1e-3..1e6f64), 5..20), shared in 1e-3..1.0f64, k in 0.1..10.0f64,
        ) {
            let got = ratio(&pairs, shared, 0.95).expect("positive values");
            let i = got.interval.expect("five pairs at least");
            prop_assert!(i.low < got.value && got.value < i.high);
            let scaled: Vec<_> = pairs.iter().map(|(a, b)| (*a, b * k)).collect();
            let scaled = ratio(&scaled, shared, 0.95).expect("positive values");
            prop_assert!((scaled.value / got.value / k - 1.0).abs() < 1e-6);
        }

        #[test]
        fn no_input_panics(
            pairs in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..9), shared in prop::num::f64::ANY,
        ) {
            if let Some(i) = ratio(&pairs, shared, 0.95).and_then(|e| e.interval) { prop_assert!(i.low <= i.high); }
            if let Some(scatter) = scatter(&[pairs]) { prop_assert!(scatter >= LEAST_SCATTER); }
        }
    }
}
