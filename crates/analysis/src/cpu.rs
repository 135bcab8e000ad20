//! What a cell cost in CPU time, system-wide and by end: the median over its trials of each figure.

use findings::CpuCost;
use samples::{CpuUsage, MachineCpu};
use stats::describe;
use units::Nanos;
use workload::{ConnectData, Flow, Measurement, PingPongData};

use crate::measured::Measured;

const GIGABYTE: f64 = 1e9;
const MILLION: f64 = 1e6;

/// CPU time of a cell's trials; `None` when nobody recorded the machine's.
pub(crate) fn cost(cell: &Measured<'_>) -> Option<CpuCost> {
    let known = cell.trials().filter(|trial| trial.cpu.machine.elapsed.0 > 0);
    let trials: Vec<CpuCost> = known.map(|trial| of_one(&trial.measurement, &trial.cpu)).collect();
    let median = |figure: fn(&CpuCost) -> Option<f64>| {
        describe::median(&trials.iter().filter_map(figure).collect::<Vec<_>>())
    };
    Some(CpuCost {
        cpus: trials.iter().map(|cost| cost.cpus).max()?,
        busy: median(|cost| Some(cost.busy)).unwrap_or(0.0),
        user: median(|cost| Some(cost.user)).unwrap_or(0.0),
        system: median(|cost| Some(cost.system)).unwrap_or(0.0),
        interrupts: median(|cost| Some(cost.interrupts)).unwrap_or(0.0),
        steal: median(|cost| Some(cost.steal)).unwrap_or(0.0),
        client: median(|cost| Some(cost.client)).unwrap_or(0.0),
        server: median(|cost| Some(cost.server)).unwrap_or(0.0),
        per_gigabyte: median(|cost| cost.per_gigabyte),
        per_million_messages: median(|cost| cost.per_million_messages),
        per_million_connections: median(|cost| cost.per_million_connections),
    })
}

/// CPU time of one trial.
pub(crate) fn of_one(measurement: &Measurement, usage: &CpuUsage) -> CpuCost {
    let machine = |part: Nanos| share(part, usage.machine.elapsed).unwrap_or(0.0);
    let cpu = &usage.machine;
    let busy = share(cpu.busy(), cpu.elapsed);
    let mut cost = CpuCost {
        cpus: cpu.cpus,
        busy: busy.unwrap_or(0.0),
        user: machine(cpu.user),
        system: machine(cpu.system),
        interrupts: machine(cpu.irq + cpu.softirq),
        steal: machine(cpu.steal),
        client: threads(usage, "client"),
        server: threads(usage, "server"),
        ..CpuCost::default()
    };
    match measurement {
        Measurement::Stream(data) => cost.per_gigabyte = per_gigabyte(&data.flows, cpu),
        Measurement::PingPong(data) => cost.per_million_messages = per_message(data, busy),
        Measurement::Connect(data) => cost.per_million_connections = per_connection(data, busy),
        Measurement::Reported(_) => {}
    }
    cost
}

/// CPUs of the machine that were busy; `None` when nobody recorded it.
pub(crate) fn machine(usage: &CpuUsage) -> Option<f64> {
    share(usage.machine.busy(), usage.machine.elapsed)
}

/// How many CPUs were busy on average.
fn share(busy: Nanos, elapsed: Nanos) -> Option<f64> {
    (elapsed.0 > 0).then(|| busy.seconds() / elapsed.seconds())
}

/// CPUs that the traffic threads of an end used.
pub(crate) fn threads(usage: &CpuUsage, end: &str) -> f64 {
    let of_end = usage.threads.iter().filter(|thread| thread.end == end);
    of_end.filter_map(|thread| share(thread.busy, thread.elapsed)).sum()
}

/// The CPU counters span the warm-up, so its bytes count as well.
fn per_gigabyte(flows: &[Flow], cpu: &MachineCpu) -> Option<f64> {
    let bytes: f64 = flows.iter().flat_map(|flow| &flow.receiver.intervals).map(|it| it.bytes.0 as f64).sum();
    (bytes > 0.0 && cpu.elapsed.0 > 0).then(|| cpu.busy().seconds() / bytes * GIGABYTE)
}

/// The histogram leaves the warm-up out, so the CPU time is taken as a rate. Beside a stream it is mostly that one's.
fn per_message(data: &PingPongData, busy: Option<f64>) -> Option<f64> {
    let count = data.round_trips.count();
    (count > 0 && data.under.is_none())
        .then(|| busy.map(|busy| busy * data.elapsed.seconds() / count as f64 * MILLION))?
}

fn per_connection(data: &ConnectData, busy: Option<f64>) -> Option<f64> {
    data.rate().and_then(|rate| busy.map(|busy| busy / rate * MILLION))
}
