//! Faults in a fleet, caused and repaired.

use std::time::Duration;

use super::{Course, HOSTS};
use crate::kills::{kill, sent};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    KilledController,
    StoppedController,
    /// The second one resumes the run as soon as the database has crashed under the first and is back: either may get the run.
    SecondController,
    KilledMember,
    StoppedMember,
    KilledAgent,
    StoppedAgent,
    /// A host's bridge port is down.
    PulledCable,
    KilledServer,
    StoppedServer,
    CrashedDatabase,
    StoppedDatabase,
    /// Two halves of the hosts cannot reach each other; all of them reach the NATS server.
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

    pub(super) fn make(self, course: &mut Course, lasts: Duration) {
        let host = course.random.below(HOSTS);
        match self {
            Self::KilledController => {
                course
                    .controllers
                    .iter_mut()
                    .for_each(|(_, controller)| controller.0.kill().expect("own file"));
            }
            Self::StoppedController => {
                let controllers: Vec<_> =
                    course.controllers.iter().map(|(_, controller)| controller.0.id()).collect();
                stop(course, &controllers, lasts);
            }
            Self::SecondController => {
                crash_database(course, lasts);
                course.start();
            }
            Self::KilledMember => {
                let member = &mut course.fleet.members[host].0;
                member.kill().and_then(|()| member.wait()).expect("own file");
                course.pass(lasts);
                course.fleet.members[host] = course.fleet.member(host, &format!("m{host}"));
            }
            Self::StoppedMember => {
                let member = course.fleet.members[host].0.id();
                stop(course, &[member], lasts);
            }
            Self::KilledAgent => {
                course.fleet.network.agents(host).into_iter().for_each(|agent| {
                    // It may have just exited by itself.
                    let _ = kill(agent);
                });
            }
            Self::StoppedAgent => {
                let agents = course.fleet.network.agents(host);
                stop(course, &agents, lasts);
            }
            Self::PulledCable => {
                course.fleet.network.cable(host, "down");
                course.pass(lasts);
                course.fleet.network.cable(host, "up");
            }
            Self::KilledServer => {
                course.fleet.server = None;
                course.pass(lasts);
                course.fleet.start_server();
            }
            Self::StoppedServer => {
                let server = course.fleet.server.as_ref().expect("it runs").0.id();
                stop(course, &[server], lasts);
            }
            Self::CrashedDatabase => crash_database(course, lasts),
            Self::StoppedDatabase => {
                course.store.signal("STOP");
                course.pass(lasts);
                course.store.signal("CONT");
            }
            Self::PartedHosts => {
                let other = (host + 1 + course.random.below(HOSTS - 1)) % HOSTS;
                let (half, others): (Vec<_>, Vec<_>) =
                    (0..HOSTS).partition(|place| [host, other].contains(place));
                course.fleet.network.part([&half, &others]);
                course.pass(lasts);
                course.fleet.network.join();
            }
        }
    }
}

fn crash_database(course: &mut Course, lasts: Duration) {
    course.store.crash();
    course.pass(lasts);
    course.store.start(&[]);
}

/// A process that dies in that time is not our child or is still held by its guard, so its pid is not reused yet.
fn stop(course: &mut Course, processes: &[u32], lasts: Duration) {
    // It may have just exited by itself.
    let send = |name| processes.iter().filter(|pid| !sent(**pid, name)).count();
    let _ = send("STOP");
    course.pass(lasts);
    let _ = send("CONT");
}
