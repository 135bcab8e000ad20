//! Uses fake probes to test when probes are created, started, read and stopped.

use std::{cell::RefCell, net::IpAddr};

use protocol::{BreakdownOrder, Subject};
use samples::CpuConsumer;
use units::Bytes;
use workload::Transport;

use super::*;

const TOKEN: Token = Token(0x00C0_FFEE);

thread_local! {
    static DONE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn done(operation: &str, kind: ProbeKind) {
    DONE.with_borrow_mut(|done| done.push(format!("{operation} {}", kind.word())));
}

fn taken() -> Vec<String> {
    DONE.with_borrow_mut(std::mem::take)
}

struct Fake {
    kind: ProbeKind,
    starts: bool,
    reads: bool,
}

impl Probe for Fake {
    fn kind(&self) -> ProbeKind {
        self.kind
    }

    fn start(&mut self, watch: &Watch) -> Result<(), ProbeError> {
        done(&format!("start on {}", watch.subjects.len()), self.kind);
        if self.starts { Ok(()) } else { Err(failed("attach")) }
    }

    fn read(&mut self, seen: &mut samples::ProbeResults) -> Result<(), ProbeError> {
        done("read", self.kind);
        seen.overflowed.push(samples::Overflow { probe: self.kind, events: 7 });
        if self.reads { Ok(()) } else { Err(failed("read its map")) }
    }

    fn stop(&mut self) {
        done("stop", self.kind);
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        done("drop", self.kind);
    }
}

fn failed(operation: &str) -> ProbeError {
    ProbeError::Failed { operation: operation.into(), reason: "of a test".into() }
}

fn fake(kind: ProbeKind, starts: bool, reads: bool) -> Result<Box<dyn Probe>, ProbeError> {
    done("make", kind);
    Ok(Box::new(Fake { kind, starts, reads }))
}

fn order(probes: &[ProbeKind], latency_breakdown: Option<BreakdownOrder>) -> ObserveOrder {
    let subjects = vec![Subject::of(CpuConsumer::Client, vec![1], true)];
    ObserveOrder { token: TOKEN, probes: probes.to_vec(), subjects, latency_breakdown }
}

fn latency_breakdown() -> BreakdownOrder {
    BreakdownOrder {
        transport: Transport::Udp,
        server: IpAddr::from([127, 0, 0, 1]),
        port: 9,
        message: Bytes(64),
        every: 1,
        devices: Vec::new(),
    }
}

fn missing(reply: Result<Reply, Refusal>) -> Vec<(ProbeKind, String)> {
    match reply.expect("obeys") {
        Reply::Observing(observing) => {
            observing.missing.into_iter().map(|missing| (missing.probe, missing.reason)).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn seen(reply: Result<Reply, Refusal>) -> Observation {
    match reply.expect("obeys") {
        Reply::Observed(seen) => seen,
        other => panic!("{other:?}"),
    }
}

#[test]
fn creates_probes_once_and_activates_them_during_trials() {
    let probes = Probes::new(|kind| fake(kind, true, true));
    for round in 0..2 {
        assert_eq!(missing(probes.observe(&order(&ProbeKind::ALL, Some(latency_breakdown())))), []);
        let made: &[&str] = match round {
            0 => &[
                "make packet-way",
                "start on 1 packet-way",
                "make syscalls",
                "start on 1 syscalls",
                "make cpu",
                "start on 1 cpu",
            ],
            _ => &["start on 1 packet-way", "start on 1 syscalls", "start on 1 cpu"],
        };
        assert_eq!(taken(), made, "in round {round}");
        let seen = seen(probes.observed(TOKEN));
        assert!(seen.observed.elapsed > Nanos(0) && seen.unread.is_empty());
        assert_eq!(taken()[..3], ["read cpu", "read syscalls", "read packet-way"]);
    }
    assert!(probes.observed(TOKEN).is_err(), "ended");
    probes.close();
    assert_eq!(taken().iter().filter(|done| done.starts_with("drop")).count(), 3);
    let closed = probes.observe(&order(&ProbeKind::ALL, None)).expect_err("ended");
    assert!(closed.reason.contains("ended"), "{closed:?}");
}

#[test]
fn loads_probe_without_messages_to_trace() {
    let probes = Probes::new(|kind| fake(kind, true, true));
    assert_eq!(missing(probes.observe(&order(&[ProbeKind::PacketWay], None))), []);
    assert_eq!(taken(), ["make packet-way"]);
    assert_eq!(seen(probes.observed(TOKEN)).observed.overflowed, []);
}

#[test]
fn tries_unavailable_probe_once_and_always_names_it() {
    let probes = Probes::new(|kind| match kind {
        ProbeKind::Syscalls => {
            done("make", kind);
            Err(ProbeError::Unavailable { reason: "no rights".into(), remedy: "run as root".into() })
        }
        _ => fake(kind, true, true),
    });
    for _ in 0..2 {
        let named = missing(probes.observe(&order(&[ProbeKind::Cpu, ProbeKind::Syscalls], None)));
        assert_eq!(named, [(ProbeKind::Syscalls, "no rights; run as root".to_owned())]);
        assert_eq!(seen(probes.observed(TOKEN)).observed.overflowed.len(), 1, "the other continues");
    }
    assert_eq!(taken().iter().filter(|done| *done == "make syscalls").count(), 1);
}

#[test]
fn recreates_probe_that_failed_to_start() {
    let probes = Probes::new(|kind| fake(kind, kind != ProbeKind::Cpu, true));
    for _ in 0..2 {
        let named = missing(probes.observe(&order(&ProbeKind::ALL, None)));
        assert_eq!(named, [(ProbeKind::Cpu, "cannot attach: of a test".to_owned())]);
        let done = taken();
        assert!(done.contains(&"make cpu".to_owned()) && done.contains(&"drop cpu".to_owned()), "{done:?}");
        seen(probes.observed(TOKEN));
    }
}

#[test]
fn names_unreadable_probe_with_results_of_others() {
    let probes = Probes::new(|kind| fake(kind, true, kind != ProbeKind::Syscalls));
    assert_eq!(missing(probes.observe(&order(&ProbeKind::ALL, Some(latency_breakdown())))), []);
    let seen = seen(probes.observed(TOKEN));
    let named: Vec<ProbeKind> = seen.unread.iter().map(|missing| missing.probe).collect();
    assert_eq!(named, [ProbeKind::Syscalls]);
    assert_eq!(seen.observed.overflowed.len(), 3);
    assert_eq!(taken().iter().filter(|done| done.starts_with("stop")).count(), 3);
}

#[test]
fn observes_one_trial_at_a_time() {
    let probes = Probes::new(|kind| fake(kind, true, true));
    let other = Token(1);
    assert_eq!(missing(probes.observe(&order(&[ProbeKind::Cpu], None))), []);
    let refused = probes.observe(&order(&[ProbeKind::Cpu], None)).expect_err("already observed");
    assert!(refused.reason.contains("0000000000c0ffee"), "{refused:?}");
    assert!(probes.observed(other).is_err());
    probes.abandon(other);
    assert!(!taken().contains(&"stop cpu".to_owned()), "another trial's end has no effect");
    probes.abandon(TOKEN);
    assert!(taken().contains(&"stop cpu".to_owned()));
    assert!(probes.observed(TOKEN).is_err(), "results are discarded");
}
