//! The client's settings and the events it reports during a test.

use workload::{Interval, Mode, SocketSettings, StreamSettings};

use super::*;

#[test]
fn all_settings_reach_the_server() {
    let socket = SocketSettings {
        server_port: None,
        congestion: Some("reno".into()),
        mss: Some(1200),
        window: Some(Bytes(200_000)),
        dscp: Some(8),
        nodelay: Some(true),
        source_port: Some(42_000),
        busy_poll: None,
    };
    let load =
        StreamSettings { socket, message: Bytes(32 << 10), rate: Some(BitRate(20e6)), streams: 2, ..tcp() };
    let options = Options {
        server_output: true,
        title: Some("a title".into()),
        extra_data: Some("more".into()),
        zero_copy: true,
        repeating_payload: true,
        ..Options::default()
    };
    let spec = ClientSpec { options, ..spec(StreamSettings { mode: Mode::Limit, ..load }) };
    let Some((report, server)) = run(&spec, &[]) else { return };
    let test = server.start.test_start.unwrap();
    assert_eq!((test.num_streams, test.blksize, test.tos), (2, 32 << 10, Some(32)));
    assert_eq!((server.start.target_bitrate, server.start.tcp_mss), (Some(20_000_000), Some(1200)));
    assert_eq!(server.start.sock_bufsize, Some(200_000));
    assert_eq!((server.title.as_deref(), server.extra_data.as_deref()), (Some("a title"), Some("more")));
    assert_eq!(server.end.receiver_tcp_congestion.as_deref(), Some("reno"));
    let ports: Vec<u16> = report.connections.iter().map(|connection| connection.local.port()).collect();
    assert_eq!(ports, [42_000, 42_001]);
    let Some(ServerOutput::Json(json)) = report.server_output else { panic!("{:?}", report.server_output) };
    assert_eq!(Output::parse(&json.to_string()).unwrap().start.cookie, server.start.cookie);
    for flow in &report.here.measured.flows {
        assert_eq!(flow.series.socket.congestion.as_deref(), Some("reno"));
        assert!((2_000_000..3_000_000).contains(&flow.series.bytes().0), "{}", flow.series.bytes().0);
    }
}

#[test]
fn datagram_size_defaults_to_the_control_connection_mss() {
    let Some((report, server)) = run(&spec(StreamSettings { message: Bytes(0), ..udp() }), &[]) else {
        return;
    };
    let length = report.load.message.0;
    assert_eq!(i64::try_from(length), Ok(server.start.test_start.unwrap().blksize));
    assert_eq!(length, u64::from(report.control_mss.unwrap()));
}

#[test]
fn reports_intervals_as_they_end_and_progress_once() {
    #[derive(Default)]
    struct Counter {
        intervals: Mutex<Vec<(FlowId, Interval)>>,
        progress: Mutex<Vec<Progress>>,
    }
    impl Observer for Counter {
        fn progress(&self, progress: Progress) {
            self.progress.lock().unwrap().push(progress);
        }
        fn interval(&self, flow: FlowId, interval: &Interval) {
            self.intervals.lock().unwrap().push((flow, *interval));
        }
    }
    let load = StreamSettings { direction: Direction::Both, rate: Some(BitRate(8e6)), ..tcp() };
    on_loopback(|| {
        let Some(server) = Stock::start(&[]) else { return };
        let counter = Counter::default();
        let report = run_client(&spec(load), &Stop::new(), &counter).expect("the test completes");
        drop(server.output());
        let intervals = counter.intervals.into_inner().unwrap();
        assert_eq!(report.here.measured.flows.len(), 2);
        for flow in &report.here.measured.flows {
            let sends = flow.direction == Direction::Forward;
            let observed =
                intervals.iter().filter(|(id, _)| id.sends == sends).map(|(_, interval)| *interval);
            let observed: Vec<_> = observed.collect();
            // The last interval may have grown since it was reported.
            let (_, before) = flow.series.intervals.split_last().expect("some");
            assert_eq!(observed.get(..before.len()), Some(before), "{observed:?}");
        }
        let progress = counter.progress.into_inner().unwrap();
        let covered: u64 = progress.iter().map(|progress| progress.covers.0).sum();
        assert_eq!(progress.last().map(|last| last.elapsed), Some(Nanos(covered)), "{progress:?}");
        let received: u64 = progress.iter().map(|progress| progress.received.0).sum();
        assert!(received > 0 && received <= bytes(&report.here, Direction::Reverse), "{received}");
    });
}
