//! Why a trial's numbers may deserve no trust, as far as the trial alone shows it.
//! Must not know other trials: what they show together is for the analysis.

use samples::{CpuUsage, Doubt, ThreadCpu, ThreadRole};
use units::{BitRate, Bytes, Nanos};
use workload::{
    EndSeries, Flow, Measurement, OpenLoopData, PingPongData, PingPongSettings, Schedule, StreamData,
    StreamSettings, Until, WorkloadSettings,
};

/// A thread this busy may itself be the limit.
const AT_ITS_LIMIT: f64 = 0.97;
/// A hypervisor that takes this share of the machine's time away disturbs a measurement.
const STOLEN: f64 = 0.02;
/// A measured time that differs by more than this share from what was asked is doubtful.
const TOLERANCE: f64 = 0.1;
/// A sender that stays below its rate by more than this share did not keep it: a schedule catches up with a stall.
const KEPT: f64 = 0.97;
/// From this share of messages lost on, the 99 % of those that came back are not the 99 % of all.
const LOSSY: f64 = 0.01;
/// The share of what an open loop's slowest messages show that may be its generator's own lateness.
const OWN_LATENESS: f64 = 0.5;

/// What is doubtful about a trial. An end that told nothing (its intervals are empty) gives no cause.
#[must_use]
pub fn doubts(load: &WorkloadSettings, measurement: &Measurement, cpu: &CpuUsage) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    match (load, measurement) {
        (WorkloadSettings::Stream(asked), Measurement::Stream(data)) => {
            doubts.extend(of_stream(asked, data, cpu));
        }
        (WorkloadSettings::PingPong(asked), Measurement::PingPong(data)) => {
            doubts.extend(of_ping_pong(asked, data));
        }
        _ => {}
    }
    doubts.extend(stolen(cpu));
    doubts.extend(other_duration(load, measurement));
    doubts
}

/// Whether a trial says nothing of its cell: a thread did not run for most of it, or nothing arrived.
pub(crate) fn is_void(load: &WorkloadSettings, measurement: &Measurement) -> bool {
    let nothing = match measurement {
        Measurement::Stream(stream) => stream.flows.iter().any(|flow| flow.receiver.bytes() == Bytes(0)),
        Measurement::PingPong(ping) => ping.round_trips.count() == 0,
        Measurement::Connect(connect) => connect.exchanges.count() == 0,
        Measurement::Reported(data) => data.values.is_empty(),
    };
    let short = |(asked, measured): (Nanos, Nanos)| measured.0 < asked.0 / 2;
    nothing || durations(load, measurement).is_some_and(short)
}

fn of_stream(asked: &StreamSettings, data: &StreamData, cpu: &CpuUsage) -> Vec<Doubt> {
    let slow = asked.rate.and_then(|rate| rate_not_kept(rate, &data.flows));
    let mut doubts = Vec::new();
    // A sender that kept its rate was no limit, however busy it was with keeping it.
    if asked.rate.is_none() || slow.is_some() {
        doubts
            .extend(busiest(cpu, ThreadRole::Send).map(|(end, busy)| Doubt::GeneratorLimited { end, busy }));
        doubts.extend(
            busiest(cpu, ThreadRole::Receive).map(|(end, busy)| Doubt::ReceiverLimited { end, busy }),
        );
    }
    doubts.extend(slow);
    if asked.transport == workload::Transport::Tcp {
        doubts.extend(ends_disagree(&data.flows));
    }
    doubts.extend(stray_datagrams(&data.flows));
    doubts
}

/// Threads that spin are always busy, and a stream beside them is meant to take what it can: neither is a limit.
fn of_ping_pong(asked: &PingPongSettings, data: &PingPongData) -> Vec<Doubt> {
    let late = match (asked.schedule, &data.open_loop) {
        (Schedule::Open { period }, Some(open)) => late_generator(period, open),
        _ => None,
    };
    let rate = asked.under.and_then(|under| under.rate);
    let beside = data.under.as_ref().zip(rate).and_then(|(under, rate)| rate_not_kept(rate, &under.flows));
    late.into_iter().chain(beside).chain(lossy(data)).chain(stray_answers(data)).collect()
}

fn stray_answers(data: &PingPongData) -> Option<Doubt> {
    let strays = data.strays.filter(|strays| *strays > 0)?;
    let of = strays.saturating_add(data.duplicates.unwrap_or(0)).saturating_add(data.round_trips.count());
    Some(Doubt::Strays { strays, of })
}

