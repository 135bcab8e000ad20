//! Documents for synthetic tests, from both ends.

use units::Bytes;
use workload::{
    DatagramSample, EndSeries, FlowEnd, Interval, StreamEnd, StreamSettings, TcpSample, Transport, Until,
};

use super::*;

const MS: u64 = 1_000_000;

fn series(warmup: u64, ends: &[u64], udp: bool) -> EndSeries {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let interval = |(start, end): (u64, &u64)| Interval {
        start: Nanos(start * MS),
        end: Nanos(end * MS),
        bytes: Bytes(1_000_000),
        warmup: *end <= warmup,
        tcp: (!udp).then(|| TcpSample { retransmits: 2, rtt: Nanos(*end * 1000), ..TcpSample::default() }),
        datagrams: udp.then(|| DatagramSample { count: 90, lost: 10, ..DatagramSample::default() }),
    };
    EndSeries { intervals: starts.zip(ends).map(interval).collect(), ..EndSeries::default() }
}

fn results(id: i64, bytes: i64) -> StreamResults {
    let (start_time, end_time) = (Some(0.0), Some(2.0));
    StreamResults {
        id,
        bytes,
        retransmits: 7,
        packets: 100,
        errors: 4,
        start_time,
        end_time,
        ..StreamResults::default()
    }
}

fn document(load: &StreamSettings, ends: &[u64], every: Nanos, client: bool) -> Output {
    let params = Params::of(load).unwrap();
    let plan = params.streams();
    let udp = load.transport == Transport::Udp;
    let warmup = load.warmup.0 / MS;
    let flow = |planned: &PlannedStream| FlowEnd {
        id: 0,
        direction: planned.direction,
        series: series(warmup, ends, udp),
    };
    let here = StreamOutcome {
        measured: StreamEnd { flows: plan.iter().map(flow).collect() },
        ..StreamOutcome::default()
    };
    let there = Results {
        cpu_util_total: 50.0,
        cpu_util_user: 20.0,
        cpu_util_system: 30.0,
        sender_has_retransmits: 1,
        congestion_used: Some("bbr".into()),
        server_output_text: None,
        server_output_json: None,
        streams: plan.iter().map(|planned| results(i64::from(planned.id), 999)).collect(),
        plumb: None,
    };
    let (local, remote) = ("198.18.0.1:4000".parse().unwrap(), "198.18.0.2:5201".parse().unwrap());
    Facts {
        role: if client { Role::Client { server: remote } } else { Role::Server { client: remote } },
        params: &params,
        load,
        here: &here,
        there: client.then_some(&there),
        connections: &vec![Connection { local, remote }; plan.len()],
        cookie: "abc",
        control_mss: Some(1448),
        started: UnixMillis(1_795_273_115_250),
        cpu: [10.0, 4.0, 6.0],
        every,
    }
    .document()
}

fn tcp() -> StreamSettings {
    let load = StreamSettings::new(Until::Elapsed(Nanos::from_secs(2)));
    StreamSettings { interval: Nanos::from_millis(500), ..load }
}

#[test]
fn merges_samples_into_intervals_and_a_short_rest_into_the_last() {
    let every = Nanos::from_secs(1);
    for (ends, expected) in [
        (&[500, 1000, 1500, 2000][..], &[(0.0, 1.0), (1.0, 2.0)][..]),
        (&[510, 990, 1510, 2010, 2050], &[(0.0, 0.99), (0.99, 2.05)]),
        (&[500, 1000, 1400], &[(0.0, 1.0), (1.0, 1.4)]),
        (&[500, 3000, 3500, 4000], &[(0.0, 3.0), (3.0, 4.0)]),
    ] {
        let found = document(&tcp(), ends, every, true).intervals;
        let found: Vec<_> =
            found.iter().map(|interval| interval.sum.unwrap()).map(|sum| (sum.start, sum.end)).collect();
        assert_eq!(found, expected, "{ends:?}");
    }
    assert_eq!(document(&tcp(), &[500, 1000, 1500], Nanos(0), true).intervals.len(), 1);
}

