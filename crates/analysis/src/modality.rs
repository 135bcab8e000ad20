//! Detects bimodal results.

use std::fmt;

use stats::{TwoLevels, bimodal};
use units::Nanos;
use workload::{LatencyHistogram, StreamSettings, Transport, WorkloadSettings};

use crate::{kind, observations::Observations, series};

const POINTS: u32 = 100;
/// Minimum ratio of the two levels.
const LEAST_RATIO: f64 = 1.1;

/// Minimum average number of datagrams per interval. With fewer, a single datagram visibly changes the rate.
const FEWEST_DATAGRAMS: f64 = 10.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SamplingUnit {
    Trials,
    Intervals,
    RoundTrips,
}

impl fmt::Display for SamplingUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Trials => "trials",
            Self::Intervals => "rates over time",
            Self::RoundTrips => "round trips",
        })
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Modality {
    pub(crate) of: SamplingUnit,
    pub(crate) levels: TwoLevels,
}

pub(crate) fn modality(result: &Observations<'_>) -> Option<Modality> {
    let trials = bimodal(&result.values());
    trials.map(|levels| Modality { of: SamplingUnit::Trials, levels }).or_else(|| within(result))
}

fn within(result: &Observations<'_>) -> Option<Modality> {
    let each = result.trials().filter_map(|trial| {
        let series = series::of_trial(result, trial);
        let is_granular = kind::stream::is_granular(result, &series);
        (!is_granular).then(|| kind::of(&trial.measurement).within(&series))
    });
    let (units, trials): (Vec<SamplingUnit>, Vec<Vec<f64>>) = each.unzip();
    let levels = bimodal::bimodal_within(&trials).and_then(far_apart)?;
    Some(Modality { of: *units.first()?, levels })
}

pub(crate) fn is_granular(load: &WorkloadSettings, length: Nanos, rates: &[f64]) -> bool {
    let Some(stream) = StreamSettings::of(load).filter(|stream| stream.transport == Transport::Udp) else {
        return false;
    };
    let bits = rates.iter().sum::<f64>() / rates.len().max(1) as f64 * length.seconds();
    bits < FEWEST_DATAGRAMS * stream.message.0 as f64 * 8.0
}

pub(crate) fn bimodal(values: &[f64]) -> Option<TwoLevels> {
    bimodal::bimodal(values).and_then(far_apart)
}

fn far_apart(levels: TwoLevels) -> Option<TwoLevels> {
    (levels.high > LEAST_RATIO * levels.low).then_some(levels)
}

/// Returns equally spaced quantiles instead of up to a million round trips.
pub(crate) fn points(times: &LatencyHistogram) -> Vec<f64> {
    if times.count() < u64::from(POINTS) {
        return Vec::new();
    }
    let share = |index: u32| (f64::from(index) + 0.5) / f64::from(POINTS);
    (0..POINTS).filter_map(|index| times.quantile(share(index))).map(|time| time.0 as f64).collect()
}
