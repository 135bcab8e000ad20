//! Two ends' reports become one measurement, and what both together make doubtful.

use protocol::{EndReport, FlowReport};
use load::{Load, Until};
use samples::{CpuUsage, Doubt, EndSeries, Flow, Measurement, PingPongData, StreamData, ThreadCpu, ThreadRole};
use units::{Bytes, Nanos};

/// A thread this busy may itself be the limit.
const AT_ITS_LIMIT: f64 = 0.97;
/// A hypervisor that takes this share of the machine's time away disturbs a measurement.
const STOLEN: f64 = 0.02;
/// A measured time that differs by more than this share from what was asked is doubtful.
const TOLERANCE: f64 = 0.1;

/// Puts both ends together. Fails when they do not describe the same connections.
pub(crate) fn measurement(client: &EndReport, server: &EndReport) -> Result<Measurement, String> {
    match (&client.ping_pong, &server.ping_pong) {
        (Some(ping), Some(pong)) => {
            let under = if client.flows.is_empty() { None } else { Some(flows(client, server)?) };
            let server = pong.server.clone();
            Ok(Measurement::PingPong(PingPongData { server, under, ..ping.clone() }))
        }
        (None, None) => {
            Ok(match &client.connect {
                Some(connect) => Measurement::Connect(connect.clone()),
                None => Measurement::Stream(flows(client, server)?),
            })
        }
        _ => Err("one end reports a ping-pong and the other a stream".to_owned()),
    }
}

/// CPU time: the machine's as the client saw it, and both ends' threads.
pub(crate) fn cpu(client: &EndReport, server: &EndReport) -> CpuUsage {
    let threads = client.threads.iter().chain(&server.threads).cloned().collect();
    CpuUsage { machine: client.machine, threads }
}

/// What is doubtful about a trial.
pub(crate) fn doubts(load: &Load, measurement: &Measurement, cpu: &CpuUsage) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    doubts.extend(busiest(cpu, ThreadRole::Send).map(|(end, busy)| Doubt::GeneratorLimited { end, busy }));
    doubts.extend(busiest(cpu, ThreadRole::Receive).map(|(end, busy)| Doubt::ReceiverLimited { end, busy }));
    doubts.extend(stolen(cpu));
    doubts.extend(other_duration(load, measurement));
    doubts.extend(ends_disagree(measurement));
    doubts
}

fn flows(client: &EndReport, server: &EndReport) -> Result<StreamData, String> {
    let mut flows =
        client.flows.iter().map(|flow| pair(flow, &server.flows)).collect::<Result<Vec<_>, _>>()?;
    flows.sort_by_key(|flow| (flow.direction, flow.id));
    Ok(StreamData { flows })
}

