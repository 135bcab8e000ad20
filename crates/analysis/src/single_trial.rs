//! Estimates single-trial results from the trial's intervals, and compares imported trials, which have no blocks.
//!
//! The intervals of a trial do not show variation between trials (placement, neighbours, order of connections), so a
//! difference must exceed an additional margin. This applies only to imported runs, because plumb can add trials to its
//! own runs.

use findings::{Basis, Comparison, Difference, Estimate};
use stats::{Level, ab, describe, noise, series as series_of};

use crate::{
    compare::{self, CONFIDENCE},
    kind::stream::flows,
    observations::Observations,
    series::{self, Series},
    steadiness,
};

/// Minimum difference between results of a run with too few trials to estimate their noise. Successive trials at the
/// same setting often differ by this much.
pub(crate) const MARGIN: f64 = 0.1;
/// Minimum difference between two runs with too few trials.
pub(crate) const ALLOWANCE: f64 = 0.25;
pub(crate) const FEWEST_IMPORTED: usize = 5;

pub(crate) const FEWEST_OWN: usize = 3;

/// Maximum relative difference between a value and the mean of its intervals.
const SAME: f64 = 0.01;

/// Returns the value of an imported result with a single trial, and an interval from the trial's series. If the level
/// shifts, the interval is wide, and a limitation warns that another trial may spend a different time at each level.
pub(crate) fn estimate(result: &Observations<'_>) -> Option<Estimate> {
    let value = only_value(result).filter(|_| is_imported(result))?;
    let mean = series_of::mean_estimate(&rates(result)?, CONFIDENCE)?;
    // Centre the interval on the value, which includes all data. The series may drop a short last interval.
    let interval = about(mean, value)?;
    Some(Estimate {
        estimate: value,
        mean: value,
        deviation: None,
        interval: Some(compare::named(interval)),
        trials: 1,
        outages: 0,
        basis: Basis::Intervals,
    })
}

