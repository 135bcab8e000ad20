//! Agents of guests that speak the protocol badly, without a guest.
#![expect(clippy::disallowed_methods, reason = "what they cost is read from /proc")]

use std::{fs, io::Write, iter, os::unix::net::UnixStream, time::Duration};

use machine::{Boot, Channel, Condition, Machine, MachineError};
use protocol::{ClientOrder, Token};
use serde_json::{Value, json};
use units::Nanos;
use workload::{PingPongSettings, WorkloadSettings};

use super::*;

/// What the host's memory may grow by.
const MOST: u64 = 50 << 20;
/// What a flood has, far more than may be kept of it.
const FLOOD: usize = 60 << 20;

/// Says this, by pieces, as soon as it is started, and keeps the channel open.
struct Hostile {
    says: fn() -> Pieces,
    agent: Option<UnixStream>,
}

impl Machine for Hostile {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        let says = self.says;
        self.agent = Some(theirs.try_clone().expect("a copy"));
        // Whoever is given up cannot say all.
        thread::spawn(move || says().try_for_each(|piece| theirs.write_all(&piece)));
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
/// What it does, and what it says.
type Way = (&'static str, fn() -> Pieces);

fn once(piece: impl Into<Vec<u8>>) -> Pieces {
    Box::new(iter::once(piece.into()))
}

/// A line as long as a flood: `begin`, then `again` and again.
fn long(begin: &'static str, again: &'static str) -> Pieces {
    let each = again.repeat(4096 / again.len());
    let times = FLOOD / each.len();
    Box::new(iter::once(begin.into()).chain(iter::repeat_n(each.into_bytes(), times)))
}

fn greeted(then: Pieces) -> Pieces {
    Box::new(iter::once(hello()).chain(then))
}

/// The same line as often as a flood has it.
fn often(value: &Value) -> Pieces {
    let piece = line(value);
    let times = FLOOD / piece.len();
    greeted(Box::new(iter::repeat_n(piece, times)))
}

/// An answer with so many intervals, to the first request or to none.
fn report(id: u64, intervals: usize) -> Value {
    let interval = json!({ "start": 0, "end": 1, "bytes": 1, "warmup": false });
    let end =
        json!({ "intervals": vec![interval; intervals], "socket": { "zero_copy": false, "ran_on": [] } });
    json!({ "reply": { "id": id, "reply": { "report": { "measured": { "stream": { "flows": [end] } } } } } })
}

const WAYS: [Way; 30] = [
    ("says nothing", || Box::new(iter::empty())),
    ("an empty line", || once("\n")),
    ("a line of nothing", || once("   \n")),
    ("no JSON", || once("hello\n")),
    ("no UTF-8", || once(b"\xff\xfe\x00\n".to_vec())),
    ("JSON of another kind", || once("7\n")),
    ("a list", || once("[]\n")),
    ("null", || once("null\n")),
    ("an unknown message", || once("{\"greeting\":{}}\n")),
    ("a greeting without its version", || once("{\"hello\":{\"tool\":\"test\"}}\n")),
    ("another version", || once("{\"hello\":{\"protocol\":99,\"tool\":\"9.9.9\"}}\n")),
    ("a version that is no number", || once("{\"hello\":{\"protocol\":\"8\",\"tool\":\"test\"}}\n")),
    ("a long name of its tool", || long("{\"hello\":{\"protocol\":99,\"tool\":\"", "a")),
    ("a line without end", || long("", "x")),
    ("a line of digits", || long("", "7")),
    ("deep lists", || long("", "[")),
    ("deep tables", || long("", "{\"a\":")),
    ("spaces without end", || long("", " ")),
    ("empty lines after its greeting", || greeted(Box::new(iter::repeat_n(b"\n".to_vec(), 1000)))),
    ("a long list in an answer", || greeted(long("{\"reply\":{\"id\":1,\"reply\":{\"report\":[", "0,"))),
    ("a long list of states", || {
        greeted(long("{\"reply\":{\"id\":1,\"reply\":{\"device-states\":{\"states\":[", "{},"))
    }),
    ("a long reason", || greeted(long("{\"refused\":{\"id\":1,\"unsupported\":false,\"because\":\"", "no "))),
    ("an unknown key as long as a flood", || greeted(long("{\"progress\":{\"a\":\"", "b"))),
    ("greetings without end", || often(&json!({ "hello": Hello::new("test") }))),
    ("progress without end", || {
        often(&json!({ "progress":
            { "token": 1, "elapsed": 1, "received": u64::MAX, "round_trips": u64::MAX, "covers": 1 } }))
    }),
    ("answers to nobody's questions", || often(&json!({ "reply": { "id": 999, "reply": "done" } }))),
    ("refusals of nobody's questions", || {
        often(&json!({ "refused": { "id": 999, "because": "x".repeat(100_000), "unsupported": true } }))
    }),
    ("another answer than was asked for", || {
        greeted(once(line(&json!({ "reply": { "id": 1, "reply": "done" } }))))
    }),
    ("a report that lacks half", || greeted(once(line(&report(1, 3))))),
    ("reports as long as may be, without end", || often(&report(999, 15_000))),
];

/// Asks it what a run asks a client's guest; the error that ends it.
fn run(says: fn() -> Pieces) -> RunError {
    let host = HostName::new("vm0");
    let machine = Hostile { says, agent: None };
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
        Ok(Reply::Report(report)) => panic!("no report is whole: {report:?}"),
        Ok(other) => crate::exchange::unexpected(&host, &other),
    }
}

fn status(key: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix(key)).expect("is told");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

#[test]
fn a_hostile_guest_costs_little_and_ends_the_run_with_an_error_that_names_it() {
    for (way, says) in WAYS {
        // What was used most is counted anew from here (proc_pid_clear_refs(5)).
        fs::write("/proc/self/clear_refs", "5").expect("its own");
        let before = status("VmRSS:");
        let error = run(says);
        let grown = status("VmHWM:").saturating_sub(before);
        assert!(grown < MOST, "{way}: {grown} bytes more");
        let said = error.to_string();
        assert!(said.contains("vm0"), "{way}: {said}");
        assert!(said.len() < 1000, "{way}: {} bytes", said.len());
        assert!(!matches!(error, RunError::Interrupted), "{way}");
    }
}
