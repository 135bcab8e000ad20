//! Cost of the probes. Compares the probed and the unprobed trial of each block.

use findings::{CpuProbeCost, Interval, ProbeCost};
use samples::Trial;
use stats::ratio;
use workload::Metric;

use crate::{
    compare::{self, CONFIDENCE},
    cpu,
    observations::{self, Observations},
};

pub(super) fn costs(measured: &[Observations<'_>]) -> Vec<ProbeCost> {
    let mut workloads: Vec<&str> = Vec::new();
    for result in measured.iter().filter(|result| !result.probed.is_empty()) {
        if !workloads.contains(&result.record.workload.as_str()) {
            workloads.push(&result.record.workload);
        }
    }
    workloads.into_iter().filter_map(|workload| of_workload(workload, measured)).collect()
}

fn of_workload(workload: &str, measured: &[Observations<'_>]) -> Option<ProbeCost> {
    let results: Vec<&Observations<'_>> =
        measured.iter().filter(|result| result.record.workload == workload).collect();
    let metric = results.first()?.metric;
    // A pair that contains a zero has no ratio.
    let pairs: Vec<(f64, f64)> = results
        .iter()
        .filter(|result| result.metric == metric)
        .flat_map(|result| observations::pairs(&result.points, &result.probed))
        .filter(|(without, with)| *without > 0.0 && *with > 0.0)
        .collect();
    let estimate = ratio::paired_ratio(&pairs, CONFIDENCE)?;
    let worse = |ratio: f64| if less_is_better(metric) { ratio - 1.0 } else { 1.0 - ratio };
    Some(ProbeCost {
        workload: workload.to_owned(),
        metric,
        pairs: u32::try_from(pairs.len()).unwrap_or(u32::MAX),
        ratio: estimate.value,
        cost: worse(estimate.value),
        interval: estimate.interval.map(compare::named).map(|interval| turned(interval, worse)),
        cpu: cpu_cost(&results),
    })
}

fn less_is_better(metric: Metric) -> bool {
    metric.more_is_better() == Some(false)
}

fn turned(interval: Interval, of: impl Fn(f64) -> f64) -> Interval {
    let (one, other) = (of(interval.low), of(interval.high));
    Interval { low: one.min(other), high: one.max(other), ..interval }
}

fn cpu_cost(results: &[&Observations<'_>]) -> Option<CpuProbeCost> {
    let of_result = |result: &&Observations<'_>| -> Vec<(f64, f64)> {
        let both =
            result.points.iter().filter_map(|(block, without)| Some((without, result.probed.get(block)?)));
        both.filter_map(|(without, with)| Some((spent(without.trial)?, spent(with.trial)?))).collect()
    };
    let pairs: Vec<(f64, f64)> = results.iter().flat_map(of_result).collect();
    let estimate = ratio::paired_ratio(&pairs, CONFIDENCE)?;
    let more = |ratio: f64| ratio - 1.0;
    Some(CpuProbeCost {
        cost: more(estimate.value),
        interval: estimate.interval.map(compare::named).map(|interval| turned(interval, more)),
    })
}

fn spent(trial: &Trial) -> Option<f64> {
    let cost = cpu::of_one(&trial.measurement, &trial.cpu);
    let spent = cost.per_work?.seconds;
    (spent > 0.0).then_some(spent)
}
