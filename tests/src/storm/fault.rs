//! Faults in a fleet, caused and then repaired.

use std::time::Duration;

use super::{FaultRun, HOSTS};
use crate::kills::{kill, sent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    KilledController,
    StoppedController,
    /// The database crashes under the first controller. When the database is back, a second controller resumes the run.
    /// Either controller may get the run.
    SecondController,
    KilledMember,
    StoppedMember,
    KilledAgent,
    StoppedAgent,
    PulledCable,
    KilledServer,
    StoppedServer,
    CrashedDatabase,
    StoppedDatabase,
    /// Two halves of the hosts cannot reach each other, but all can reach the NATS server.
    PartedHosts,
}

impl Fault {
    pub const ALL: [Self; 13] = [
        Self::KilledController,
        Self::StoppedController,
        Self::SecondController,
        Self::KilledMember,
        Self::StoppedMember,
        Self::KilledAgent,
        Self::StoppedAgent,
        Self::PulledCable,
        Self::KilledServer,
        Self::StoppedServer,
        Self::CrashedDatabase,
        Self::StoppedDatabase,
        Self::PartedHosts,
    ];

    /// Causes the fault and repairs it after this time. Until then, the run is resumed whenever it exits.
    pub(super) fn make(self, fault_run: &mut FaultRun, lasts: Duration) {
        let host = fault_run.random.below(HOSTS);
        match self {
            Self::KilledController => {
                fault_run
                    .controllers
                    .iter_mut()
                    .for_each(|(_, controller)| controller.0.kill().expect("own file"));
            }
            Self::StoppedController => {
                let controllers: Vec<_> =
                    fault_run.controllers.iter().map(|(_, controller)| controller.0.id()).collect();
                stop(fault_run, &controllers, lasts);
            }
            Self::SecondController => {
                crash_database(fault_run, lasts);
                fault_run.start();
            }
            Self::KilledMember => {
                let member = &mut fault_run.fleet.members[host].0;
                member.kill().and_then(|()| member.wait()).expect("own file");
                fault_run.pass(lasts);
                fault_run.fleet.members[host] = fault_run.fleet.member(host, &format!("m{host}"));
            }
            Self::StoppedMember => {
                let member = fault_run.fleet.members[host].0.id();
                stop(fault_run, &[member], lasts);
            }
            Self::KilledAgent => {
                fault_run.fleet.network.agents(host).into_iter().for_each(|agent| {
                    let _ = kill(agent);
                });
            }
            Self::StoppedAgent => {
                let agents = fault_run.fleet.network.agents(host);
                stop(fault_run, &agents, lasts);
            }
            Self::PulledCable => {
                fault_run.fleet.network.cable(host, "down");
                fault_run.pass(lasts);
                fault_run.fleet.network.cable(host, "up");
            }
            Self::KilledServer => {
                fault_run.fleet.server = None;
                fault_run.pass(lasts);
                fault_run.fleet.start_server();
            }
            Self::StoppedServer => {
                let server = fault_run.fleet.server.as_ref().expect("it runs").0.id();
                stop(fault_run, &[server], lasts);
            }
            Self::CrashedDatabase => crash_database(fault_run, lasts),
            Self::StoppedDatabase => {
                fault_run.store.signal("STOP");
                fault_run.pass(lasts);
                fault_run.store.signal("CONT");
            }
            Self::PartedHosts => {
                let other = (host + 1 + fault_run.random.below(HOSTS - 1)) % HOSTS;
                let (half, others): (Vec<_>, Vec<_>) =
                    (0..HOSTS).partition(|place| [host, other].contains(place));
                fault_run.fleet.network.part([&half, &others]);
                fault_run.pass(lasts);
                fault_run.fleet.network.join();
            }
        }
    }
}

fn crash_database(fault_run: &mut FaultRun, lasts: Duration) {
    fault_run.store.crash();
    fault_run.pass(lasts);
    fault_run.store.start(&[]);
}

/// A child that has ended keeps its PID until its guard reaps it, so no signal reaches a later process.
fn stop(fault_run: &mut FaultRun, processes: &[u32], lasts: Duration) {
    // A process may have just exited on its own.
    let send = |name| processes.iter().filter(|pid| !sent(**pid, name)).count();
    let _ = send("STOP");
    fault_run.pass(lasts);
    let _ = send("CONT");
}
