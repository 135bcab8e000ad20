//! Formats server events as lines.

use std::net::SocketAddr;

use ::workload::{Direction, EndSeries, FlowEnd, StreamSettings, Transport};
use server::{Client, Event, Report, ServedProtocol, Work};
use traffic::Outcome;

pub(super) fn line(event: &Event<'_>) -> Option<String> {
    Some(match event {
        Event::Listening { addresses, proven, confinement } => {
            let places: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
            let places = places.join(" and ");
            let clients = if *proven {
                "plumb and iperf3 clients that log in (not ping or sockperf, which cannot)"
            } else {
                "plumb, iperf3 and sockperf clients"
            };
            let rights = match confinement {
                Some(confinement) => confinement.to_string(),
                None => "with all privileges of the user who started it (--unconfined)".to_owned(),
            };
            format!("serving {clients} on {places}, TCP and UDP; {rights}; stop with Ctrl-C")
        }
        Event::Waits { peer, before } => format!("{} waits for {before}", peer.ip()),
        Event::Begins { client } => format!("{} {}", name(client), work(client)),
        Event::Ends { client, report } => format!("{} {}", name(client), outcome(report)),
        Event::Refused { peer, reason } => format!("{peer} refused: {reason}"),
        Event::MoreRefused { count } => format!("{count} more refused"),
        Event::Interval { .. } | Event::Trouble { .. } => return None,
    })
}

fn name(client: &Client) -> String {
    format!("#{} {}", client.number, client.peer.ip().to_canonical())
}

fn work(client: &Client) -> String {
    let protocol = match client.protocol {
        ServedProtocol::Native => "plumb",
        ServedProtocol::Iperf3 => "iperf3",
        ServedProtocol::Sockperf => "sockperf",
    };
    match &client.work {
        Work::Stream(load) => format!("{protocol}: {}", stream(load)),
        Work::PingPong(transport) => format!("{protocol}: ping over {}", named(*transport)),
        Work::Connect => format!("{protocol}: connections"),
    }
}

fn stream(load: &StreamSettings) -> String {
    let way = match load.direction {
        Direction::Forward => "receives",
        Direction::Reverse => "sends",
        Direction::Both => "sends and receives",
    };
    let connections =
        if load.streams == 1 { "1 connection" } else { &format!("{} connections", load.streams) };
    let rate = load.rate.map(|rate| format!(" at {rate} each")).unwrap_or_default();
    format!("{way} over {connections} ({}){rate}", named(load.transport))
}

fn named(transport: Transport) -> &'static str {
    match transport {
        Transport::Tcp => "TCP",
        Transport::Udp => "UDP",
    }
}

fn outcome(report: &Report) -> String {
    let done = match &report.messages {
        Some(messages) => format!("replied to {} of {} messages", messages.answered, messages.received),
        None => report.here.as_ref().map(carried).unwrap_or_default(),
    };
    let lasted = report.lasted;
    match (&report.failure, done.is_empty()) {
        (Some(traffic::Error::Left), true) => format!("ended by the client after {lasted}"),
        (Some(traffic::Error::Left), false) => format!("ended by the client after {lasted}, {done}"),
        (None, true) => format!("ended after {lasted}"),
        (None, false) => done,
        (Some(failure), true) => format!("failed after {lasted}: {failure}"),
        (Some(failure), false) => format!("failed after {lasted}, {done}: {failure}"),
    }
}

fn carried(outcome: &Outcome) -> String {
    let of = |direction: Direction, verb: &str| {
        let of_it = |flow: &&FlowEnd| flow.direction == direction;
        let ends: Vec<&EndSeries> =
            outcome.measured.flows().iter().filter(of_it).map(|flow| &flow.series).collect();
        let bytes: units::Bytes = ends.iter().map(|end| end.bytes()).sum();
        let rate = EndSeries::rate_together(ends.iter().copied());
        (!ends.is_empty()).then(|| format!("{verb} {rate} ({bytes})"))
    };
    let ways = [of(Direction::Forward, "received"), of(Direction::Reverse, "sent")];
    ways.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::workload::{Interval, StreamEnd, Until};
    use server::Refusal;
    use units::{BitRate, Bytes, Nanos};

    fn client(work: Work) -> Client {
        let [peer, local] =
            ["[::ffff:198.18.0.1]:40000", "198.18.0.2:5201"].map(|text| text.parse().expect("valid"));
        Client { number: 3, peer, local, protocol: ServedProtocol::Iperf3, work }
    }

    fn load() -> StreamSettings {
        StreamSettings::new(Until::Elapsed(Nanos::from_secs(1)))
    }

    fn report(bytes: u64) -> Report {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos::from_secs(1),
            bytes: Bytes(bytes),
            warmup: false,
            tcp: None,
            datagrams: None,
        };
        let series = EndSeries { intervals: vec![interval], ..EndSeries::default() };
        let flow = FlowEnd { id: 0, direction: Direction::Forward, series };
        let here = (bytes > 0).then(|| {
            Outcome { measured: StreamEnd { flows: vec![flow] }, threads: Vec::new() }.of_any_kind()
        });
        Report {
            lasted: Nanos::from_secs(1),
            here,
            there: None,
            results: None,
            output: None,
            messages: None,
            failure: None,
        }
    }

    #[test]
    fn prints_two_lines_per_client() {
        let settings = StreamSettings { streams: 4, rate: Some(BitRate(1e8)), ..load() };
        let client = client(Work::Stream(Box::new(settings)));
        assert_eq!(
            line(&Event::Begins { client: &client }).expect("a line"),
            "#3 198.18.0.1 iperf3: receives over 4 connections (TCP) at 100 Mbit/s each"
        );
        assert_eq!(
            line(&Event::Ends { client: &client, report: &report(1_250_000_000) }).expect("a line"),
            "#3 198.18.0.1 received 10.0 Gbit/s (1.16 GiB)"
        );
    }

    #[test]
    fn failure_has_cause_and_partial_result() {
        let client = client(Work::PingPong(Transport::Udp));
        let mut report = report(0);
        assert_eq!(
            line(&Event::Ends { client: &client, report: &report }).expect("a line"),
            "#3 198.18.0.1 ended after 1.00 s"
        );
        report.failure = Some(traffic::Error::Stopped);
        let logged = line(&Event::Ends { client: &client, report: &report }).expect("a line");
        assert!(logged.starts_with("#3 198.18.0.1 failed after 1.00 s: "), "{logged}");
        report.failure = Some(traffic::Error::Left);
        let logged = line(&Event::Ends { client: &client, report: &report }).expect("a line");
        assert_eq!(logged, "#3 198.18.0.1 ended by the client after 1.00 s");
    }

    #[test]
    fn refusal_has_address_and_reason() {
        let peer = "198.18.0.9:1".parse().expect("valid");
        let logged = line(&Event::Refused { peer, reason: Refusal::Address }).expect("a line");
        assert_eq!(logged, "198.18.0.9:1 refused: its address is not allowed");
    }
}
