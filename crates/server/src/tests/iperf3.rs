//! Tests that stock iperf3 clients work unmodified.

use std::{
    ops::Range,
    process::{Command, Output, Stdio},
};

use plumb_tests::dropped;
use serde_json::Value;
use traffic::{Outcome, Stop};
use units::Nanos;
use workload::{Direction, EndSeries, FlowEnd, StreamSettings, Until};

use super::{ClientEnd, TestServer, config, with_server};
use crate::{
    Config, Work,
    iperf3::{ClientSpec, Options, run_client},
};

type Case = (&'static [&'static str], fn(&Value, &Outcome) -> bool);

const ANY: fn(&Value, &Outcome) -> bool = |_, _| true;
const LIMITED: Range<u64> = 1_000_000..20_000_000;
const BOTH: &[Direction] = &[Direction::Forward, Direction::Reverse];

fn client(server: &TestServer, options: &[&str]) -> Value {
    let output = run(server, &[options, &["-J"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{options:?}: {text} {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{options:?}: {error}: {text}"))
}

pub(super) fn run(server: &TestServer, options: &[&str]) -> Output {
    command(server, options).output().expect("iperf3 is installed")
}

pub(super) fn command(server: &TestServer, options: &[&str]) -> Command {
    let mut command = Command::new("iperf3");
    let (ip, port) = (server.address.ip().to_string(), server.address.port().to_string());
    command.args(["-c", &ip, "-p", &port]).args(options).stdin(Stdio::null());
    command
}

fn number(json: &Value, path: &str) -> u64 {
    json.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} in {json:#}")) as u64
}

fn flows(outcome: &Outcome, direction: Direction) -> Vec<&FlowEnd> {
    outcome.measured.flows().iter().filter(|flow| flow.direction == direction).collect()
}

fn bytes(outcome: &Outcome, direction: Direction) -> u64 {
    flows(outcome, direction).iter().map(|flow| flow.series.bytes().0).sum()
}

fn agree(options: &[&str], json: &Value, ended: &ClientEnd, dropped: u64) {
    assert_eq!(ended.failure, None, "{options:?}");
    let here = ended.here.as_ref().expect("completed tests have a record");
    let client = ended.results.as_ref().expect("completed tests have client results");
    assert_eq!(client.streams.len(), here.measured.flows().len(), "{options:?}");
    for &direction in BOTH.iter().filter(|direction| !flows(here, **direction).is_empty()) {
        if options.contains(&"-u") {
            agree_on_datagrams(options, json, ended, direction, dropped);
        } else {
            let end = if direction == Direction::Forward { "sum_received" } else { "sum_sent" };
            let second = options.contains(&"--bidir") && direction == Direction::Reverse;
            let path = format!("/end/{end}{}/bytes", if second { "_bidir_reverse" } else { "" });
            assert_eq!(number(json, &path), bytes(here, direction), "{options:?} {path}");
        }
    }
}

/// Compares datagram counts, except for datagrams that the kernel dropped. A receiver counts gaps as lost, but not
/// datagrams missing at the end.
fn agree_on_datagrams(options: &[&str], json: &Value, ended: &ClientEnd, direction: Direction, dropped: u64) {
    let here = ended.here.as_ref().expect("checked before");
    let theirs = &ended.results.as_ref().expect("checked before").streams;
    let pairs = here.measured.flows().iter().zip(theirs).filter(|(flow, _)| flow.direction == direction);
    let (mut sent, mut came, mut missed) = (0, 0, 0);
    for (flow, client) in pairs {
        let all = flow.series.intervals.iter().filter_map(|interval| interval.datagrams);
        let all = all.reduce(|before, after| before.and(&after)).expect("datagrams");
        let (packets, numbered) = (client.packets, all.count as i64 + all.lost);
        (sent, came, missed) = (sent + packets, came + all.count as i64, missed + all.lost);
        let (highest, sent_count) =
            if direction == Direction::Forward { (numbered, packets) } else { (packets, numbered) };
        assert!((1..=sent_count).contains(&highest) && all.lost >= 0, "{options:?}: {packets} {all:?}");
    }
    if direction == Direction::Forward {
        assert!((0..=dropped as i64).contains(&(sent - came)), "{options:?}: {sent} {came} {dropped}");
        if !options.contains(&"-O") && !options.contains(&"--bidir") {
            assert_eq!(number(json, "/end/sum/lost_packets") as i64, missed, "{options:?}");
        }
    }
}

fn is_after_the_first_second(series: &EndSeries) -> bool {
    let Some(first) = series.measured().next() else { return false };
    let last = series.intervals.last().expect("the first, at least");
    let begins = first.start >= Nanos::from_secs(1) && first.start < last.end;
    begins && series.elapsed() == last.end - first.start && series.intervals[0].warmup
}

fn is_like_a_stock_server_s(ended: &ClientEnd, client: &Value) -> bool {
    let output = ended.output.as_ref().map(|output| serde_json::to_value(output).expect("JSON"));
    output.is_some_and(|output| {
        let same =
            |path: &str| output.pointer(path).is_some() && output.pointer(path) == client.pointer(path);
        same("/start/cookie") && same("/start/test_start/protocol") && same("/start/test_start/num_streams")
    })
}

fn check(ip: &str, cases: &[Case]) {
    with_server(&config(ip), |server| {
        for (options, holds) in cases {
            let before = dropped();
            let json = client(server, options);
            let (client, ended) = server.ended();
            assert!(matches!(client.work, Work::Stream(_)), "{client:?}");
            agree(options, &json, &ended, dropped() - before);
            assert!(is_like_a_stock_server_s(&ended, &json), "{options:?} {:?}", ended.output);
            assert!(
                holds(&json, ended.here.as_ref().expect("checked above")),
                "{options:?} {json:#} {ended:#?}"
            );
        }
    });
}

#[test]
fn serves_tcp_with_common_options() {
    check(
        "127.0.0.1",
        &[
            (&["-t", "1"], ANY),
            (&["-t", "1", "-P", "4"], |_, here| here.measured.flows().len() == 4),
            (&["-n", "20M"], |_, here| bytes(here, Direction::Forward) == 20 << 20),
            (&["-k", "100", "-l", "10000"], |_, here| bytes(here, Direction::Forward) == 1_000_000),
            (&["-t", "1", "-b", "50M"], |_, here| LIMITED.contains(&bytes(here, Direction::Forward))),
            (&["-t", "1", "-w", "100K"], |_, here| {
                here.measured.flows()[0]
                    .series
                    .socket
                    .receive_buffer
                    .is_some_and(|size| size.0 == 2 * 102_400)
            }),
            (&["-t", "1", "-C", "cubic"], |_, here| {
                here.measured.flows()[0].series.socket.congestion.as_deref() == Some("cubic")
            }),
            (&["-t", "1", "-N", "-S", "32"], |_, here| {
                let socket = &here.measured.flows()[0].series.socket;
                (socket.nodelay, socket.dscp) == (Some(true), Some(8))
            }),
        ],
    );
}

#[test]
fn serves_tcp_with_further_options() {
    check(
        "127.0.0.1",
        &[
            (&["-t", "1", "-M", "1000"], |json, _| number(json, "/start/tcp_mss") == 1000),
            (&["-t", "2", "-O", "1", "-i", "0.5"], |_, here| {
                is_after_the_first_second(&here.measured.flows()[0].series)
            }),
            (&["-t", "1", "-Z"], ANY),
            (&["-t", "1", "--cport", "12123"], |_, here| {
                here.measured.flows()[0]
                    .series
                    .socket
                    .addresses
                    .as_deref()
                    .is_some_and(|pair| pair.ends_with(":12123"))
            }),
            (&["-t", "1", "--get-server-output"], |json, _| {
                let text = json["server_output_text"].as_str().unwrap_or_default();
                text.contains("connected to") && text.contains("receiver")
            }),
            (&["-t", "1", "-T", "title", "--extra-data", "more"], |json, _| json["title"] == "title"),
        ],
    );
}

#[test]
fn serves_reverse_and_bidirectional_tcp() {
    check(
        "127.0.0.1",
        &[
            (&["-t", "1", "-R"], ANY),
            (&["-n", "20M", "-R", "-P", "3"], |json, here| {
                here.measured.flows().len() == 3 && number(json, "/end/sum_received/bytes") == 20 << 20
            }),
            (&["-n", "5M", "-R"], |_, here| bytes(here, Direction::Reverse) == 5 << 20),
            (&["-k", "50", "-l", "10K", "-R", "-P", "2"], |_, here| {
                bytes(here, Direction::Reverse) == 500 << 10
            }),
            (&["-n", "5M", "-R", "-O", "1"], ANY),
            (&["-n", "5M", "--bidir"], |_, here| bytes(here, Direction::Reverse) <= 5 << 20),
            (&["-t", "1", "-R", "-b", "50M", "-l", "8K"], |_, here| {
                LIMITED.contains(&bytes(here, Direction::Reverse))
            }),
            (&["-t", "1", "-R", "-C", "cubic", "-M", "900", "-Z", "-N"], |_, here| {
                let socket = &here.measured.flows()[0].series.socket;
                socket.congestion.as_deref() == Some("cubic") && socket.mss.is_some_and(|mss| mss <= 900)
            }),
            (&["-t", "2", "-R", "-O", "1", "--get-server-output"], |json, here| {
                json["server_output_text"].as_str().unwrap_or_default().contains("sender")
                    && is_after_the_first_second(&here.measured.flows()[0].series)
            }),
            (&["-t", "1", "--bidir", "-P", "2"], |_, here| flows(here, Direction::Reverse).len() == 2),
        ],
    );
}

#[test]
fn serves_tcp_over_ipv6() {
    check("::1", &[(&["-6", "-t", "1", "-S", "64"], ANY), (&["-t", "1", "-R"], ANY)]);
}

#[test]
fn serves_udp_with_all_options() {
    check(
        "127.0.0.1",
        &[
            (&["-u", "-t", "1"], ANY),
            (&["-u", "-t", "1", "-b", "20M", "-P", "3", "-l", "1000"], |_, here| {
                here.measured.flows().len() == 3
            }),
            (&["-u", "-t", "1", "-b", "10M", "-R"], ANY),
            (&["-u", "-t", "1", "-b", "10M", "--bidir", "-P", "2"], |_, here| {
                here.measured.flows().len() == 4
            }),
            (&["-u", "-t", "1", "-b", "10M", "--udp-counters-64bit", "-S", "32"], |_, here| {
                here.measured.flows()[0].series.socket.dscp == Some(8)
            }),
            (&["-u", "-n", "1M", "-b", "50M", "--cport", "12200", "--get-server-output"], ANY),
            (&["-u", "-t", "2", "-O", "1", "-b", "10M", "-i", "0.5"], ANY),
            (&["-u", "-k", "100", "-b", "10M", "-R"], ANY),
            (&["-u", "-t", "1", "-w", "100K", "-b", "10M"], ANY),
        ],
    );
}

#[test]
fn plumb_client_and_server_exchange_full_records() {
    with_server(&config("127.0.0.1"), |server| {
        for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
            let load =
                StreamSettings { direction, ..StreamSettings::new(Until::Elapsed(Nanos::from_secs(1))) };
            let (bind, cpus, options) = (None, None, Options::default());
            let spec = ClientSpec { server: server.address, bind, load, cpus, options };
            let report = run_client(&spec, &Stop::new(), &()).expect("the server listens");
            let (_, ended) = server.ended();
            assert_eq!(ended.failure, None, "{direction:?}");
            assert!(report.peer_is_plumb, "{direction:?}");
            let here = ended.here.expect("the test completed");
            assert_eq!(
                report.peer.measured.flows,
                here.measured.flows(),
                "the client has the server's record"
            );
            assert!(
                here.measured.flows().iter().all(|flow| flow.series.intervals.len() > 5),
                "intervals of the requested length"
            );
        }
    });
}

#[test]
fn long_intervals_do_not_count_as_idle() {
    let config = Config { idle_timeout: Nanos::from_millis(900), ..config("127.0.0.1") };
    with_server(&config, |server| {
        for direction in [Direction::Forward, Direction::Reverse] {
            let interval = Nanos::from_secs(10);
            let until = Until::Elapsed(Nanos::from_millis(2500));
            let load = StreamSettings { direction, interval, ..StreamSettings::new(until) };
            let (bind, cpus, options) = (None, None, Options::default());
            let spec = ClientSpec { server: server.address, bind, load, cpus, options };
            run_client(&spec, &Stop::new(), &()).expect("the test completes");
            assert_eq!(server.ended().1.failure, None, "{direction:?}");
        }
    });
}
