//! Tests virtual hypervisors that run the wrong scenario or violate the protocol, using simulated machines.

use std::{convert::Infallible, iter, os::unix::net::UnixStream};

use machine::{Boot, Channel, Condition, MachineError};
use samples::{EndReason, MachineChange, ResultEnd, RunId, SkippedResult, Trial};
use scenario::{PlanOptions, builtin};
use serde_json::{Value, json};

use super::*;

const RUN: &str = include_str!("../../../analysis/tests/golden/egress.run.json");
const REQUESTED: &str = "egress-asked-for";

struct Hostile {
    messages: Box<dyn Iterator<Item = Vec<u8>> + Send>,
    ends: bool,
    open: Option<UnixStream>,
}

impl Machine for Hostile {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let (ours, mut theirs) = UnixStream::pair().expect("a pair");
        self.open = (!self.ends).then(|| theirs.try_clone().expect("a copy"));
        let mut messages = std::mem::replace(&mut self.messages, Box::new(iter::empty()));
        // The write fails once the controller gives up on the hypervisor.
        thread::spawn(move || messages.try_for_each(|piece| theirs.write_all(&piece)));
        Ok(Channel { from_agent: Box::new(ours.try_clone().expect("a copy")), to_agent: Box::new(ours) })
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn stop(&mut self) {}

    fn boot(&self) -> Boot {
        Boot { patience: Duration::from_secs(1), own_kernel: true, may_hang: false }
    }

    fn condition(&self) -> Condition {
        Condition::default()
    }
}

#[derive(Default)]
struct KeptFor(Vec<RunId>);

impl KeptFor {
    fn note(&mut self, run: &RunId) -> Result<(), Infallible> {
        self.0.push(run.clone());
        Ok(())
    }
}

impl Sink for KeptFor {
    type Error = Infallible;

    fn begin(&mut self, header: &RunHeader) -> Result<(), Infallible> {
        self.note(&header.id)
    }
    fn trial(&mut self, run: &RunId, _: &Trial) -> Result<(), Infallible> {
        self.note(run)
    }
    fn skipped(&mut self, run: &RunId, _: &SkippedResult) -> Result<(), Infallible> {
        self.note(run)
    }
    fn ended(&mut self, run: &RunId, _: &ResultEnd) -> Result<(), Infallible> {
        self.note(run)
    }
    fn machine_changed(&mut self, run: &RunId, _: &MachineChange) -> Result<(), Infallible> {
        self.note(run)
    }
    fn complete(&mut self, run: &RunId) -> Result<(), Infallible> {
        self.note(run)
    }
}

fn conducted(messages: impl Iterator<Item = Vec<u8>> + Send + 'static, ends: bool) -> (RunError, Vec<RunId>) {
    let text = builtin::find("quick").expect("it is built in").text;
    let scenario = Scenario::parse("quick", text).expect("it is right");
    let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
    let request = Request {
        scenario: &scenario,
        text,
        plan: &plan,
        id: RunId(REQUESTED.into()),
        remedy_trials: None,
        resume: None,
        agent: "/nonexistent".into(),
        firecracker: None,
        tool: "test",
        keep_disturbed: true,
        hosts: crate::ExistingHostUse::default(),
        fleet: None,
        attachments: std::sync::Arc::default(),
        inside: None,
    };
    let mut machine = Hostile { messages: Box::new(messages), ends, open: None };
    let mut hypervisor = Hypervisor::start(&mut machine, &plan, false).expect("it starts");
    let mut sink = KeptFor::default();
    let observer = &mut |_: &Event<'_>| ();
    let ledger = Ledger { request: &request, sink: &mut sink, observer, header: None, counter: None };
    let outcome = follow(&mut hypervisor, ledger, &Stop::new());
    (outcome.expect_err("it ends early"), sink.0)
}

fn line(message: &FromNestedRun) -> Vec<u8> {
    serde_json::to_vec(message).map(|text| [&text[..], b"\n"].concat()).expect("JSON")
}

fn header(id: &str) -> FromNestedRun {
    let mut record: Value = serde_json::from_str(RUN).expect("JSON");
    record["header"]["id"] = json!(id);
    FromNestedRun::Begin(serde_json::from_value(record["header"].take()).expect("a header"))
}

#[test]
fn stores_records_only_for_requested_run() {
    let hello = || line(&FromNestedRun::Hello(Hello::new("test")));
    let end = FromNestedRun::End(ResultEnd {
        result: "a/b".into(),
        reason: EndReason::Settled,
        trials: 1,
        black_hole: None,
        counters: None,
    });
    for (messages, stored, expected) in [
        (vec![hello(), line(&header("another"))], 0, "started run another"),
        (vec![hello(), line(&header(""))], 0, "started run"),
        (vec![hello(), line(&header(REQUESTED)), line(&header("another"))], 1, "started run another"),
        (vec![hello(), line(&end), line(&FromNestedRun::Complete)], 2, "hypervisor"),
        (vec![line(&header(REQUESTED))], 1, "hypervisor"),
    ] {
        let (error, runs) = conducted(messages.into_iter(), true);
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(runs, vec![RunId(REQUESTED.into()); stored], "{error}");
    }
}

#[test]
fn names_hypervisor_in_protocol_error() {
    const PIECE: usize = 1 << 20;
    let once = |text: &str| -> Box<dyn Iterator<Item = Vec<u8>> + Send> { Box::new(iter::once(text.into())) };
    let flood = |begin: &str, again: &str| -> Box<dyn Iterator<Item = Vec<u8>> + Send> {
        Box::new(
            iter::once(begin.into()).chain(iter::repeat_n(again.repeat(PIECE / again.len()).into(), 300)),
        )
    };
    for (messages, ends) in [
        (once(""), true),
        (once(""), false),
        (once("hello\n"), false),
        (once("\n"), false),
        (once("{\"hello\":{\"protocol\":99,\"tool\":\"9.9.9\"}}\n"), false),
        (once("{\"trial\":{}}\n"), false),
        (once("{\"over\":{\"completed\":-1,\"skipped\":[]}}\n"), false),
        (flood("", "x"), false),
        (flood("{\"event\":{\"kind\":\"notice\",\"text\":\"", "no "), false),
        (flood("", "["), false),
        (flood("", " "), false),
    ] {
        let (error, runs) = conducted(messages, ends);
        let message = error.to_string();
        assert!(message.contains(NAME) && message.len() < 1000, "{message}");
        assert_eq!(runs, [], "{message}");
    }
}
