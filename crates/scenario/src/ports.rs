//! Assigns fixed ports to a result's connections.

use sha2::{Digest, Sha256};
use workload::WorkloadSettings;

use crate::names::{PathName, WorkloadName};

/// Client ports are above the privileged ports and below Linux's ephemeral range (32768 to 60999).
const FIRST: u16 = 10_000;
/// The number of candidates for the first client port. It leaves room for the maximum of 2048 connections, 1024
/// per direction.
const CHOICES: u16 = 20_000;
const SERVER: u16 = 9_000;

/// Fixed ports give a connection the same hash in every trial, so it always uses the same queues, CPUs and
/// links. The ports depend only on path and workload.
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
    fn derives_ports_from_path_and_workload_unless_set() {
        let (first, server) = fixed(ping(None), "ping");
        assert_eq!((first, server), fixed(ping(None), "ping"));
        assert_ne!(first, fixed(ping(None), "other").0);
        assert!(first.is_some_and(|port| (FIRST..30_000).contains(&port)) && server == Some(SERVER));
        assert_eq!(fixed(ping(Some(7)), "ping").0, Some(7));
    }

    #[test]
    fn leaves_ports_of_short_lived_connections_to_kernel() {
        let connect = WorkloadSettings::Connect(ConnectSettings::new(Nanos::from_secs(1)));
        assert_eq!(fixed(connect, "connect"), (None, None));
    }
}
