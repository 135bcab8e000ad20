//! Sweeps over the number of queues of a device, and their CPU time.

use std::collections::BTreeMap;

use findings::ConsumerUnit;
use samples::WorkloadSource;
use workload::StreamSettings;

use super::prelude::*;

#[derive(Clone, Copy)]
pub(crate) struct Point<'a> {
    pub(crate) queues: u32,
    pub(crate) result: &'a ResultSummary,
    pub(crate) measured: &'a Observations<'a>,
}

impl Point<'_> {
    pub(crate) fn value(&self) -> f64 {
        self.result.value.estimate
    }
}

pub(crate) struct Sweep<'a> {
    pub(crate) factor: &'a str,
    pub(crate) points: Vec<Point<'a>>,
}

impl<'a> Sweep<'a> {
    pub(crate) fn best(&self, wanted: impl Fn(&Point<'a>) -> bool) -> Option<Point<'a>> {
        let points = self.points.iter().filter(|point| wanted(point)).copied();
        points.largest(|one| one.value())
    }

    pub(crate) fn else_equal(&self, one: &Point<'_>, other: &Point<'_>) -> bool {
        let without = |point: &Point<'_>| -> BTreeMap<String, String> {
            let levels = point.result.levels.iter().filter(|(factor, _)| *factor != self.factor);
            levels.map(|(factor, level)| (factor.clone(), level.clone())).collect()
        };
        one.measured.record.sent == other.measured.record.sent && without(one) == without(other)
    }
}

pub(crate) fn sweeps<'a>(context: &Context<'a>) -> Vec<Sweep<'a>> {
    let mut sweeps: Vec<Sweep<'_>> = Vec::new();
    for (result, measured) in
        context.results().filter(|(result, _)| result.metric.more_is_better() == Some(true))
    {
        let Some((factor, queues)) = queues(result, &context.header.queue_factors) else { continue };
        let point = Point { queues, result, measured };
        let own = |sweep: &&mut Sweep<'_>| {
            sweep.factor == factor
                && sweep.points[0].result.path == result.path
                && sweep.points[0].result.workload == result.workload
        };
        match sweeps.iter_mut().find(own) {
            Some(sweep) => sweep.points.push(point),
            None => sweeps.push(Sweep { factor, points: vec![point] }),
        }
    }
    sweeps
}

fn queues<'a>(result: &'a ResultSummary, factors: &[String]) -> Option<(&'a str, u32)> {
    let (factor, level) = result.levels.iter().find(|(factor, _)| factors.contains(factor))?;
    Some((factor, level.trim().parse().ok().filter(|queues| *queues > 0)?))
}

/// Returns the number of busy CPUs of the whole system. If another tool reported CPU time, returns the sum of the
/// machines' utilizations.
pub(crate) fn cpu(result: &ResultSummary) -> Option<f64> {
    let shares = || {
        let shares = result
            .consumers
            .iter()
            .filter(|consumer| consumer.unit == ConsumerUnit::Share)
            .map(|consumer| consumer.value);
        shares.sum::<f64>()
    };
    result.cpu.map(|cpu| cpu.busy).or_else(|| Some(shares())).filter(|cpu| *cpu > 0.0)
}

/// Returns the busiest machine's utilization, from 0 to 1, or `None` if not recorded.
pub(crate) fn busiest(result: &ResultSummary) -> Option<f64> {
    let shares = result
        .consumers
        .iter()
        .filter(|consumer| consumer.unit == ConsumerUnit::Share)
        .map(|consumer| consumer.value);
    let machine = result.cpu.filter(|cpu| cpu.cpus > 0).map(|cpu| cpu.busy / f64::from(cpu.cpus));
    shares.chain(machine).max_by(f64::total_cmp)
}

pub(crate) fn streams(point: &Point<'_>) -> Option<u32> {
    match &point.measured.record.sent {
        WorkloadSource::Load(load) => StreamSettings::of(load).map(|load| load.streams),
        WorkloadSource::Imported(imported) => imported.streams,
    }
}
