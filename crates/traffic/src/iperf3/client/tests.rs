//! The client against stock iperf3 servers on a private loopback; skipped, with the reason, where there is none.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr},
    process::{Child, Command, Output as Printed, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use load::{Direction, Mode, SocketSettings, Transport, Until};
use samples::Interval;
use units::Bytes;
use wire::iperf3::output::Output;

use super::*;
use crate::{
    iperf3::document,
    observer::{Beat, FlowId},
    testing::on_loopback,
};

const PORT: u16 = 5201;
/// A second at least: stock servers count in seconds.
const SECOND: Nanos = Nanos::from_secs(1);

/// A stock server of one test.
struct Stock(Option<Child>);

impl Stock {
    /// Starts one that listens; `None`, with the reason printed, where iperf3 is not installed.
    fn start(flags: &[&str]) -> Option<Self> {
        Self::start_many(&[&["-1"], flags].concat())
    }

    /// Starts one that goes on; `None` as above.
    #[expect(clippy::disallowed_macros, reason = "a test says why it tests nothing")]
    fn start_many(flags: &[&str]) -> Option<Self> {
        let mut command = Command::new("iperf3");
        command.args(["-s", "-J"]).args(flags).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().inspect_err(|error| eprintln!("skipped: no iperf3: {error}")).ok()?;
        let server = Self(Some(child));
        let listens = || fs::read_to_string("/proc/thread-self/net/tcp6").unwrap().contains(":1451 ");
        let begun = Instant::now();
        while !listens() {
            assert!(begun.elapsed() < Duration::from_secs(10), "iperf3 does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        Some(server)
    }

    /// Asks it to end, as Ctrl-C does.
    fn interrupt(&self) {
        let pid = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// What it printed. It ends by itself, but for one that has refused somebody.
    fn printed(mut self) -> Printed {
        let mut child = self.0.take().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(5));
        }
        // Fails when it has ended.
        let _ = child.kill();
        child.wait_with_output().unwrap()
    }

    fn output(self) -> Output {
        let printed = self.printed();
        let text = String::from_utf8(printed.stdout).unwrap();
        assert!(printed.status.success(), "{text}");
        Output::parse(&text).unwrap()
    }
}

impl Drop for Stock {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

fn spec(load: StreamLoad) -> ClientSpec {
    let server = SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PORT);
    let load = StreamLoad { interval: Nanos::from_millis(100), ..load };
    ClientSpec { server, bind: None, load, cpus: None, options: Options::default() }
}

fn tcp() -> StreamLoad {
    let socket = SocketSettings { congestion: Some("cubic".into()), ..SocketSettings::kernel() };
    StreamLoad { socket, ..StreamLoad::new(Until::Elapsed(SECOND)) }
}

fn udp() -> StreamLoad {
    let load = StreamLoad::new(Until::Elapsed(SECOND));
    StreamLoad { transport: Transport::Udp, message: Bytes(1000), rate: Some(BitRate(8e6)), ..load }
}

/// Runs it against a stock server; `None` where none can be had.
fn run(spec: &ClientSpec, flags: &[&str]) -> Option<(Report, Output)> {
    on_loopback(|| {
        let server = Stock::start(flags)?;
        let report = run_client(spec, &Stop::new(), &()).expect("a test runs to its end");
        Some((report, server.output()))
    })?
}

fn bytes(outcome: &Outcome, direction: Direction) -> u64 {
    let flows = outcome.flows.iter().filter(|flow| flow.direction == direction);
    flows.map(|flow| flow.series.bytes().0).sum()
}

/// What both ends saw of a direction: sent, received, and what the server printed of it.
fn seen(report: &Report, server: &Output, direction: Direction) -> (u64, u64, u64) {
    let (here, there) = (bytes(&report.here, direction), bytes(&report.peer, direction));
    let other_way = direction == Direction::Reverse && report.params.bidirectional;
    let end = &server.end;
    let sums = if other_way {
        (end.sum_sent_bidir_reverse, end.sum_received_bidir_reverse)
    } else {
        (end.sum_sent, end.sum_received)
    };
    if direction == Direction::Forward {
        (here, there, sums.1.unwrap().bytes.cast_unsigned())
    } else {
        (there, here, sums.0.unwrap().bytes.cast_unsigned())
    }
}

/// Both ends agree, within what a stock server throws away when it closes a stream that still has some.
fn check(load: &StreamLoad, options: Options) {
    let spec = ClientSpec { options, ..spec(load.clone()) };
    let Some((report, server)) = run(&spec, &[]) else { return };
    assert!(!report.peer_is_plumb);
    assert_eq!(report.cookie, server.start.cookie.clone().unwrap());
    assert_eq!(report.connections.len(), server.start.connected.len());
    for (ours, theirs) in report.connections.iter().zip(&server.start.connected) {
        assert_eq!((ours.local.port(), ours.remote.port()), (theirs.remote_port, theirs.local_port));
    }
    for direction in load.direction.flows() {
        let (sent, received, printed) = seen(&report, &server, *direction);
        assert!(sent > 0 && received <= sent, "{direction:?}: {received} of {sent}");
        let there = if *direction == Direction::Forward { received } else { sent };
        assert_eq!(there, printed, "{direction:?}: what the server told and what it printed");
        let least = if load.transport == Transport::Tcp { 0.9 } else { 0.5 };
        assert!(received as f64 > least * sent as f64, "{direction:?}: {received} of {sent}: {load:?}");
    }
    let intervals = report.here.flows.iter().map(|flow| flow.series.measured().count());
    let timed = matches!(load.until, Until::Elapsed(_));
    // A busy machine makes fewer and longer ones.
    assert!(intervals.min().unwrap() >= if timed { 2 } else { 1 });
}

#[test]
fn tcp_goes_either_way_and_both_ways_at_once_over_one_stream_and_three() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for streams in [1, 3] {
            check(&StreamLoad { direction, streams, ..tcp() }, Options::default());
        }
    }
}

