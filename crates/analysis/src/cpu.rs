//! CPU cost of a result, for the whole system and each end, as medians over trials.

use findings::{CpuCost, WorkCost};
use samples::CpuUsage;
use stats::describe;
use units::Nanos;
use workload::Measurement;

use crate::{kind, observations::Observations};

pub(crate) fn cost(result: &Observations<'_>) -> Option<CpuCost> {
    let known = result.trials().filter(|trial| trial.cpu.machine.elapsed.0 > 0);
    let trials: Vec<CpuCost> = known.map(|trial| of_one(&trial.measurement, &trial.cpu)).collect();
    let median = |figure: fn(&CpuCost) -> Option<f64>| {
        describe::median(&trials.iter().filter_map(figure).collect::<Vec<_>>())
    };
    Some(CpuCost {
        cpus: trials.iter().map(|cost| cost.cpus).max()?,
        busy: median(|cost| Some(cost.busy)).unwrap_or(0.0),
        others: median(|cost| Some(cost.others)).unwrap_or(0.0),
        user: median(|cost| Some(cost.user)).unwrap_or(0.0),
        system: median(|cost| Some(cost.system)).unwrap_or(0.0),
        interrupts: median(|cost| Some(cost.interrupts)).unwrap_or(0.0),
        steal: median(|cost| Some(cost.steal)).unwrap_or(0.0),
        client: median(|cost| Some(cost.client)).unwrap_or(0.0),
        server: median(|cost| Some(cost.server)).unwrap_or(0.0),
        per_work: per_work(&trials),
    })
}

pub(crate) fn of_one(measurement: &Measurement, usage: &CpuUsage) -> CpuCost {
    let machine = |part: Nanos| share(part, usage.machine.elapsed).unwrap_or(0.0);
    let cpu = &usage.machine;
    let work = measurement.kind().work();
    let spent = kind::of(measurement).cpu_per_work(usage);
    CpuCost {
        cpus: cpu.cpus,
        busy: usage.own_cpus().unwrap_or(0.0),
        others: usage.other_cpus().unwrap_or(0.0),
        user: machine(cpu.user),
        system: machine(cpu.system),
        interrupts: machine(cpu.irq + cpu.softirq),
        steal: machine(cpu.steal),
        client: threads(usage, "client"),
        server: threads(usage, "server"),
        per_work: work.zip(spent).map(|((work, _), seconds)| WorkCost { work, seconds }),
    }
}

fn per_work(trials: &[CpuCost]) -> Option<WorkCost> {
    let known: Vec<WorkCost> = trials.iter().filter_map(|cost| cost.per_work).collect();
    let seconds = describe::median(&known.iter().map(|cost| cost.seconds).collect::<Vec<_>>())?;
    Some(WorkCost { work: known.first()?.work, seconds })
}

fn share(busy: Nanos, elapsed: Nanos) -> Option<f64> {
    (elapsed.0 > 0).then(|| busy.seconds() / elapsed.seconds())
}

pub(crate) fn threads(usage: &CpuUsage, end: &str) -> f64 {
    let of_end = usage.threads.iter().filter(|thread| thread.end == end);
    // `sum` would return negative zero if the end does not exist.
    of_end.filter_map(|thread| share(thread.busy, thread.elapsed)).fold(0.0, |sum, busy| sum + busy)
}
