//! The start section, with the parameters and connections.

use std::net::SocketAddr;

use codecs::iperf3::output::{ConnectionInfo, Endpoint, Start, TestStart, Timestamp};
use jiff::{Timestamp as Instant, fmt::rfc2822::DateTimePrinter};
use samples::UnixMillis;
use units::Bytes;
use workload::{Direction, Transport};

use super::{Connection, Facts, Role, signed};

/// iperf3 prints file descriptors here. They have no meaning outside its process.
pub(super) const FIRST_SOCKET: i64 = 5;

impl Facts<'_> {
    pub(super) fn start(&self) -> Start {
        let facts = self.here.measured.flows.first().map(|flow| &flow.series.socket);
        let buffer = |bytes: Option<Bytes>| bytes.map(|bytes| signed(bytes.0));
        let tcp = self.load.transport == Transport::Tcp;
        let default_mss = self.control_mss.filter(|_| tcp && self.params.mss == 0);
        let (to, from) = match self.role {
            Role::Client { server } => (Some(server), None),
            Role::Server { client } => (None, Some(client)),
        };
        Start {
            connected: self.connected(),
            version: Some(concat!("plumb ", env!("CARGO_PKG_VERSION")).to_owned()),
            system_info: Some(system()),
            timestamp: Some(timestamp(self.started)),
            connecting_to: to.map(endpoint),
            accepted_connection: from.map(endpoint),
            cookie: Some(self.cookie.to_owned()),
            tcp_mss: (tcp && self.params.mss > 0).then_some(self.params.mss),
            tcp_mss_default: default_mss.map(i64::from),
            target_bitrate: Some(self.params.bandwidth),
            fq_rate: Some(self.params.fqrate),
            sock_bufsize: Some(self.params.window),
            sndbuf_actual: facts.and_then(|facts| buffer(facts.send_buffer)),
            rcvbuf_actual: facts.and_then(|facts| buffer(facts.receive_buffer)),
            test_start: Some(self.test_start()),
        }
    }

    fn connected(&self) -> Vec<ConnectionInfo> {
        let connected = |(connection, socket): (&Connection, i64)| {
            let (local, remote) = (endpoint(connection.local), endpoint(connection.remote));
            ConnectionInfo {
                socket,
                local_host: local.host,
                local_port: local.port,
                remote_host: remote.host,
                remote_port: remote.port,
            }
        };
        self.connections.iter().zip(FIRST_SOCKET..).map(connected).collect()
    }

    fn test_start(&self) -> TestStart {
        let params = self.params;
        TestStart {
            protocol: if params.udp { "UDP" } else { "TCP" }.to_owned(),
            num_streams: i64::from(self.load.streams),
            blksize: signed(self.load.message.0),
            omit: params.omit,
            duration: params.time,
            bytes: params.num,
            blocks: params.blockcount,
            reverse: i64::from(params.reverse),
            tos: Some(params.tos),
            target_bitrate: Some(params.bandwidth),
            bidir: Some(i64::from(self.load.direction == Direction::Both)),
            fqrate: Some(params.fqrate),
            interval: Some(self.every.seconds()),
            gso: None,
            gro: None,
        }
    }
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint { host: address.ip().to_canonical().to_string(), port: address.port() }
}

fn timestamp(at: UnixMillis) -> Timestamp {
    let instant = Instant::from_millisecond(at.0).unwrap_or_default();
    Timestamp {
        time: DateTimePrinter::new().timestamp_to_rfc9110_string(&instant).unwrap_or_default(),
        timesecs: at.0.div_euclid(1000),
        timemillisecs: Some(at.0),
    }
}

fn system() -> String {
    let (host, release, machine) =
        (sys::uname::hostname(), sys::uname::kernel_release(), sys::uname::machine());
    format!("Linux {host} {release} {machine}")
}
