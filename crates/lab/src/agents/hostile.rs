//! Tests how the run handles agents that violate the protocol, without a guest.
#![expect(clippy::disallowed_methods, reason = "reads memory use from /proc")]

use std::{fs, io::Write, iter, os::unix::net::UnixStream, thread, time::Duration};

use machine::{Boot, Channel, Condition, Machine, MachineError};
use protocol::{ClientOrder, Hello, Token};
use serde_json::{Value, json};
use units::Nanos;
use workload::{PingPongSettings, WorkloadSettings};

use super::*;
use crate::event::Event;

const MAX_GROWTH: u64 = 50 << 20;
const FLOOD: usize = 60 << 20;

struct Hostile {
    pieces: fn() -> Pieces,
    agent: Option<UnixStream>,
}

impl Machine for Hostile {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let pieces = self.pieces;
        self.agent = Some(theirs.try_clone().expect("a copy"));
        thread::spawn(move || pieces().try_for_each(|piece| theirs.write_all(&piece)));
        Ok(Channel { from_agent: Box::new(ours.try_clone().expect("a copy")), to_agent: Box::new(ours) })
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn stop(&mut self) {
        self.agent = None;
    }

    fn boot(&self) -> Boot {
        Boot { patience: Duration::from_millis(500), own_kernel: true, may_hang: false }
    }

    fn condition(&self) -> Condition {
        Condition::default()
    }
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn hello() -> Vec<u8> {
    line(&json!({ "hello": Hello::new("test") }))
}

type Pieces = Box<dyn Iterator<Item = Vec<u8>> + Send>;
type Case = (&'static str, fn() -> Pieces);

fn once(piece: impl Into<Vec<u8>>) -> Pieces {
    Box::new(iter::once(piece.into()))
}

fn long(begin: &'static str, again: &'static str) -> Pieces {
    let each = again.repeat(4096 / again.len());
    let times = FLOOD / each.len();
    Box::new(iter::once(begin.into()).chain(iter::repeat_n(each.into_bytes(), times)))
}

fn greeted(then: Pieces) -> Pieces {
    Box::new(iter::once(hello()).chain(then))
}

fn repeated(value: &Value) -> Pieces {
    let piece = line(value);
    let times = FLOOD / piece.len();
    greeted(Box::new(iter::repeat_n(piece, times)))
}

fn report(id: u64, intervals: usize) -> Value {
    let interval = json!({ "start": 0, "end": 1, "bytes": 1, "warmup": false });
    let end =
        json!({ "intervals": vec![interval; intervals], "socket": { "zero_copy": false, "ran_on": [] } });
    json!({ "reply": { "id": id, "reply": { "report": { "measured": { "stream": { "flows": [end] } } } } } })
}

const CASES: [Case; 30] = [
    ("sends nothing", || Box::new(iter::empty())),
    ("an empty line", || once("\n")),
    ("a blank line", || once("   \n")),
    ("not JSON", || once("hello\n")),
    ("invalid UTF-8", || once(b"\xff\xfe\x00\n".to_vec())),
    ("a JSON number", || once("7\n")),
    ("a list", || once("[]\n")),
    ("null", || once("null\n")),
    ("an unknown message", || once("{\"greeting\":{}}\n")),
    ("a greeting without a version", || once("{\"hello\":{\"tool\":\"test\"}}\n")),
    ("another version", || once("{\"hello\":{\"protocol\":99,\"tool\":\"9.9.9\"}}\n")),
    ("a version that is not a number", || once("{\"hello\":{\"protocol\":\"8\",\"tool\":\"test\"}}\n")),
    ("a long tool name", || long("{\"hello\":{\"protocol\":99,\"tool\":\"", "a")),
    ("an endless line", || long("", "x")),
    ("a line of digits", || long("", "7")),
    ("deep lists", || long("", "[")),
    ("deep tables", || long("", "{\"a\":")),
    ("endless spaces", || long("", " ")),
    ("empty lines after its greeting", || greeted(Box::new(iter::repeat_n(b"\n".to_vec(), 1000)))),
    ("a long list in a reply", || greeted(long("{\"reply\":{\"id\":1,\"reply\":{\"report\":[", "0,"))),
    ("a long list of states", || {
        greeted(long("{\"reply\":{\"id\":1,\"reply\":{\"device-states\":{\"states\":[", "{},"))
    }),
    ("a long reason", || greeted(long("{\"refused\":{\"id\":1,\"unsupported\":false,\"reason\":\"", "no "))),
    ("a long unknown key", || greeted(long("{\"progress\":{\"a\":\"", "b"))),
    ("endless greetings", || repeated(&json!({ "hello": Hello::new("test") }))),
    ("endless progress", || {
        repeated(&json!({ "progress":
            { "token": 1, "elapsed": 1, "received": u64::MAX, "round_trips": u64::MAX, "covers": 1 } }))
    }),
    ("replies with unknown IDs", || repeated(&json!({ "reply": { "id": 999, "reply": "done" } }))),
    ("refusals with unknown IDs", || {
        repeated(&json!({ "refused": { "id": 999, "reason": "x".repeat(100_000), "unsupported": true } }))
    }),
    ("a reply of the wrong type", || greeted(once(line(&json!({ "reply": { "id": 1, "reply": "done" } }))))),
    ("an incomplete report", || greeted(once(line(&report(1, 3))))),
    ("endless reports of maximum length", || repeated(&report(999, 15_000))),
];

fn run(pieces: fn() -> Pieces) -> RunError {
    let host = HostName::new("vm0");
    let machine = Hostile { pieces, agent: None };
    let machines: Vec<(HostName, Box<dyn Machine>)> = vec![(host.clone(), Box::new(machine))];
    let load = WorkloadSettings::PingPong(PingPongSettings::new(Nanos::from_secs(1)));
    let (bind, server) = ("198.18.0.1".parse().expect("one"), "198.18.0.2".parse().expect("one"));
    let order = Order::Run(ClientOrder { token: Token(1), bind, server, port: 1, load, cpus: None });
    let mut agents = match Agents::start(machines, "test", &Stop::new(), &mut |_: &Event<'_>| ()) {
        Ok(agents) => agents,
        Err(error) => return error,
    };
    match agents.ask(&host, "run the client", order, Duration::from_millis(300)) {
        Err(error) => error,
        Ok(Reply::Report(report)) => panic!("report should be incomplete: {report:?}"),
        Ok(other) => RunError::unexpected(&host, &other),
    }
}

fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("the key exists");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn names_hostile_guest_in_error_and_limits_memory() {
    for (case, pieces) in CASES {
        // Resets the peak RSS (proc_pid_clear_refs(5)).
        fs::write("/proc/self/clear_refs", "5").expect("its own");
        let before = status("VmRSS:");
        let error = run(pieces);
        let grown = status("VmHWM:").saturating_sub(before);
        assert!(grown < MAX_GROWTH, "{case}: {grown} bytes more");
        let message = error.to_string();
        assert!(message.contains("vm0"), "{case}: {message}");
        assert!(message.len() < 1000, "{case}: {} bytes", message.len());
        assert!(!matches!(error, RunError::Interrupted), "{case}");
    }
}