#[test]
fn udp_goes_either_way_and_both_ways_at_once_with_counters_of_either_width() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        for (streams, counters_64bit) in [(1, false), (2, true)] {
            let options = Options { counters_64bit, ..Options::default() };
            check(&StreamLoad { direction, streams, ..udp() }, options);
        }
    }
}

#[test]
fn an_amount_is_sent_to_the_byte_and_all_of_it_arrives() {
    let until = Until::Sent(Bytes(10_000_001));
    for (streams, blocks) in [(1, None), (3, None), (1, Some(77))] {
        let options = Options { blocks, ..Options::default() };
        let spec = ClientSpec { options, ..spec(StreamLoad { until, streams, ..tcp() }) };
        let Some((report, server)) = run(&spec, &[]) else { return };
        let (sent, received, printed) = seen(&report, &server, Direction::Forward);
        assert_eq!((sent, received, printed), (10_000_001, 10_000_001, 10_000_001));
        let start = server.start.test_start.unwrap();
        assert_eq!(start.blocks, blocks.unwrap_or(0).cast_signed());
    }
}

#[test]
fn an_amount_is_received_and_the_test_ended() {
    for (load, least) in [(tcp(), 10_000_000), (udp(), 500_000)] {
        let load = StreamLoad { until: Until::Sent(Bytes(least)), direction: Direction::Reverse, ..load };
        let Some((report, _)) = run(&spec(load), &[]) else { return };
        assert!(bytes(&report.here, Direction::Reverse) >= least);
    }
}

