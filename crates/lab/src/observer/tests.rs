//! Tests failures of the observer and its probes, using simulated agents.

use std::{cell::Cell, io::pipe, thread};

use machine::{Channel, Condition, MachineError};
use protocol::{FromAgent, Hello, Observing, Receiver, Sender, ToAgent};
use units::Nanos;
use workload::{StreamSettings, Until};

use super::*;

thread_local! {
    static ENDED: Cell<bool> = const { Cell::new(false) };
}

struct Fake(Option<Box<dyn FnMut(Order) -> Option<Reply> + Send>>);

impl Machine for Fake {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let (orders, to_agent) = pipe().expect("pipes");
        let (from_agent, answers) = pipe().expect("pipes");
        let mut answer = self.0.take().expect("started once");
        thread::spawn(move || {
            let (mut orders, mut answers) = (Receiver::new(orders), Sender::new(answers));
            answers.send(&FromAgent::Hello(Hello::new("test"))).expect("the pipe is open");
            while let Ok(message) = orders.receive() {
                let ToAgent::Request { id, order, .. } = message else { continue };
                let Some(reply) = answer(order) else { return };
                let _ = answers.send(&FromAgent::Reply { id, reply: Box::new(reply) });
            }
        });
        Ok(Channel { from_agent: Box::new(from_agent), to_agent: Box::new(to_agent) })
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn stop(&mut self) {
        ENDED.set(true);
    }

    fn condition(&self) -> Condition {
        Condition::default()
    }
}

fn started(
    answer: impl FnMut(Order) -> Option<Reply> + Send + 'static,
    probes: &[ProbeKind],
) -> (Watcher, Vec<MissingProbe>) {
    let machine = Box::new(Fake(Some(Box::new(answer))));
    let mut watcher =
        Watcher::greeted((HostName::new(NAME), machine), "test", &Stop::new(), probes, Vec::new())
            .expect("it greets");
    let missing = watcher.try_probes().expect("not interrupted");
    (watcher, missing)
}

fn missing(kind: samples::ProbeKind) -> MissingProbe {
    MissingProbe { probe: kind, reason: "of a test".into() }
}

fn failing(times: &'static [&'static [samples::ProbeKind]]) -> impl FnMut(Order) -> Option<Reply> + Send {
    let mut watched = 0;
    move |order| {
        Some(match order {
            Order::Observe(_) => {
                watched += 1;
                let fail = times.get(watched - 1).copied().unwrap_or_default();
                Reply::Observing(Observing { missing: fail.iter().map(|kind| missing(*kind)).collect() })
            }
            Order::Observed { .. } => Reply::Observed(Observation::default()),
            _ => Reply::Done,
        })
    }
}

fn watch(watcher: &mut Watcher) -> (Vec<String>, Verdict) {
    watcher.observe(Token(1), Vec::new(), &ProbeKind::ALL, None).expect("not interrupted");
    watcher.end().expect("not interrupted");
    let mut notices = Vec::new();
    let mut record = |event: &Event<'_>| match event {
        Event::Notice(text) => notices.push((*text).to_owned()),
        other => panic!("{other:?}"),
    };
    let stream = WorkloadSettings::Stream(StreamSettings::new(Until::Elapsed(Nanos::from_secs(1))));
    let verdict = watcher.judge(&stream, &mut record);
    (notices, verdict)
}

const CPU: samples::ProbeKind = samples::ProbeKind::Cpu;
const SYSCALLS: samples::ProbeKind = samples::ProbeKind::Syscalls;

#[test]
fn finds_unsupported_probes_before_first_trial() {
    let (watcher, lacking) = started(failing(&[&[SYSCALLS]]), &[ProbeKind::Cpu, ProbeKind::Syscalls]);
    assert_eq!(lacking, [missing(SYSCALLS)]);
    assert_eq!(watcher.probes(), [ProbeKind::Cpu]);
}

#[test]
fn repeats_trial_after_probe_failure_then_drops_probe() {
    let answers = failing(&[&[], &[CPU], &[CPU], &[SYSCALLS], &[], &[SYSCALLS], &[SYSCALLS]]);
    let (mut watcher, lacking) = started(answers, &[ProbeKind::Cpu, ProbeKind::Syscalls]);
    assert_eq!(lacking, []);
    let (notices, verdict) = watch(&mut watcher);
    assert_eq!((notices.len(), verdict), (1, Verdict::Again));
    assert!(notices[0].contains("probe cpu: of a test; repeating the trial"), "{notices:?}");
    let (notices, verdict) = watch(&mut watcher);
    assert_eq!(verdict, Verdict::Kept, "the other probe worked");
    assert!(notices[0].contains("continuing without it"), "{notices:?}");
    watcher.next_trial();
    assert_eq!(watch(&mut watcher).1, Verdict::Again);
    assert_eq!(watch(&mut watcher), (Vec::new(), Verdict::Kept));
    watcher.next_trial();
    assert_eq!(watch(&mut watcher).1, Verdict::Again, "each trial is repeated once");
    let (notices, verdict) = watch(&mut watcher);
    assert_eq!((notices.len(), verdict), (1, Verdict::Over), "no probe remains");
    assert_eq!(watcher.probes(), []);
    assert_eq!(watcher.dropped(), [missing(CPU), missing(SYSCALLS)], "in order of failure");
}

#[test]
fn accepts_trial_without_applicable_probes() {
    let answers = failing(&[&[], &[CPU], &[CPU]]);
    let (mut watcher, _) = started(answers, &[ProbeKind::Cpu, ProbeKind::PacketWay]);
    assert_eq!(watch(&mut watcher).1, Verdict::Again);
    assert_eq!(watch(&mut watcher).1, Verdict::Over, "a stream has no messages to follow");
    assert_eq!(watcher.probes(), [ProbeKind::PacketWay]);
}

#[test]
fn reports_and_stops_silent_observer() {
    let mut orders = 0;
    let answers = move |order| {
        orders += 1;
        // The replies are for the start and end of the probe test, then for a trial.
        let mut usual = failing(&[]);
        if orders > 3 { None } else { usual(order) }
    };
    let (mut watcher, lacking) = started(answers, &[ProbeKind::Cpu]);
    assert_eq!((lacking, ENDED.get()), (Vec::new(), false));
    let (notices, verdict) = watch(&mut watcher);
    assert_eq!((notices.len(), verdict), (1, Verdict::Over));
    assert!(ENDED.get(), "a slow agent would leave its probes loaded");
    assert!(
        notices[0].contains("observer") && notices[0].contains("continuing without probes"),
        "{notices:?}"
    );
    assert_eq!(watcher.probes(), []);
    let [gone] = watcher.dropped() else { panic!("{:?}", watcher.dropped()) };
    assert!(gone.probe == CPU && gone.reason.contains("observer"), "{gone:?}");
}
