//! Latency breakdown over all probed trials. Equal steps are merged, and their medians are compared with the round
//! trip.

use findings::{LatencyBreakdown, Leg, StepSummary};
use samples::{HopEvent, HopPoint, MessagePath, Trial};
use stats::describe;
use units::Nanos;
use workload::LatencyHistogram;

use super::{ProbedTrial, steps::Steps};
use crate::{distribution, kind::ping_pong::ping_pong, observations::Observations};

type TracedTrial<'a> = (&'a Trial, &'a MessagePath);

pub(super) fn together(result: &Observations<'_>, watched: &[ProbedTrial<'_>]) -> Option<LatencyBreakdown> {
    let all: Vec<TracedTrial<'_>> =
        watched.iter().filter_map(|(trial, seen)| Some((*trial, seen.latency_breakdown.as_ref()?))).collect();
    let most = most_taken(&all)?;
    let (taken, others): (Vec<TracedTrial<'_>>, Vec<TracedTrial<'_>>) =
        all.iter().partition(|(_, latency_breakdown)| is_same(latency_breakdown, most));
    let followed: Vec<&LatencyHistogram> = taken.iter().map(|(_, it)| &it.round_trip).collect();
    let whole = distribution::of_trials(&followed)?;
    let engine = distribution::merged(taken.iter().filter_map(|(trial, _)| round_trips(trial)));
    let engine = engine.quantile(0.5);
    let reference = engine.or(whole.at(0.5))?;
    let steps = steps(result, &taken, most, reference);
    let sum = steps.iter().map(|step| step.p50).sum();
    Some(LatencyBreakdown {
        every: most.every,
        followed: taken.iter().map(|(_, latency_breakdown)| latency_breakdown.followed).sum(),
        not_followed: taken.iter().map(|(_, latency_breakdown)| latency_breakdown.not_followed).sum::<u64>()
            + others
                .iter()
                .map(|(_, latency_breakdown)| latency_breakdown.followed + latency_breakdown.not_followed)
                .sum::<u64>(),
        round_trip: whole,
        engine,
        sum,
        unexplained: 1.0 - of(sum, reference),
        unexplained_in_trial: unexplained_in_trial(&taken)?,
        steps,
    })
}

fn most_taken<'a>(all: &[TracedTrial<'a>]) -> Option<&'a MessagePath> {
    let followed = |latency_breakdown: &MessagePath| -> u64 {
        all.iter()
            .filter(|(_, other)| is_same(other, latency_breakdown))
            .map(|(_, other)| other.followed)
            .sum()
    };
    let known = all
        .iter()
        .map(|(_, latency_breakdown)| *latency_breakdown)
        .filter(|latency_breakdown| latency_breakdown.followed > 0 && !latency_breakdown.steps.is_empty());
    // `max_by_key` returns the last of several maxima, so reverse the order to get the first.
    known.rev().max_by_key(|latency_breakdown| followed(latency_breakdown))
}

fn is_same(one: &MessagePath, other: &MessagePath) -> bool {
    let points = |latency_breakdown: &MessagePath| -> Vec<(HopPoint, HopPoint)> {
        latency_breakdown.steps.iter().map(|step| (step.from.clone(), step.to.clone())).collect()
    };
    points(one) == points(other)
}

fn round_trips(trial: &Trial) -> Option<&LatencyHistogram> {
    ping_pong(trial).map(|data| &data.round_trips)
}

fn steps(
    result: &Observations<'_>,
    taken: &[TracedTrial<'_>],
    most: &MessagePath,
    whole: Nanos,
) -> Vec<StepSummary> {
    let trials: Vec<&Trial> = taken.iter().map(|(trial, _)| *trial).collect();
    let names = Steps::of(result, &trials, most);
    let mut leg = Leg::There;
    let mut begins = Nanos(0);
    let mut steps = Vec::new();
    for (index, step) in most.steps.iter().enumerate() {
        let times = distribution::merged(
            taken.iter().map(|(_, latency_breakdown)| &latency_breakdown.steps[index].times),
        );
        let (Some(p50), Some(p99)) = (times.quantile(0.5), times.quantile(0.99)) else { continue };
        leg = match step.from.event {
            HopEvent::ServerReceives => Leg::Server,
            HopEvent::ServerSends => Leg::Back,
            _ => leg,
        };
        let (kind, label) = names.named(&step.from, &step.to);
        steps.push(StepSummary {
            from: step.from.clone(),
            to: step.to.clone(),
            leg,
            kind,
            label,
            p50,
            p99,
            share: of(p50, whole),
            start: of(begins, whole),
            by_trial: taken.iter().filter_map(|followed| share_in(followed, index)).collect(),
        });
        begins = begins + p50;
    }
    steps
}

fn unexplained_in_trial(taken: &[TracedTrial<'_>]) -> Option<f64> {
    let rest = |(trial, latency_breakdown): &TracedTrial<'_>| {
        Some(1.0 - of(latency_breakdown.sum_of_medians()?, reference(trial, latency_breakdown)?))
    };
    describe::median(&taken.iter().filter_map(rest).collect::<Vec<_>>())
}

fn reference(trial: &Trial, latency_breakdown: &MessagePath) -> Option<Nanos> {
    round_trips(trial).and_then(|times| times.quantile(0.5)).or(latency_breakdown.round_trip.quantile(0.5))
}

fn share_in((trial, latency_breakdown): &TracedTrial<'_>, index: usize) -> Option<f64> {
    Some(of(latency_breakdown.steps[index].times.quantile(0.5)?, reference(trial, latency_breakdown)?))
}

fn of(part: Nanos, whole: Nanos) -> f64 {
    part.0 as f64 / whole.0.max(1) as f64
}
