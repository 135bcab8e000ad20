//! Two ends' reports become one measurement. Must not know what to think of it.

use protocol::{EndReport, FlowReport};
use samples::{CpuUsage, Flow, Measurement, PingPongData, StreamData};

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

/// CPU time: that of `machine`, as an end saw it that is on the machine itself, and both ends' threads. Without such an
/// end the machine's is not known: a guest sees its own only.
pub(crate) fn cpu(client: &EndReport, server: &EndReport, machine: Option<&EndReport>) -> CpuUsage {
    let threads = client.threads.iter().chain(&server.threads).cloned().collect();
    CpuUsage { machine: machine.map(|end| end.machine.clone()).unwrap_or_default(), threads }
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
    use load::Direction;
    use samples::{EndSeries, Interval, MachineCpu};
    use units::{Bytes, Nanos};

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
    fn ends_that_report_different_connections_are_an_error() {
        assert!(measurement(&end(Direction::Reverse, 7), &end(Direction::Forward, 7)).is_err());
    }
}