#[test]
fn what_is_left_out_at_the_start_counts_at_neither_end() {
    for (load, direction) in
        [(tcp(), Direction::Forward), (udp(), Direction::Forward), (udp(), Direction::Reverse)]
    {
        let load = StreamLoad { warmup: SECOND, rate: Some(BitRate(8e6)), direction, ..load };
        let spec = spec(load);
        let Some((report, server)) = run(&spec, &[]) else { return };
        let (sent, received, printed) = seen(&report, &server, direction);
        let document = document(&spec, &report, SECOND);
        let packets = document.end.sum.map(|sum| sum.packets.unwrap());
        assert!(packets.is_none_or(|packets| (900..1300).contains(&packets)), "{packets:?}");
        assert_eq!(document.intervals[0].sum.unwrap().omitted, Some(true));
        for seen in [sent, received, printed] {
            assert!((900_000..1_300_000).contains(&seen), "{sent} {received} {printed}");
        }
        let test = server.start.test_start.unwrap();
        assert_eq!((test.omit, test.duration), (1, 1));
    }
}

#[test]
fn every_setting_arrives() {
    let socket = SocketSettings {
        congestion: Some("reno".into()),
        mss: Some(1200),
        window: Some(Bytes(200_000)),
        dscp: Some(8),
        nodelay: Some(true),
        source_port: Some(42_000),
        busy_poll: None,
    };
    let load =
        StreamLoad { socket, message: Bytes(32 << 10), rate: Some(BitRate(20e6)), streams: 2, ..tcp() };
    let options = Options {
        server_output: true,
        title: Some("a title".into()),
        extra_data: Some("more".into()),
        zero_copy: true,
        repeating_payload: true,
        ..Options::default()
    };
    let spec = ClientSpec { options, ..spec(StreamLoad { mode: Mode::Limit, ..load }) };
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
    for flow in &report.here.flows {
        assert_eq!(flow.series.socket.congestion.as_deref(), Some("reno"));
        assert!((2_000_000..3_000_000).contains(&flow.series.bytes().0), "{}", flow.series.bytes().0);
    }
}

#[test]
fn a_datagram_is_as_long_as_the_control_connection_s_segments_unless_said_otherwise() {
    let Some((report, server)) = run(&spec(StreamLoad { message: Bytes(0), ..udp() }), &[]) else { return };
    let length = report.load.message.0;
    assert_eq!(i64::try_from(length), Ok(server.start.test_start.unwrap().blksize));
    assert_eq!(length, u64::from(report.control_mss.unwrap()));
}

#[test]
fn intervals_are_told_as_they_end_and_the_beat_once() {
    /// The intervals of connections that send or do not, and what each beat received.
    #[derive(Default)]
    struct Ears {
        intervals: Mutex<Vec<bool>>,
        beats: Mutex<Vec<u64>>,
    }
    impl Observer for Ears {
        fn beat(&self, beat: Beat) {
            self.beats.lock().unwrap().push(beat.received.0);
        }
        fn interval(&self, flow: FlowId, _: &Interval) {
            self.intervals.lock().unwrap().push(flow.sends);
        }
    }
    let load = StreamLoad { direction: Direction::Both, rate: Some(BitRate(8e6)), ..tcp() };
    on_loopback(|| {
        let Some(server) = Stock::start(&[]) else { return };
        let ears = Ears::default();
        let report = run_client(&spec(load), &Stop::new(), &ears).expect("a test runs to its end");
        drop(server.output());
        let intervals = ears.intervals.into_inner().unwrap();
        for sends in [true, false] {
            assert!(intervals.iter().filter(|sent| **sent == sends).count() >= 2, "{intervals:?}");
        }
        let beats = ears.beats.into_inner().unwrap();
        let received: u64 = beats.iter().sum();
        assert!((1..=20).contains(&beats.len()), "{beats:?}");
        assert!(received > 0 && received <= bytes(&report.here, Direction::Reverse), "{received}");
    });
}

