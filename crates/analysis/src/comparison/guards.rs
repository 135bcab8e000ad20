//! Guarded metrics, which may get worse while a result's main metric stays the same.

use findings::{BoundedValue, GuardComparison, GuardLimits, GuardedMetric, Verdict};
use samples::{Arm, Trial};
use stats::{Bounds, Level, cluster};
use units::significant;
use workload::{GuardedSample, LatencyHistogram};

use super::outage::{self, SilentTrials};
use crate::{
    compare::CONFIDENCE,
    distribution,
    observations::Observations,
    words::{capital, percent},
};

const TAIL: f64 = 0.99;
/// Maximum ratio between times in equal runs.
const USUAL_RATIO: f64 = 1.1;
/// Maximum difference between fractions in equal runs.
const USUAL_DIFFERENCE: f64 = 0.001;

struct Guard {
    value: f64,
    bounds: Bounds,
    trials: usize,
}

pub(super) fn between(a: &Observations<'_>, b: &Observations<'_>) -> Vec<GuardComparison> {
    let (of_a, of_b) = (trials(a), trials(b));
    let compared = |metric| match metric {
        GuardedMetric::Outage => outages(a, b, [&of_a, &of_b]),
        _ => Some(comparison(metric, &guard(metric, &of_a)?, &guard(metric, &of_b)?)),
    };
    GuardedMetric::ALL.into_iter().filter_map(compared).collect()
}

fn trials<'a>(result: &Observations<'a>) -> Vec<&'a Trial> {
    let silent = result.unusable.iter().copied().filter(|trial| trial.arm == Arm::Measure);
    result.trials().chain(silent).collect()
}

fn guard(metric: GuardedMetric, trials: &[&Trial]) -> Option<Guard> {
    let recorded = trials.iter().flat_map(|trial| trial.measurement.kind().guarded());
    let samples: Vec<GuardedSample<'_>> =
        recorded.filter(|(known, _)| *known == metric).map(|(_, sample)| sample).collect();
    let fractions: Vec<(f64, f64)> = samples.iter().filter_map(fraction).collect();
    let times: Vec<&LatencyHistogram> = samples.iter().filter_map(times).collect();
    of_fractions(&fractions).or_else(|| of_times(&times)).or_else(|| of_reported(&samples))
}

fn fraction(sample: &GuardedSample<'_>) -> Option<(f64, f64)> {
    if let GuardedSample::Fraction(part, whole) = sample { Some((*part, *whole)) } else { None }
}

fn times<'a>(sample: &GuardedSample<'a>) -> Option<&'a LatencyHistogram> {
    if let GuardedSample::Times(times) = sample { Some(times) } else { None }
}

fn of_fractions(fractions: &[(f64, f64)]) -> Option<Guard> {
    let estimate = cluster::fraction(fractions, CONFIDENCE)?;
    Some(Guard { value: estimate.value, bounds: bounds(estimate.interval), trials: fractions.len() })
}

fn of_times(times: &[&LatencyHistogram]) -> Option<Guard> {
    let merged = distribution::merged(times.iter().copied());
    let tail = *distribution::percentiles(&merged, times, &[TAIL]).first()?;
    let end = |time: Option<units::Nanos>| time.map(|time| time.0 as f64);
    let bounds = Bounds { low: end(tail.low), high: end(tail.high), confidence: CONFIDENCE };
    Some(Guard { value: tail.time.0 as f64, bounds, trials: times.len() })
}

fn of_reported(samples: &[GuardedSample<'_>]) -> Option<Guard> {
    let time = |sample: &GuardedSample<'_>| match sample {
        GuardedSample::Time(time) => Some(*time),
        _ => None,
    };
    let reported: Vec<f64> = samples.iter().filter_map(time).collect();
    let estimate = Level::of(&reported)?.estimate(CONFIDENCE)?;
    Some(Guard { value: estimate.value, bounds: bounds(estimate.interval), trials: reported.len() })
}

fn bounds(interval: Option<stats::Interval>) -> Bounds {
    interval.map_or(Bounds { low: None, high: None, confidence: CONFIDENCE }, Bounds::from)
}

fn comparison(metric: GuardedMetric, a: &Guard, b: &Guard) -> GuardComparison {
    let (value, bounds) = change(metric, a, b);
    let change = bounded(value, bounds);
    GuardComparison {
        metric,
        a: bounded(a.value, a.bounds),
        b: bounded(b.value, b.bounds),
        change,
        verdict: verdict(metric, &change, a.trials.min(b.trials) >= outage::ENOUGH),
        summary: summary(metric, a.value, b.value, &change),
    }
}