fn stray_datagrams(flows: &[Flow]) -> Option<Doubt> {
    let received = flows.iter().filter_map(|flow| flow.receiver.datagrams());
    let all = received.reduce(|one, other| one.and(&other)).filter(|all| all.strays > 0)?;
    let of = all.count.saturating_add(all.duplicates).saturating_add(all.strays);
    Some(Doubt::Strays { strays: all.strays, of })
}

fn lossy(data: &PingPongData) -> Option<Doubt> {
    let lost = data.lost?;
    let of = lost.saturating_add(data.round_trips.count());
    (of > 0 && lost as f64 >= of as f64 * LOSSY).then_some(Doubt::Lossy { lost, of })
}

fn rate_not_kept(asked: BitRate, flows: &[Flow]) -> Option<Doubt> {
    let known = || flows.iter().map(|flow| &flow.sender).filter(|sender| sender.elapsed().0 > 0);
    let got = known().map(EndSeries::rate).min_by(|one, other| one.0.total_cmp(&other.0))?;
    let skipped = known().any(|sender| sender.skipped > Some(Nanos(0)));
    (skipped || got.0 < asked.0 * KEPT).then_some(Doubt::RateNotKept { asked, got })
}

fn late_generator(period: Nanos, open: &OpenLoopData) -> Option<Doubt> {
    let (lateness, tail) = (open.lateness.quantile(0.99)?, open.since_intended.quantile(0.99)?);
    let late = lateness > period || lateness.0 as f64 > tail.0 as f64 * OWN_LATENESS;
    late.then_some(Doubt::LateGenerator { lateness, period, tail })
}

fn busiest(cpu: &CpuUsage, role: ThreadRole) -> Option<(String, f64)> {
    let share = |thread: &ThreadCpu| thread.busy.0 as f64 / thread.elapsed.0.max(1) as f64;
    cpu.threads
        .iter()
        .filter(|thread| thread.role == role)
        .map(|thread| (thread.end.clone(), share(thread)))
        .filter(|(_, busy)| *busy >= AT_ITS_LIMIT)
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

fn stolen(cpu: &CpuUsage) -> Option<Doubt> {
    let possible = cpu.machine.elapsed.0 as f64 * f64::from(cpu.machine.cpus);
    let share = cpu.machine.steal.0 as f64 / possible.max(1.0);
    (share >= STOLEN).then_some(Doubt::Stolen { share })
}

fn other_duration(load: &WorkloadSettings, measurement: &Measurement) -> Option<Doubt> {
    let (asked, measured) = durations(load, measurement)?;
    let off = measured.0.abs_diff(asked.0) as f64 / asked.0.max(1) as f64;
    (off > TOLERANCE).then_some(Doubt::OtherDuration { asked, measured })
}

/// What was asked, and what was measured at the end where it differs most; `None` where bytes were asked.
fn durations(load: &WorkloadSettings, measurement: &Measurement) -> Option<(Nanos, Nanos)> {
    let asked = match load {
        WorkloadSettings::Stream(stream) => match stream.until {
            Until::Elapsed(time) => time,
            Until::Sent(_) => return None,
        },
        WorkloadSettings::PingPong(ping) => ping.duration,
        WorkloadSettings::Connect(connect) => connect.duration,
    };
    let measured = match measurement {
        Measurement::Stream(stream) => {
            let ends = stream.flows.iter().flat_map(|flow| [&flow.sender, &flow.receiver]);
            let known = ends.filter(|end| !end.intervals.is_empty()).map(EndSeries::elapsed);
            known.max_by_key(|measured| measured.0.abs_diff(asked.0))?
        }
        Measurement::PingPong(ping) => ping.elapsed,
        Measurement::Connect(connect) => connect.elapsed,
        Measurement::Reported(_) => return None,
    };
    Some((asked, measured))
}

/// TCP's receivers read to the end of the stream, so whatever was sent must have been received.
fn ends_disagree(flows: &[Flow]) -> Option<Doubt> {
    let all = |series: &EndSeries| series.intervals.iter().map(|interval| interval.bytes).sum::<Bytes>();
    let told = |flow: &&Flow| !flow.sender.intervals.is_empty() && !flow.receiver.intervals.is_empty();
    let sent: Bytes = flows.iter().filter(told).map(|flow| all(&flow.sender)).sum();
    let received: Bytes = flows.iter().filter(told).map(|flow| all(&flow.receiver)).sum();
    (sent != received).then_some(Doubt::EndsDisagree { sent, received })
}

#[cfg(test)]
mod tests;