/// Compares results with too few trials, and imported results. These are not paired by block.
pub(crate) fn compare(
    this: (&Observations<'_>, &Level),
    that: (&Observations<'_>, &Level),
) -> Option<Comparison> {
    let (ratio, basis) = ratio_of(this, that)?;
    let reference = that.1.estimate(CONFIDENCE)?.value;
    let comparison = Comparison { basis, ..compare::comparison(&ratio, Difference::Unclear, reference) };
    let (this, that) = (this.0, that.0);
    let verdict = match by_scatter(this, that) {
        Some(verdict) => verdict,
        None if is_imported(this) && is_imported(that) && is_known(&comparison) => {
            beyond(MARGIN, this, that, &comparison)
        }
        None => Difference::Unclear,
    };
    Some(Comparison { verdict, ..comparison })
}

/// The difference must exceed this allowance and any level shifts within the trials, because a trial's mean depends
/// on the time spent at each level.
pub(crate) fn beyond(
    allowance: f64,
    this: &Observations<'_>,
    that: &Observations<'_>,
    comparison: &Comparison,
) -> Difference {
    let beyond = (1.0 + allowance) * swing(this) * swing(that);
    match comparison.ratio_interval {
        Some(interval) if interval.high < beyond.recip() => Difference::Lower,
        Some(interval) if interval.low > beyond => Difference::Higher,
        _ => Difference::Unclear,
    }
}

pub(crate) fn is_known(comparison: &Comparison) -> bool {
    comparison.basis == Basis::Intervals
        || comparison.ratio_interval.is_some_and(|it| stats::verdict::is_sure(it.confidence))
}

/// If both results have enough trials, compares them like two runs, because other tools run all trials of a result in
/// a row.
fn by_scatter(this: &Observations<'_>, that: &Observations<'_>) -> Option<Difference> {
    if is_few(this) || is_few(that) {
        return None;
    }
    let judged = ab::judge(&that.values(), &this.values(), noise::USUAL_BETWEEN_RUNS)?;
    Some(compare::converted(judged.difference))
}

pub(crate) fn is_few(result: &Observations<'_>) -> bool {
    result.received().len() < if is_imported(result) { FEWEST_IMPORTED } else { FEWEST_OWN }
}

pub(crate) fn is_imported(result: &Observations<'_>) -> bool {
    result.record.sent.load().is_none()
}

pub(crate) fn jumped(result: &Observations<'_>) -> bool {
    swing(result) > 1.0
}

/// Returns the ratio of the highest to the lowest level, or 1 if there are no level shifts.
fn swing(result: &Observations<'_>) -> f64 {
    let only = result.trials().next().filter(|_| result.points.len() == 1);
    let shifts = only.map(|trial| steadiness::shifts(&series::of_trial(result, trial))).unwrap_or_default();
    let levels = || shifts.iter().flat_map(|shift| [shift.before, shift.after]);
    let (low, high) = (levels().fold(f64::INFINITY, f64::min), levels().fold(0.0, f64::max));
    if shifts.is_empty() { 1.0 } else { high / low.max(f64::MIN_POSITIVE) }
}

fn ratio_of(
    (this, own): (&Observations<'_>, &Level),
    (that, other): (&Observations<'_>, &Level),
) -> Option<(stats::Estimate, Basis)> {
    let trials = own.ratio(other, CONFIDENCE)?;
    if trials.interval.is_some() || !is_imported(this) || !is_imported(that) {
        return Some((trials, Basis::Trials));
    }
    let by_series = || {
        only_value(this).and(only_value(that))?;
        let ratio = series_of::ratio_estimate(&rates(that)?, &rates(this)?, CONFIDENCE)?;
        Some(stats::Estimate { value: trials.value, interval: Some(about(ratio, trials.value)?) })
    };
    Some(by_series().map_or((trials, Basis::Trials), |ratio| (ratio, Basis::Intervals)))
}

fn only_value(result: &Observations<'_>) -> Option<f64> {
    let mut values = result.points.values().map(|point| point.value);
    values.next().filter(|_| values.next().is_none())
}

fn about(estimate: stats::Estimate, value: f64) -> Option<stats::Interval> {
    let by = value / estimate.value;
    let interval = estimate.interval.filter(|_| by.is_finite())?;
    Some(stats::Interval { low: interval.low * by, high: interval.high * by, ..interval })
        .filter(|it| it.low > 0.0)
}

/// Returns `None` if intervals are missing or a sender's datagrams were lost, because the rates then do not represent
/// the trial's value.
fn rates(result: &Observations<'_>) -> Option<Vec<f64>> {
    let trial = result.trials().next()?;
    let Series { of, rates, .. } = series::of_trial(result, trial);
    let lost = flows(trial).iter().any(|flow| flow.receiver.datagrams().is_some_and(|it| it.lost != 0));
    let (mean, value) = (describe::mean(&rates)?, only_value(result)?);
    ((mean - value).abs() <= SAME * value && !(of == "sender" && lost)).then_some(rates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        analyse,
        fixtures::{Fixture, reported_of, stream_at},
    };
    use workload::{Measurement, Quantity};

    fn about(rate: f64) -> Measurement {
        let at = |index: usize| rate * [0.98, 1.0, 1.02, 1.01, 0.99][index * 7 % 5];
        stream_at(&(0..51).map(at).collect::<Vec<_>>())
    }

    fn imported(rates: [f64; 2]) -> findings::Findings {
        let mut run = Fixture::new(1);
        run.path("host-to-vm", &[]);
        run.imported("host-to-vm", "tcp", &[("vhost", "on")], about(rates[0]));
        run.imported("host-to-vm", "tcp", &[("vhost", "off")], about(rates[1]));
        analyse(&run.record)
    }

    #[test]
    fn single_trial_has_interval_from_its_series() {
        let value = imported([27.4e9, 16.2e9]).results[0].value;
        let interval = value.interval.expect("fifty intervals suffice");
        assert_eq!((value.basis, value.trials), (Basis::Intervals, 1));
        assert!((26.9e9..value.estimate).contains(&interval.low), "{value:?}");
        assert!((value.estimate..27.9e9).contains(&interval.high), "{value:?}");
    }

    #[test]
    fn difference_must_exceed_the_margin() {
        for (rates, wanted) in [
            ([27.4e9, 16.2e9], Difference::Lower),
            ([16.2e9, 27.4e9], Difference::Higher),
            ([20e9, 18.5e9], Difference::Unclear),
            ([20e9, 20e9], Difference::Unclear),
        ] {
            let findings = imported(rates);
            let [effect] = findings.effects.as_slice() else { panic!("{:?}", findings.effects) };
            assert_eq!(
                (effect.change.verdict, effect.change.basis),
                (wanted, Basis::Intervals),
                "{effect:?}"
            );
            assert!((effect.change.ratio / (rates[1] / rates[0]) - 1.0).abs() < 1e-3);
            assert_eq!(findings.results[1].against_baseline, Some(effect.change));
        }
    }

    #[test]
    fn level_shift_widens_the_interval() {
        let jump: Vec<f64> = (0..51)
            .map(|at| if at < 26 { 12.6e9 } else { 20e9 } * if at % 2 == 0 { 0.99 } else { 1.01 })
            .collect();
        for (reference, wanted) in [(80e9, Difference::Lower), (30e9, Difference::Unclear)] {
            let mut run = Fixture::new(1);
            run.path("host-to-vm", &[]);
            run.imported("host-to-vm", "tcp", &[("vhost", "on")], about(reference));
            run.imported("host-to-vm", "tcp", &[("vhost", "off")], stream_at(&jump));
            let findings = analyse(&run.record);
            let (value, change) = (findings.results[1].value, findings.effects[0].change);
            let interval = value.interval.expect("fifty intervals");
            assert_eq!(findings.results[1].shifts.len(), 1);
            assert!(interval.low < 14e9 && interval.high > 18.5e9, "{interval:?}");
            assert!(change.ratio_interval.is_some_and(|ratio| ratio.high < 1.0), "{change:?}");
            assert_eq!(change.verdict, wanted, "{change:?}");
        }
    }

    #[test]
    fn single_block_has_no_interval_or_verdict() {
        let mut run = Fixture::new(1);
        run.path("plain", &["wire"]);
        run.stream("plain", &[("offload", "on")], 1e9).stream("plain", &[("offload", "off")], 1e9);
        run.each("plain/bulk/offload=on", |trial| trial.measurement = about(20e9));
        run.each("plain/bulk/offload=off", |trial| trial.measurement = about(4e9));
        let findings = analyse(&run.record);
        let change = findings.effects[0].change;
        assert_eq!((change.verdict, change.basis), (Difference::Unclear, Basis::Trials));
        assert_eq!((change.ratio_interval, findings.results[0].value.interval), (None, None));
        assert!((change.ratio - 0.2).abs() < 0.01, "{change:?}");
    }

    #[test]
    fn compares_table_rows_without_interval() {
        let mut run = Fixture::new(1);
        run.path("bridge", &[]);
        for (queues, rate) in [("1", 12.7e9), ("2", 27.8e9)] {
            let row = reported_of(&[("Bandwidth", Quantity::BitRate, rate)]);
            run.imported("bridge", "table", &[("queues", queues)], row);
        }
        let findings = analyse(&run.record);
        let change = findings.effects[0].change;
        assert!((change.ratio - 27.8 / 12.7).abs() < 1e-9 && change.ratio_interval.is_none(), "{change:?}");
        assert_eq!((change.verdict, findings.results[0].value.interval), (Difference::Unclear, None));
    }
}