/// What the test fails with, and whether the server ended well.
fn failure(
    load: StreamLoad,
    options: Options,
    flags: &[&str],
    meanwhile: impl Fn(&Stock, &Stop) + Sync,
) -> Option<(Error, Printed)> {
    let spec = ClientSpec { options, ..spec(load) };
    on_loopback(|| {
        let server = Stock::start(flags)?;
        let stop = Stop::new();
        let failed = thread::scope(|scope| {
            let beside = scope.spawn(|| meanwhile(&server, &stop));
            let failed = run_client(&spec, &stop, &()).expect_err("the test does not run to its end");
            beside.join().unwrap();
            failed
        });
        Some((failed, server.printed()))
    })?
}

fn soon() {
    thread::sleep(Duration::from_millis(700));
}

#[test]
fn a_stop_is_told_to_the_server_and_a_server_s_stop_is_heard() {
    let long = StreamLoad { until: Until::Elapsed(Nanos::from_secs(20)), ..tcp() };
    let stopped = failure(long.clone(), Options::default(), &[], |_, stop| {
        soon();
        stop.ask();
    });
    let Some((error, printed)) = stopped else { return };
    assert!(error.is_stopped(), "{error}");
    assert!(String::from_utf8_lossy(&printed.stdout).contains("the client has terminated"));
    let (error, _) = failure(long, Options::default(), &[], |server, _| {
        soon();
        server.interrupt();
    })
    .unwrap();
    assert!(matches!(error, Error::Iperf3(Failure::ServerTerminated)), "{error}");
}

#[test]
fn a_server_s_refusal_is_told_in_its_words() {
    let load = StreamLoad { message: Bytes(1 << 20), ..tcp() };
    let too_long = StreamLoad { message: Bytes((1 << 20) + 1), ..load };
    on_loopback(|| {
        let Some(_server) = Stock::start(&[]) else { return };
        let error = run_client(&spec(too_long), &Stop::new(), &()).expect_err("iperf3 has no such message");
        assert!(matches!(error, Error::Setting { .. }), "{error}");
        thread::scope(|scope| {
            let busy = spec(StreamLoad { until: Until::Elapsed(Nanos::from_secs(2)), ..tcp() });
            let first = scope.spawn(move || run_client(&busy, &Stop::new(), &()));
            soon();
            let error = run_client(&spec(tcp()), &Stop::new(), &()).expect_err("the server is busy");
            assert_eq!(error.to_string(), "the server is busy with another test; try again later");
            first.join().unwrap().expect("the first test goes on");
        });
    });
}

#[test]
fn a_server_that_is_not_there_is_said_to_be() {
    on_loopback(|| {
        let error = run_client(&spec(tcp()), &Stop::new(), &()).expect_err("nobody listens");
        assert!(error.to_string().contains("Connection refused"), "{error}");
    });
}

mod auth {
    use super::*;

    const CAPTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wire/tests/captures/iperf3");

    fn options(password: &str, pkcs1_padding: Option<bool>) -> Options {
        let public_key_pem = fs::read_to_string(format!("{CAPTURES}/public.pem")).unwrap();
        let (username, password) = ("mario".to_owned(), password.to_owned());
        let credentials = Some(Credentials { username, password, public_key_pem, pkcs1_padding });
        Options { credentials, ..Options::default() }
    }

    fn flags() -> [String; 4] {
        let (key, users) = (format!("{CAPTURES}/private.pem"), format!("{CAPTURES}/users.csv"));
        ["--rsa-private-key-path".into(), key, "--authorized-users-path".into(), users]
    }

