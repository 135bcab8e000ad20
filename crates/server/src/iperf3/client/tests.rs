//! Client tests against stock iperf3 servers on a private loopback. The tests are skipped if iperf3 is missing.

mod auth;
mod endings;
mod flows;
mod hostile;
mod our_own;
mod settings;

use std::{
    fs,
    net::SocketAddr,
    process::{Child, Command, Output as Printed, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use codecs::iperf3::output::Output;
use plumb_tests::{dropped, in_one_of_five, on_loopback};
use traffic::{FlowId, Progress};
use units::Bytes;
use workload::{Direction, SocketSettings, StreamSettings, Transport, Until};

use super::*;
use crate::{iperf3::document, testing::Moves};

const PORT: u16 = 5201;
const SECOND: Nanos = Nanos::from_secs(1);

struct Stock(Option<Child>);

impl Stock {
    fn start(flags: &[&str]) -> Option<Self> {
        Self::start_many(&[&["-1"], flags].concat())
    }

    #[expect(clippy::disallowed_macros, reason = "prints the reason for skipping")]
    fn start_many(flags: &[&str]) -> Option<Self> {
        let mut command = Command::new("iperf3");
        command.args(["-s", "-J"]).args(flags).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().inspect_err(|error| eprintln!("skipped: no iperf3: {error}")).ok()?;
        let server = Self(Some(child));
        let listens = || fs::read_to_string("/proc/thread-self/net/tcp6").unwrap().contains(":1451 ");
        let started = Instant::now();
        while !listens() {
            assert!(started.elapsed() < plumb_tests::PATIENCE, "iperf3 does not listen");
            thread::sleep(Duration::from_millis(5));
        }
        Some(server)
    }

    fn interrupt(&self) {
        let pid = self.0.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    }

    /// The server exits on its own unless it has refused a client.
    fn printed(mut self) -> Printed {
        let mut child = self.0.take().unwrap();
        let started = Instant::now();
        while child.try_wait().unwrap().is_none() && started.elapsed() < Duration::from_secs(5) {
            thread::sleep(Duration::from_millis(5));
        }
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

fn spec(load: StreamSettings) -> ClientSpec {
    let server = SocketAddr::from(([127, 0, 0, 1], PORT));
    let load = StreamSettings { interval: Nanos::from_millis(100), ..load };
    ClientSpec { server, bind: None, load, cpus: None, options: Options::default() }
}

fn tcp() -> StreamSettings {
    let socket = SocketSettings { congestion: Some("cubic".into()), ..SocketSettings::kernel() };
    StreamSettings { socket, ..StreamSettings::new(Until::Elapsed(SECOND)) }
}

fn udp() -> StreamSettings {
    let load = StreamSettings::new(Until::Elapsed(SECOND));
    StreamSettings { transport: Transport::Udp, message: Bytes(1000), rate: Some(BitRate(8e6)), ..load }
}

fn run(spec: &ClientSpec, flags: &[&str]) -> Option<(Report, Output)> {
    run_and_look(spec, flags).map(|(report, server, _)| (report, server))
}

fn run_and_look(spec: &ClientSpec, flags: &[&str]) -> Option<(Report, Output, u64)> {
    on_loopback(|| {
        let server = Stock::start(flags)?;
        let report = run_client(spec, &Stop::new(), &()).expect("the test completes");
        Some((report, server.output(), dropped()))
    })?
}

fn bytes(outcome: &StreamOutcome, direction: Direction) -> u64 {
    let flows = outcome.measured.flows.iter().filter(|flow| flow.direction == direction);
    flows.map(|flow| flow.series.bytes().0).sum()
}

fn byte_counts(report: &Report, server: &Output, direction: Direction) -> (u64, u64, u64) {
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

/// Checks that both ends agree, except for datagrams that the kernel dropped and for unread data that was discarded
/// when a stream closed.
fn check(load: &StreamSettings, options: Options) {
    let spec = ClientSpec { options, ..spec(load.clone()) };
    let Some((report, server, dropped)) = run_and_look(&spec, &[]) else { return };
    // The most that a stream buffers: the default receive buffer (tcp(7)) plus the send buffer.
    let buffered = if load.transport == Transport::Tcp { (32 + 4) << 20 } else { 300_000 };
    let thrown_away = buffered * u64::from(load.streams) + dropped * load.message.0;
    assert!(!report.peer_is_plumb);
    assert_eq!(report.cookie, server.start.cookie.clone().unwrap());
    assert_eq!(report.connections.len(), server.start.connected.len());
    for (ours, theirs) in report.connections.iter().zip(&server.start.connected) {
        assert_eq!((ours.local.port(), ours.remote.port()), (theirs.remote_port, theirs.local_port));
    }
    for direction in load.direction.flows() {
        let (sent, received, printed) = byte_counts(&report, &server, *direction);
        assert!(sent > 0 && received <= sent, "{direction:?}: {received} of {sent}");
        let there = if *direction == Direction::Forward { received } else { sent };
        assert_eq!(there, printed, "{direction:?}: reported and printed bytes differ");
        assert!(received + thrown_away >= sent, "{direction:?}: {received} of {sent}, {dropped}: {load:?}");
    }
    let intervals = report.here.measured.flows.iter().map(|flow| flow.series.measured().count());
    assert!(intervals.min().unwrap() >= 1);
}
