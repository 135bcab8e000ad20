//! Observers that say what a test has them say: what is told, what is made once more, and what the run goes on without.

use std::{cell::Cell, io::pipe, thread};

use machine::{Channel, Condition, MachineError};
use protocol::{FromAgent, Hello, Observing, Receiver, Sender, ToAgent};
use units::Nanos;
use workload::{StreamSettings, Until};

use super::*;

thread_local! {
    /// Whether the observer of this test was ended.
    static ENDED: Cell<bool> = const { Cell::new(false) };
}

/// A machine whose agent answers each order as it is told to; with nothing it hangs up.
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
                // Whoever does not wait for an answer may be gone.
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
    let missing = watcher.try_probes().expect("nobody stops it");
    (watcher, missing)
}

fn missing(kind: samples::ProbeKind) -> MissingProbe {
    MissingProbe { probe: kind, because: "of a test".into() }
}

/// Answers as an observer does in whose `n`th watching, the trying not counted, these probes fail.
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

/// Watches a stream once: what was told, and what becomes of the trial.
fn watch(watcher: &mut Watcher) -> (Vec<String>, Verdict) {
    watcher.observe(Token(1), Vec::new(), &ProbeKind::ALL, None).expect("nobody interrupts");
    watcher.end().expect("nobody interrupts");
    let mut told = Vec::new();
    let mut tell = |event: &Event<'_>| match event {
        Event::Notice(text) => told.push((*text).to_owned()),
        other => panic!("{other:?}"),
    };
    let stream = WorkloadSettings::Stream(StreamSettings::new(Until::Elapsed(Nanos::from_secs(1))));
    let verdict = watcher.judge(&stream, &mut tell);
    (told, verdict)
}

const CPU: samples::ProbeKind = samples::ProbeKind::Cpu;
const SYSCALLS: samples::ProbeKind = samples::ProbeKind::Syscalls;

#[test]
fn what_cannot_run_here_is_known_before_the_first_trial() {
    let (watcher, lacking) = started(failing(&[&[SYSCALLS]]), &[ProbeKind::Cpu, ProbeKind::Syscalls]);
    assert_eq!(lacking, [missing(SYSCALLS)]);
    assert_eq!(watcher.probes(), [ProbeKind::Cpu]);
}

#[test]
fn a_trial_is_made_once_more_when_a_probe_fails_and_then_the_run_goes_on_without_it() {
    let answers = failing(&[&[], &[CPU], &[CPU], &[SYSCALLS], &[], &[SYSCALLS], &[SYSCALLS]]);
    let (mut watcher, lacking) = started(answers, &[ProbeKind::Cpu, ProbeKind::Syscalls]);
    assert_eq!(lacking, []);
    let (told, verdict) = watch(&mut watcher);
    assert_eq!((told.len(), verdict), (1, Verdict::Again));
    assert!(told[0].contains("probe cpu: of a test; the trial is made once more"), "{told:?}");
    let (told, verdict) = watch(&mut watcher);
    assert_eq!(verdict, Verdict::Kept, "the other saw it");
    assert!(told[0].contains("the run goes on without it"), "{told:?}");
    watcher.next_trial();
    assert_eq!(watch(&mut watcher).1, Verdict::Again);
    assert_eq!(watch(&mut watcher), (Vec::new(), Verdict::Kept));
    watcher.next_trial();
    assert_eq!(watch(&mut watcher).1, Verdict::Again, "each trial has its own second chance");
    let (told, verdict) = watch(&mut watcher);
    assert_eq!((told.len(), verdict), (1, Verdict::Over), "none is left");
    assert_eq!(watcher.probes(), []);
    assert_eq!(watcher.gone(), [missing(CPU), missing(SYSCALLS)], "in the order in which they went");
}

#[test]
fn a_trial_is_over_when_the_probes_that_are_left_see_nothing_of_it() {
    let answers = failing(&[&[], &[CPU], &[CPU]]);
    let (mut watcher, _) = started(answers, &[ProbeKind::Cpu, ProbeKind::PacketWay]);
    assert_eq!(watch(&mut watcher).1, Verdict::Again);
    assert_eq!(watch(&mut watcher).1, Verdict::Over, "a stream has no messages to follow");
    assert_eq!(watcher.probes(), [ProbeKind::PacketWay]);
}

#[test]
fn an_observer_that_does_not_answer_is_told_and_ended() {
    let mut orders = 0;
    let answers = move |order| {
        orders += 1;
        // The trying and its end, then one trial of which it says no more.
        let mut usual = failing(&[]);
        if orders > 3 { None } else { usual(order) }
    };
    let (mut watcher, lacking) = started(answers, &[ProbeKind::Cpu]);
    assert_eq!((lacking, ENDED.get()), (Vec::new(), false));
    let (told, verdict) = watch(&mut watcher);
    assert_eq!((told.len(), verdict), (1, Verdict::Over));
    assert!(ENDED.get(), "it may only be slow, and then leave its probes on");
    assert!(told[0].contains("observer") && told[0].contains("goes on without probes"), "{told:?}");
    assert_eq!(watcher.probes(), []);
    let [gone] = watcher.gone() else { panic!("{:?}", watcher.gone()) };
    assert!(gone.probe == CPU && gone.because.contains("observer"), "{gone:?}");
}
