//! The ports of a cell's connections where they are fixed. Must not know who binds them.

use sha2::{Digest, Sha256};
use workload::WorkloadSettings;

use crate::names::{PathName, WorkloadName};

/// Clients' first ports begin here: below Linux's own choice (32768 to 60999), above what needs rights or is usual.
const FIRST: u16 = 10_000;
/// How many of them there are. The last leaves room for as many connections as a load may have, both ways (2048).
const CHOICES: u16 = 20_000;
/// Where servers listen.
const SERVER: u16 = 9_000;

/// Gives a load its ports, unless its workload names them: the same in every trial, so that queues, CPUs and links that
/// are chosen by a hash are chosen alike. They follow from path and workload alone: a level of a factor is compared with
/// others of the same path and workload, and luck with the hash would be a difference between them.
///
/// Loads whose every connection has a port of its own keep the kernel's choice.
pub(crate) fn fix(load: &mut WorkloadSettings, path: &PathName, workload: &WorkloadName) {
    if !load.kind().has_fixed_ports() {
        return;
    }
    let digest = Sha256::digest(format!("{path}/{workload}"));
    let chosen = FIRST + u16::from_be_bytes([digest[0], digest[1]]) % CHOICES;
    let Some(socket) = load.kind_mut().socket_mut() else { return };
    socket.source_port.get_or_insert(chosen);
    socket.server_port.get_or_insert(SERVER);
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Nanos;
    use workload::{ConnectSettings, PingPongSettings};

    fn fixed(load: WorkloadSettings, workload: &str) -> (Option<u16>, Option<u16>) {
        let mut load = load;
        fix(&mut load, &PathName::new("a-to-b"), &WorkloadName::new(workload));
        let socket = load.kind().socket().expect("both kinds have sockets");
        (socket.source_port, socket.server_port)
    }

    fn ping(source_port: Option<u16>) -> WorkloadSettings {
        let mut ping = PingPongSettings::new(Nanos::from_secs(1));
        ping.socket.source_port = source_port;
        WorkloadSettings::PingPong(ping)
    }

    #[test]
    fn ports_follow_from_path_and_workload_and_a_written_one_stays() {
        let (first, server) = fixed(ping(None), "ping");
        assert_eq!((first, server), fixed(ping(None), "ping"));
        assert_ne!(first, fixed(ping(None), "other").0);
        assert!(first.is_some_and(|port| (FIRST..30_000).contains(&port)) && server == Some(SERVER));
        assert_eq!(fixed(ping(Some(7)), "ping").0, Some(7));
    }

    #[test]
    fn connections_that_are_made_anew_keep_the_kernels_choice() {
        let connect = WorkloadSettings::Connect(ConnectSettings::new(Nanos::from_secs(1)));
        assert_eq!(fixed(connect, "connect"), (None, None));
    }
}