    #[test]
    fn a_stock_server_lets_in_who_is_known_to_it_and_nobody_else() {
        let flags = flags();
        let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
        // Which padding a stock server has is a matter of its version.
        let lets_in = |padding| {
            on_loopback(|| {
                let server = Stock::start(&flags)?;
                let spec = ClientSpec { options: options("rossi", Some(padding)), ..spec(tcp()) };
                let report = run_client(&spec, &Stop::new(), &());
                drop(server);
                Some(report)
            })?
        };
        let Some(first) = lets_in(true) else { return };
        let second = lets_in(false).unwrap();
        assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
        let padding = Some(first.is_ok());
        let found = on_loopback(|| {
            let server = Stock::start_many(&flags)?;
            let spec = ClientSpec { options: options("rossi", None), ..spec(tcp()) };
            let report = run_client(&spec, &Stop::new(), &());
            drop(server);
            Some(report)
        });
        found.flatten().unwrap().expect("the padding is found");
        let (error, _) = failure(tcp(), options("wrong", padding), &flags, |_, _| ()).unwrap();
        assert_eq!(error.to_string(), "the server says: test authorization failed");
    }
}

mod our_own {
    use std::sync::mpsc;

    use super::*;
    use crate::door::{Config, Event, Watcher, serve};

    struct Ear(Mutex<mpsc::Sender<SocketAddr>>);

    impl Watcher for Ear {
        fn event(&self, event: Event<'_>) {
            if let Event::Listening { addresses } = event {
                self.0.lock().unwrap().send(addresses[0]).unwrap();
            }
        }
    }

    /// Runs it against a standing server of ours.
    fn run(load: StreamLoad, options: Options) -> Option<Report> {
        on_loopback(|| {
            let config = Config::new(vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)]);
            let (tell, told) = mpsc::channel();
            let (ear, stop) = (Ear(Mutex::new(tell)), Stop::new());
            thread::scope(|scope| {
                let serving = scope.spawn(|| serve(&config, &stop, &ear));
                let server = told.recv_timeout(Duration::from_secs(10)).expect("it listens");
                let spec = ClientSpec { server, options, ..spec(load) };
                let report = run_client(&spec, &Stop::new(), &());
                stop.ask();
                serving.join().unwrap().expect("it serves until it is asked to stop");
                report.expect("a test runs to its end")
            })
        })
    }

    #[test]
    fn tells_its_whole_series_and_both_ends_agree_to_the_byte() {
        for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
            let load = StreamLoad { direction, streams: 2, mode: Mode::Limit, ..tcp() };
            let Some(report) = run(load, Options::default()) else { return };
            assert!(report.peer_is_plumb);
            assert_eq!(report.here.flows.len(), report.peer.flows.len());
            for (here, there) in report.here.flows.iter().zip(&report.peer.flows) {
                assert_eq!((here.id, here.direction), (there.id, there.direction));
                assert!(there.series.intervals.len() >= 2, "{}", there.series.intervals.len());
                assert!(there.series.intervals.iter().all(|interval| interval.tcp.is_some()));
                assert_eq!(here.series.bytes(), there.series.bytes(), "{:?}", here.direction);
            }
            assert_eq!(report.peer.threads.len(), report.here.threads.len());
        }
    }

    #[test]
    fn takes_times_that_iperf3_has_no_word_for_and_datagrams() {
        let until = Until::Elapsed(Nanos::from_millis(300));
        for direction in [Direction::Forward, Direction::Reverse] {
            let Some(report) = run(StreamLoad { until, direction, ..udp() }, Options::default()) else {
                return;
            };
            let (sent, received) = match direction {
                Direction::Forward => (&report.here, &report.peer),
                _ => (&report.peer, &report.here),
            };
            let lost = received.flows[0].series.datagrams().unwrap().lost;
            assert_eq!(bytes(sent, direction), bytes(received, direction) + lost.unsigned_abs() * 1000);
            assert!(sent.flows[0].series.elapsed() < SECOND, "{}", sent.flows[0].series.elapsed());
        }
    }

    #[test]
    fn prints_what_it_is_asked_for() {
        let options = Options { server_output: true, ..Options::default() };
        let Some(report) = run(tcp(), options) else { return };
        assert!(matches!(report.server_output, Some(ServerOutput::Text(text)) if text.contains("bits/sec")));
    }
}
