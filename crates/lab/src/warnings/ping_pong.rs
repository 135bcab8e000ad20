//! What is doubtful about a ping-pong.

use samples::ValidityWarning;
use units::Nanos;
use workload::{OpenLoopData, PingPongData, PingPongSettings, Schedule};

use super::rate_not_kept;

/// From this share of messages lost on, the 99 % of those that came back are not the 99 % of all.
const LOSSY: f64 = 0.01;
/// The share of what an open loop's slowest messages show that may be its generator's own lateness.
const OWN_LATENESS: f64 = 0.5;

/// Threads that spin are always busy, and a stream beside them is meant to take what it can: neither is a limit.
pub(super) fn warnings(asked: &PingPongSettings, data: &PingPongData) -> Vec<ValidityWarning> {
    let late = match (asked.schedule, &data.open_loop) {
        (Schedule::Open { period }, Some(open)) => late_generator(period, open),
        _ => None,
    };
    let rate = asked.under.and_then(|under| under.rate);
    let beside = data.under.as_ref().zip(rate).and_then(|(under, rate)| rate_not_kept(rate, &under.flows));
    late.into_iter().chain(beside).chain(lossy(data)).chain(stray_answers(data)).collect()
}

fn stray_answers(data: &PingPongData) -> Option<ValidityWarning> {
    let strays = data.strays.filter(|strays| *strays > 0)?;
    let of = strays.saturating_add(data.duplicates.unwrap_or(0)).saturating_add(data.round_trips.count());
    Some(ValidityWarning::Strays { strays, of })
}

fn lossy(data: &PingPongData) -> Option<ValidityWarning> {
    let lost = data.lost?;
    let of = lost.saturating_add(data.round_trips.count());
    (of > 0 && lost as f64 >= of as f64 * LOSSY).then_some(ValidityWarning::Lossy { lost, of })
}

fn late_generator(period: Nanos, open: &OpenLoopData) -> Option<ValidityWarning> {
    let (lateness, tail) = (open.lateness.quantile(0.99)?, open.since_intended.quantile(0.99)?);
    let late = lateness > period || lateness.0 as f64 > tail.0 as f64 * OWN_LATENESS;
    late.then_some(ValidityWarning::LateGenerator { lateness, period, tail })
}