#[test]
fn warm_up_comes_first_and_time_restarts_after_it() {
    let load = StreamSettings { warmup: Nanos::from_secs(1), ..tcp() };
    let output = document(&load, &[500, 1000, 1500, 2000, 2500, 3000], Nanos::from_secs(1), true);
    let found: Vec<_> = output.intervals.iter().map(|interval| interval.streams[0]).collect();
    let found: Vec<_> = found.iter().map(|measure| (measure.start, measure.end, measure.omitted)).collect();
    assert_eq!(found, [(0.0, 1.0, Some(true)), (0.0, 1.0, Some(false)), (1.0, 2.0, Some(false))]);
    assert_eq!(output.end.sum_sent.unwrap().bytes, 4_000_000);
}

#[test]
fn combines_own_and_peer_results_for_both_ends() {
    let load = StreamSettings { direction: Direction::Both, streams: 2, ..tcp() };
    let client = document(&load, &[500, 1000, 1500, 2000], Nanos::from_secs(1), true);
    let end = &client.end;
    assert_eq!((end.sum_sent.unwrap().bytes, end.sum_received.unwrap().bytes), (8_000_000, 1998));
    let (sent, received) = (end.sum_sent_bidir_reverse.unwrap(), end.sum_received_bidir_reverse.unwrap());
    assert_eq!((sent.bytes, received.bytes), (1998, 8_000_000));
    assert_eq!((end.sum_sent.unwrap().retransmits, sent.retransmits), (Some(16), Some(14)));
    assert_eq!(client.intervals[0].streams.len(), 4);
    assert_eq!(client.intervals[0].sum.unwrap().sender, Some(true));
    assert_eq!(client.intervals[0].sum_bidir_reverse.unwrap().sender, Some(false));
    let sender = end.streams.as_ref().unwrap()[0].sender.unwrap();
    assert_eq!((sender.min_rtt, sender.mean_rtt, sender.max_rtt), (Some(500), Some(1250), Some(2000)));
    let cpu = end.cpu_utilization_percent.unwrap();
    assert_eq!((cpu.host_user, cpu.remote_system), (4.0, 30.0));

    let server = document(&load, &[500, 1000, 1500, 2000], Nanos::from_secs(1), false);
    assert_eq!((server.end.sum_sent.unwrap().bytes, server.end.sum_received.unwrap().bytes), (0, 8_000_000));
    assert_eq!(server.intervals[0].sum.unwrap().sender, Some(false));
    assert!(server.start.accepted_connection.is_some() && server.start.connecting_to.is_none());
}

#[test]
fn loss_is_a_percentage_of_expected_datagrams() {
    let udp = StreamSettings { transport: Transport::Udp, message: Bytes(1000), ..tcp() };
    let forward = document(&udp, &[1000, 2000], Nanos::from_secs(1), true).end.sum.unwrap();
    assert_eq!(
        (forward.packets, forward.lost_packets, forward.lost_percent),
        (Some(100), Some(4), Some(4.0))
    );
    let reverse = StreamSettings { direction: Direction::Reverse, ..udp };
    let output = document(&reverse, &[1000, 2000], Nanos::from_secs(1), true);
    let sum = output.intervals[0].sum.unwrap();
    assert_eq!((sum.packets, sum.lost_packets, sum.lost_percent), (Some(100), Some(10), Some(10.0)));
    let sum = output.end.sum_received.unwrap();
    assert_eq!((sum.packets, sum.lost_packets, sum.sender), (Some(200), Some(20), Some(false)));
}

#[test]
fn formats_time_like_iperf3() {
    let start = document(&tcp(), &[500], Nanos(0), true).start;
    assert_eq!(start.timestamp.unwrap().time, "Sat, 21 Nov 2026 14:58:35 GMT");
    assert_eq!((start.tcp_mss_default, start.connected[0].socket), (Some(1448), 5));
}
