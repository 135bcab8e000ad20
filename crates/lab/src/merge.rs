//! Two ends' reports become one measurement. Must not know what to think of it.

use protocol::{EndReport, FlowReport};
use samples::{CpuUsage, GuestCpu};
use workload::{Flow, Measurement, PingPongData, StreamData};

/// Puts both ends together. Fails when they do not describe the same connections.
pub(crate) fn measurement(client: &EndReport, server: &EndReport) -> Result<Measurement, String> {
    match (&client.ping_pong, &server.ping_pong) {
        (Some(ping), Some(pong)) => {
            let under = if client.flows.is_empty() { None } else { Some(flows(client, server)?) };
            let server = pong.server.clone();
            Ok(Measurement::PingPong(PingPongData { server, under, ..ping.clone() }))
        }
        (None, None) => Ok(match &client.connect {
            Some(connect) => Measurement::Connect(connect.clone()),
            None => Measurement::Stream(flows(client, server)?),
        }),
        _ => Err("one end reports a ping-pong and the other a stream".to_owned()),
    }
}

/// CPU time: the machine's, as an end saw it that is on the machine itself; that of guests, which see their own only; and
/// both ends' threads. Without an end on it the machine's is not known. `guests` says which end is in one.
pub(crate) fn cpu(client: &EndReport, server: &EndReport, guests: [bool; 2]) -> CpuUsage {
    let threads = client.threads.iter().chain(&server.threads).cloned().collect();
    let ends = || [("client", client), ("server", server)].into_iter().zip(guests);
    let machine = ends().find(|(_, is_guest)| !is_guest).map(|((_, end), _)| end.machine.clone());
    let guest = |((name, end), is_guest): ((&str, &EndReport), bool)| {
        is_guest.then(|| GuestCpu { end: name.to_owned(), cpu: end.machine.clone() })
    };
    CpuUsage { machine: machine.unwrap_or_default(), threads, guests: ends().filter_map(guest).collect() }
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
    Ok(Flow::of_ends(id, direction, client.series.clone(), other.series.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::MachineCpu;
    use units::{Bytes, Nanos};
    use workload::{Direction, EndSeries, Interval};

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
        EndReport {
            flows,
            ping_pong: None,
            connect: None,
            threads: Vec::new(),
            machine: MachineCpu::default(),
            softnet: None,
        }
    }

    #[test]
    fn in_reverse_the_server_is_the_sender() {
        let merged =
            measurement(&end(Direction::Reverse, 7), &end(Direction::Reverse, 9)).expect("both match");
        let Measurement::Stream(stream) = merged else { panic!("a stream") };
        assert_eq!((stream.flows[0].sender.bytes(), stream.flows[0].receiver.bytes()), (Bytes(9), Bytes(7)));
    }

    #[test]
    fn the_machine_is_seen_from_an_end_on_it_and_each_guest_sees_itself() {
        let busy = |millis| MachineCpu { user: Nanos::from_millis(millis), ..MachineCpu::default() };
        let seen = |millis| EndReport { machine: busy(millis), ..end(Direction::Forward, 7) };
        for (guests, machine, of_guests) in [
            ([false, false], busy(3), vec![]),
            ([false, true], busy(3), vec![("server", busy(4))]),
            ([true, false], busy(4), vec![("client", busy(3))]),
            ([true, true], MachineCpu::default(), vec![("client", busy(3)), ("server", busy(4))]),
        ] {
            let found = cpu(&seen(3), &seen(4), guests);
            let told: Vec<_> = found.guests.iter().map(|it| (it.end.as_str(), it.cpu.clone())).collect();
            assert_eq!((found.machine, told), (machine, of_guests), "{guests:?}");
        }
    }

    #[test]
    fn ends_that_report_different_connections_are_an_error() {
        assert!(measurement(&end(Direction::Reverse, 7), &end(Direction::Forward, 7)).is_err());
    }
}
