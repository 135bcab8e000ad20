//! Tests how machines that hang during boot are handled, using simulated machines.

use std::{
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    thread,
};

use machine::{Boot, Channel, Condition, MachineError};
use protocol::Hello;

use super::*;
use crate::event::Event;

/// A machine whose agent greets only from start number `greets_at` onwards.
struct Sleepy {
    greets_at: u32,
    starts: Arc<AtomicU32>,
    may_hang: bool,
    boots: bool,
    agents: Vec<UnixStream>,
}

impl Machine for Sleepy {
    fn start(&mut self) -> Result<Channel, MachineError> {
        let start = self.starts.fetch_add(1, Ordering::Relaxed) + 1;
        let (ours, theirs) = UnixStream::pair().expect("a pair");
        let mut agent = protocol::Sender::new(theirs.try_clone().expect("a copy"));
        if start >= self.greets_at {
            agent.send(&FromAgent::Hello(Hello::new("test"))).expect("the channel is open");
        }
        self.agents.push(theirs);
        Ok(Channel { from_agent: Box::new(ours.try_clone().expect("a copy")), to_agent: Box::new(ours) })
    }

    fn pids(&self) -> Vec<u32> {
        Vec::new()
    }

    fn stop(&mut self) {
        self.agents.clear();
    }

    /// The timeout is short only in tests that expect a timeout, so that a machine on a busy host does not
    /// seem to hang.
    fn boot(&self) -> Boot {
        let greets = self.starts.load(Ordering::Relaxed) >= self.greets_at;
        let patience = if greets { Duration::from_secs(60) } else { Duration::from_millis(200) };
        Boot { patience, own_kernel: self.boots, may_hang: self.may_hang }
    }

    fn condition(&self) -> Condition {
        Condition { last_output: "yawn".to_owned(), ..Condition::default() }
    }
}

fn check(greets_at: u32, may_hang: bool, starts: u32, notice_count: usize, error: Option<&str>) {
    let (host, counted) = (HostName::new("vm0"), Arc::new(AtomicU32::new(0)));
    let sleepy =
        Sleepy { greets_at, starts: Arc::clone(&counted), may_hang, boots: true, agents: Vec::new() };
    let awake = Sleepy { greets_at: 1, starts: Arc::default(), may_hang, boots: true, agents: Vec::new() };
    let machines: Vec<(HostName, Box<dyn Machine>)> =
        vec![(host.clone(), Box::new(sleepy)), (HostName::new("vm1"), Box::new(awake))];
    let (mut notices, mut boots) = (Vec::new(), Vec::new());
    let mut observer = |event: &Event<'_>| match event {
        Event::Notice(text) => notices.push((*text).to_owned()),
        Event::Boots { host } => boots.push(format!("{host} boots")),
        Event::Booted { host, .. } => boots.push(format!("{host} is up")),
        other => panic!("{other:?}"),
    };
    let started = Agents::start(machines, "test", &Stop::new(), &mut observer);
    let count = |what: &str| boots.iter().filter(|event| *event == what).count();
    let up = usize::from(error.is_none());
    assert_eq!((count("vm0 boots"), count("vm0 is up")), (starts as usize, up), "{boots:?}");
    assert!(count("vm1 is up") >= up, "{boots:?}");
    assert_eq!((counted.load(Ordering::Relaxed), notices.len()), (starts, notice_count), "{notices:?}");
    match (started, error) {
        (Ok(agents), None) => {
            assert_eq!(agents.hung_starts(&host), starts - 1);
            assert_eq!(agents.hung_starts(&HostName::new("vm1")), 0);
            assert!(agents.ready_within(&host).is_some());
        }
        (Err(found), Some(error)) => {
            let found = found.to_string();
            assert!(found.contains(error) && found.contains("yawn"), "{found}");
        }
        (started, error) => panic!("{:?} instead of {error:?}", started.err()),
    }
}

#[test]
fn restarts_machine_that_hangs_during_boot_and_reports_it() {
    check(1, true, 1, 0, None);
    check(2, true, 2, 1, None);
    check(3, true, 2, 1, Some("vm0 did not answer the greeting"));
}

#[test]
fn restarts_machine_that_hangs_after_greeting() {
    for may_hang in [true, false] {
        let host = HostName::new("vm0");
        let sleepy =
            Sleepy { greets_at: 1, starts: Arc::default(), may_hang, boots: true, agents: Vec::new() };
        let machines: Vec<(HostName, Box<dyn Machine>)> = vec![(host.clone(), Box::new(sleepy))];
        let mut agents =
            Agents::start(machines, "test", &Stop::new(), &mut |_: &Event<'_>| ()).expect("it greets");
        assert_eq!(agents.start_again(&host).expect("it greets again"), may_hang);
        assert_eq!(agents.hung_starts(&host), u32::from(may_hang));
        assert!(!agents.start_again(&host).expect("no error"), "at most two starts");
    }
}

#[test]
fn does_not_restart_machine_that_cannot_hang() {
    check(2, false, 1, 0, Some("did not answer the greeting"));
}

#[test]
fn boots_at_most_one_machine_per_cpu_at_a_time() {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    for boots in [true, false] {
        let counted = Arc::new(AtomicU32::new(0));
        let machine = |number: usize| -> (HostName, Box<dyn Machine>) {
            let starts = Arc::clone(&counted);
            let sleepy = Sleepy { greets_at: u32::MAX, starts, may_hang: false, boots, agents: Vec::new() };
            (HostName::new(format!("vm{number}")), Box::new(sleepy))
        };
        let machines = (0..=cpus).map(machine).collect();
        assert!(Agents::start(machines, "test", &Stop::new(), &mut |_: &Event<'_>| ()).is_err());
        let expected = if boots { cpus } else { cpus + 1 };
        assert_eq!(counted.load(Ordering::Relaxed) as usize, expected, "boots: {boots}");
    }
}
