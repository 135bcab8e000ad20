//! The round trips of a cell: histograms merged, percentiles never averaged.

use findings::LatencySummary;
use samples::{Arm, LatencyHistogram, Measurement, PingPongData, Trial};
use units::Nanos;

use crate::measured::Measured;

/// The shares at which the distribution is shown.
const SHARES: [f64; 6] = [0.25, 0.5, 0.75, 0.9, 0.99, 0.999];

/// The round trips of all trials of a cell; `None` when there are none.
pub(crate) fn summary(cell: &Measured<'_>) -> Option<LatencySummary> {
    let mut histogram = LatencyHistogram::new();
    cell.trials().filter_map(ping_pong).for_each(|data| histogram.merge(&data.round_trips));
    let elapsed: Nanos = cell.trials().filter_map(ping_pong).map(|data| data.elapsed).sum();
    let count = histogram.count();
    Some(LatencySummary {
        min: histogram.min()?,
        percentiles: SHARES.iter().filter_map(|&share| Some((share, histogram.quantile(share)?))).collect(),
        max: histogram.max()?,
        mean: histogram.mean()?,
        deviation: histogram.standard_deviation()?,
        count,
        rate: if elapsed.0 == 0 { 0.0 } else { count as f64 / elapsed.seconds() },
        lost: lost(cell),
        histogram,
    })
}

/// The round trips of a trial; `None` when it was no ping-pong.
pub(crate) fn ping_pong(trial: &Trial) -> Option<&PingPongData> {
    match &trial.measurement {
        Measurement::PingPong(data) => Some(data),
        Measurement::Stream(_) => None,
    }
}

/// Trials from which nothing came back count too: they are where most was lost.
fn lost(cell: &Measured<'_>) -> u64 {
    let silent = cell.unusable.iter().copied().filter(|trial| trial.arm == Arm::Measure);
    cell.trials().chain(silent).filter_map(ping_pong).fold(0, |sum, data| sum.saturating_add(data.lost))
}
