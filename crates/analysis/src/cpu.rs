//! What a cell cost in CPU time, system-wide and by end: the median over its trials of each figure.

use findings::CpuCost;
use samples::{MachineCpu, Trial};
use stats::describe;
use units::Nanos;

use crate::{latency::ping_pong, measured::Measured, stream::flows};

const GIGABYTE: f64 = 1e9;
const MILLION: f64 = 1e6;

/// CPU time of a cell's trials.
pub(crate) fn cost(cell: &Measured<'_>) -> CpuCost {
    let machine = |part: fn(&MachineCpu) -> Nanos| {
        median(cell, |trial| share(part(&trial.cpu.machine), trial.cpu.machine.elapsed)).unwrap_or(0.0)
    };
    CpuCost {
        cpus: cell.trials().map(|trial| trial.cpu.machine.cpus).max().unwrap_or(0),
        busy: machine(MachineCpu::busy),
        user: machine(|cpu| cpu.user),
        system: machine(|cpu| cpu.system),
        interrupts: machine(|cpu| cpu.irq + cpu.softirq),
        steal: machine(|cpu| cpu.steal),
        client: median(cell, |trial| threads(trial, "client")).unwrap_or(0.0),
        server: median(cell, |trial| threads(trial, "server")).unwrap_or(0.0),
        per_gigabyte: median(cell, per_gigabyte),
        per_million_messages: median(cell, per_million_messages),
    }
}

fn median(cell: &Measured<'_>, figure: impl Fn(&Trial) -> Option<f64>) -> Option<f64> {
    describe::median(&cell.trials().filter_map(figure).collect::<Vec<_>>())
}

/// How many CPUs were busy on average.
fn share(busy: Nanos, elapsed: Nanos) -> Option<f64> {
    (elapsed.0 > 0).then(|| busy.seconds() / elapsed.seconds())
}

fn threads(trial: &Trial, end: &str) -> Option<f64> {
    let of_end = trial.cpu.threads.iter().filter(|thread| thread.end == end);
    Some(of_end.filter_map(|thread| share(thread.busy, thread.elapsed)).sum())
}

/// The CPU counters span the warm-up, so its bytes count as well.
fn per_gigabyte(trial: &Trial) -> Option<f64> {
    let bytes: f64 =
        flows(trial).iter().flat_map(|flow| &flow.receiver.intervals).map(|it| it.bytes.0 as f64).sum();
    (bytes > 0.0).then(|| trial.cpu.machine.busy().seconds() / bytes * GIGABYTE)
}

/// The histogram leaves the warm-up out, so the CPU time is taken as a rate.
fn per_million_messages(trial: &Trial) -> Option<f64> {
    let data = ping_pong(trial)?;
    let busy = share(trial.cpu.machine.busy(), trial.cpu.machine.elapsed)?;
    let count = data.round_trips.count();
    (count > 0).then(|| busy * data.elapsed.seconds() / count as f64 * MILLION)
}
