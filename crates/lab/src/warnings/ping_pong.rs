//! Warnings for ping-pongs.

use samples::ValidityWarning;
use units::Nanos;
use workload::{OpenLoopData, PingPongData, PingPongSettings, Schedule};

use super::rate_not_reached;

/// Above this fraction of lost messages, the 99th percentile of the received messages does not represent all
/// messages.
const LOSSY: f64 = 0.01;
/// The maximum fraction of the tail latency that a late generator may cause.
const OWN_LATENESS: f64 = 0.5;

/// Ignores spinning threads, which are always busy, and a stream that runs at the same time.
pub(super) fn warnings(requested: &PingPongSettings, data: &PingPongData) -> Vec<ValidityWarning> {
    let late = match (requested.schedule, &data.open_loop) {
        (Schedule::Open { period }, Some(open)) => late_generator(period, open),
        _ => None,
    };
    let rate = requested.under.and_then(|under| under.rate);
    let background =
        data.under.as_ref().zip(rate).and_then(|(under, rate)| rate_not_reached(rate, &under.flows));
    late.into_iter().chain(background).chain(lossy(data)).chain(stray_answers(data)).collect()
}

fn stray_answers(data: &PingPongData) -> Option<ValidityWarning> {
    let strays = data.strays.filter(|strays| *strays > 0)?;
    let total = strays.saturating_add(data.duplicates.unwrap_or(0)).saturating_add(data.round_trips.count());
    Some(ValidityWarning::Strays { strays, total })
}

fn lossy(data: &PingPongData) -> Option<ValidityWarning> {
    let lost = data.lost?;
    let total = lost.saturating_add(data.round_trips.count());
    (total > 0 && lost as f64 >= total as f64 * LOSSY).then_some(ValidityWarning::Lossy { lost, total })
}

fn late_generator(period: Nanos, open: &OpenLoopData) -> Option<ValidityWarning> {
    let (lateness, tail) = (open.lateness.quantile(0.99)?, open.since_intended.quantile(0.99)?);
    let late = lateness > period || lateness.0 as f64 > tail.0 as f64 * OWN_LATENESS;
    late.then_some(ValidityWarning::LateGenerator { lateness, period, tail })
}