fn pair(client: &FlowReport, server: &[FlowReport]) -> Result<Flow, String> {
    let (id, direction) = (client.id, client.direction);
    let other = server
        .iter()
        .find(|flow| flow.id == id && flow.direction == direction)
        .ok_or_else(|| format!("the server does not know connection {id} ({direction:?})"))?;
    let (client, server) = (client.series.clone(), other.series.clone());
    let (sender, receiver) =
        if direction == load::Direction::Reverse { (server, client) } else { (client, server) };
    Ok(Flow { id, direction, sender, receiver })
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

fn other_duration(load: &Load, measurement: &Measurement) -> Option<Doubt> {
    let (asked, measured) = durations(load, measurement)?;
    let off = measured.0.abs_diff(asked.0) as f64 / asked.0.max(1) as f64;
    (off > TOLERANCE).then_some(Doubt::OtherDuration { asked, measured })
}

/// Whether a trial says nothing of its cell: a thread did not run for most of it, or nothing arrived.
pub(crate) fn is_void(load: &Load, measurement: &Measurement) -> bool {
    let nothing = match measurement {
        Measurement::Stream(stream) => stream.flows.iter().any(|flow| flow.receiver.bytes() == Bytes(0)),
        Measurement::PingPong(ping) => ping.round_trips.count() == 0,
        Measurement::Connect(connect) => connect.exchanges.count() == 0,
    };
    let short = |(asked, measured): (Nanos, Nanos)| measured.0 < asked.0 / 2;
    nothing || durations(load, measurement).is_some_and(short)
}

/// What was asked, and what was measured at the end where it differs most; `None` where bytes were asked.
fn durations(load: &Load, measurement: &Measurement) -> Option<(Nanos, Nanos)> {
    let asked = match load {
        Load::Stream(stream) => match stream.until {
            Until::Elapsed(time) => time,
            Until::Sent(_) => return None,
        },
        Load::PingPong(ping) => ping.duration,
        Load::Connect(connect) => connect.duration,
    };
    let measured = match measurement {
        Measurement::Stream(stream) => {
            let ends = stream.flows.iter().flat_map(|flow| [flow.sender.elapsed(), flow.receiver.elapsed()]);
            ends.max_by_key(|measured| measured.0.abs_diff(asked.0))?
        }
        Measurement::PingPong(ping) => ping.elapsed,
        Measurement::Connect(connect) => connect.elapsed,
    };
    Some((asked, measured))
}

/// Receivers read to the end of the stream, so whatever was sent must have been received.
fn ends_disagree(measurement: &Measurement) -> Option<Doubt> {
    let Measurement::Stream(stream) = measurement else { return None };
    let all = |series: &EndSeries| series.intervals.iter().map(|interval| interval.bytes).sum::<Bytes>();
    let sent: Bytes = stream.flows.iter().map(|flow| all(&flow.sender)).sum();
    let received: Bytes = stream.flows.iter().map(|flow| all(&flow.receiver)).sum();
    (sent != received).then_some(Doubt::EndsDisagree { sent, received })
}

#[cfg(test)]
mod tests {
    use super::*;
    use load::Direction;
    use samples::{Interval, MachineCpu};

    fn series(bytes: u64) -> EndSeries {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos::from_secs(1),
            bytes: Bytes(bytes),
            warmup: false,
            tcp: None,
            datagrams: None,
        };
        EndSeries { intervals: vec![interval], ..EndSeries::default() }
    }

    fn end(direction: Direction, bytes: u64) -> EndReport {
        let flows = vec![FlowReport { id: 0, direction, series: series(bytes) }];
        EndReport { flows, ping_pong: None, connect: None, threads: Vec::new(), machine: MachineCpu::default() }
    }

    #[test]
    fn in_reverse_the_server_is_the_sender() {
        let merged =
            measurement(&end(Direction::Reverse, 7), &end(Direction::Reverse, 9)).expect("both match");
        let Measurement::Stream(stream) = merged else { panic!("a stream") };
        assert_eq!((stream.flows[0].sender.bytes(), stream.flows[0].receiver.bytes()), (Bytes(9), Bytes(7)));
    }

    #[test]
    fn ends_that_report_different_connections_are_an_error() {
        assert!(measurement(&end(Direction::Reverse, 7), &end(Direction::Forward, 7)).is_err());
    }

    #[test]
    fn a_trial_in_which_a_thread_did_not_run_is_void_and_one_a_little_long_is_doubtful() {
        let load = Load::Stream(load::StreamLoad {
            interval: Nanos::from_secs(1),
            ..load::StreamLoad::new(Until::Elapsed(Nanos::from_secs(1)))
        });
        for (measured, bytes, void, doubtful) in
            [(1000, 9, false, false), (1200, 9, false, true), (400, 9, true, true), (1000, 0, true, false)]
        {
            let mut client = end(Direction::Forward, bytes);
            client.flows[0].series.intervals[0].end = Nanos::from_millis(measured);
            let merged = measurement(&client, &end(Direction::Forward, bytes)).expect("both match");
            assert_eq!(is_void(&load, &merged), void, "{measured} ms, {bytes} B");
            assert_eq!(other_duration(&load, &merged).is_some(), doubtful, "{measured} ms, {bytes} B");
        }
    }

    #[test]
    fn bytes_that_vanish_are_a_doubt_and_equal_ends_are_not() {
        for (sent, received, doubtful) in [(9, 9, false), (9, 8, true)] {
            let merged = measurement(&end(Direction::Forward, sent), &end(Direction::Forward, received));
            assert_eq!(ends_disagree(&merged.expect("both match")).is_some(), doubtful);
        }
    }

    #[test]
    fn only_a_thread_at_its_limit_is_a_doubt() {
        for (busy, doubtful) in [(960, false), (990, true)] {
            let thread = ThreadCpu {
                end: "client".into(),
                role: ThreadRole::Send,
                busy: Nanos::from_millis(busy),
                elapsed: Nanos::from_millis(1000),
            };
            let cpu = CpuUsage { threads: vec![thread], ..CpuUsage::default() };
            assert_eq!(busiest(&cpu, ThreadRole::Send).is_some(), doubtful, "{busy}");
            assert!(busiest(&cpu, ThreadRole::Receive).is_none());
        }
    }
}