fn change(metric: GuardedMetric, a: &Guard, b: &Guard) -> (f64, Bounds) {
    if metric.is_fraction() {
        return cluster::difference((a.value, a.bounds), (b.value, b.bounds));
    }
    let log = |it: &Guard| (it.value.max(1.0).ln(), it.bounds.map(|end| end.max(1.0).ln()));
    let (value, bounds) = cluster::difference(log(a), log(b));
    (value.exp(), bounds.map(f64::exp))
}

fn verdict(metric: GuardedMetric, change: &BoundedValue, is_enough: bool) -> Verdict {
    let limit = GuardLimits::default().of(metric);
    let (worse, better) = match metric {
        GuardedMetric::P99 => (USUAL_RATIO, USUAL_RATIO.recip()),
        // Use the gate's limit. The gate relies on this verdict, because the verdict includes silent trials.
        GuardedMetric::Outage => (limit, -limit),
        _ => (USUAL_DIFFERENCE, -USUAL_DIFFERENCE),
    };
    if is_enough && change.low.is_some_and(|low| low > worse) {
        return Verdict::Worse;
    }
    if is_enough && change.high.is_some_and(|high| high < better) {
        return Verdict::Better;
    }
    if change.value <= limit { Verdict::Same } else { Verdict::Unknown }
}

fn bounded(value: f64, bounds: Bounds) -> BoundedValue {
    BoundedValue { value, low: bounds.low, high: bounds.high }
}

fn summary(metric: GuardedMetric, a: f64, b: f64, change: &BoundedValue) -> String {
    let (direction, nearer) = match (b > a, b < a) {
        (true, _) => ("rose", change.low),
        (_, true) => ("fell", change.high),
        _ => return format!("The {} is {} in both runs.", metric.name(), metric.show(a)),
    };
    let size = if metric.is_fraction() { points } else { findings::change };
    let least = match nearer.filter(|_| is_beyond_none(metric, change)) {
        Some(end) => format!(", at least {}", size(end)),
        None => ", which may be chance".to_owned(),
    };
    format!(
        "The {} {direction} from {} to {} ({}{least}).",
        metric.name(),
        metric.show(a),
        metric.show(b),
        size(change.value)
    )
}

fn is_beyond_none(metric: GuardedMetric, change: &BoundedValue) -> bool {
    let none = if metric.is_fraction() { 0.0 } else { 1.0 };
    change.low.is_some_and(|low| low > none) || change.high.is_some_and(|high| high < none)
}

/// `+1.49 percentage points`.
fn points(difference: f64) -> String {
    let sign = if difference < 0.0 { '−' } else { '+' };
    format!("{sign}{} percentage points", significant(difference.abs() * 100.0, 3))
}

/// A silent trial counts as an outage for its whole duration.
fn outages(a: &Observations<'_>, b: &Observations<'_>, trials: [&[&Trial]; 2]) -> Option<GuardComparison> {
    let silent = [SilentTrials::of(a), SilentTrials::of(b)];
    let [of_a, of_b] = [0, 1].map(|run| of_outages(trials[run], silent[run]));
    let mut compared = comparison(GuardedMetric::Outage, &of_a?, &of_b?);
    if let Some((verdict, reason)) = outage::more(&silent[0], &silent[1]) {
        (compared.verdict, compared.summary) = (verdict, reason);
    }
    Some(compared)
}

fn of_outages(trials: &[&Trial], silent: SilentTrials) -> Option<Guard> {
    let mut fractions: Vec<(f64, f64)> = Vec::new();
    for trial in trials {
        let recorded = trial.measurement.kind().guarded();
        let own = recorded.iter().find(|(metric, _)| *metric == GuardedMetric::Outage);
        fractions.extend(own.and_then(|(_, sample)| fraction(sample)));
    }
    if fractions.is_empty() {
        // Without intervals, only whole trials can be silent.
        let of_trial = |at: u64| (f64::from(u8::from(at < silent.silent)), 1.0);
        fractions = (0..silent.trials).map(of_trial).collect();
    }
    of_fractions(&fractions)
}

pub(super) fn beyond(guard: &GuardComparison, limit: f64) -> String {
    let limit = if guard.metric.is_fraction() {
        format!("{} percentage points", significant(limit * 100.0, 3))
    } else {
        percent(limit - 1.0).to_string()
    };
    format!("{} The limit is an increase of {limit}.", capital(&guard.summary))
}
