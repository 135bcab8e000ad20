//! A result's probe data, from its probed trials.

mod calls;
mod cost;
mod cpu_attribution;
mod failures;
mod latency_breakdown;
mod steps;
mod volume;

use findings::{ProbedSummary, RunProbes};
use samples::{Overflow, ProbeResults, RunRecord, SyscallCount, Trial};

use crate::{observations::Observations, syscalls};

type ProbedTrial<'a> = (&'a Trial, &'a ProbeResults);

pub(crate) use steps::is_tunnel;

pub(crate) fn summary(result: &Observations<'_>, syscalls: &[SyscallCount]) -> Option<ProbedSummary> {
    let watched = watched(result);
    (!watched.is_empty()).then(|| ProbedSummary {
        trials: u32::try_from(watched.len()).unwrap_or(u32::MAX),
        cpu: cpu_attribution::by_owner(&watched),
        calls: calls::rates(result.probes, &watched, syscalls),
        under_way: syscalls::under_way(watched.iter().flat_map(|(_, seen)| &seen.under_way)),
        latency_breakdown: latency_breakdown::together(result, &watched),
        overflowed: overflowed(&watched),
    })
}

pub(crate) fn of_run(record: &RunRecord, measured: &[Observations<'_>]) -> RunProbes {
    RunProbes {
        used: failures::used(record, &record.header.probes),
        missing: record.header.missing_probes.clone(),
        failed: failures::during_run(record),
        costs: cost::costs(measured),
    }
}

pub(crate) fn unexplained(result: &Observations<'_>) -> Vec<f64> {
    watched(result).iter().filter_map(|(_, seen)| cpu_attribution::unexplained(seen.cpu.as_ref()?)).collect()
}

pub(crate) fn watched<'a>(result: &Observations<'a>) -> Vec<ProbedTrial<'a>> {
    let trials = result.probed.values().map(|point| point.trial);
    trials.filter_map(|trial| Some((trial, trial.observed.as_ref()?))).collect()
}

fn overflowed(watched: &[ProbedTrial<'_>]) -> Vec<Overflow> {
    let mut sums: Vec<Overflow> = Vec::new();
    for overflow in watched.iter().flat_map(|(_, seen)| &seen.overflowed) {
        match sums.iter_mut().find(|sum| sum.probe == overflow.probe) {
            Some(sum) => sum.events = sum.events.saturating_add(overflow.events),
            None => sums.push(*overflow),
        }
    }
    sums.sort_by_key(|sum| sum.probe);
    sums
}

#[cfg(test)]
mod tests;
