//! What was agreed, in the document.

use std::net::SocketAddr;

use jiff::{Timestamp as Moment, tz::TimeZone};
use load::{Direction, Transport};
use units::Bytes;
use wire::iperf3::output::{Connected, Endpoint, Start, TestStart, Timestamp};

use super::{Facts, Role, signed};

/// How iperf3 numbers its first stream's socket, mostly: what programs see is a name.
pub(super) const FIRST_SOCKET: i64 = 5;

impl Facts<'_> {
    /// Who talked to whom about what.
    pub(super) fn start(&self) -> Start {
        let params = self.params;
        let (server, client) = match self.role {
            Role::Client { server } => (Some(endpoint(server)), None),
            Role::Server { client } => (None, Some(endpoint(client))),
        };
        let socket = self.here.flows.first().map(|flow| &flow.series.socket);
        let size = |bytes: Option<Bytes>| bytes.map(|bytes| signed(bytes.0));
        let mss = (params.mss > 0).then_some(params.mss);
        let connections = self.connections.iter().zip(FIRST_SOCKET..);
        Start {
            connected: connections.map(|(of, socket)| connected(socket, of.local, of.remote)).collect(),
            version: Some(concat!("plumb ", env!("CARGO_PKG_VERSION")).to_owned()),
            system_info: Some(format!("Linux {} {}", sys::uname::kernel_release(), sys::uname::machine())),
            timestamp: Some(timestamp(self.started.0)),
            connecting_to: server,
            accepted_connection: client,
            cookie: Some(self.cookie.to_owned()),
            tcp_mss: mss,
            tcp_mss_default: self.control_mss.map(i64::from).filter(|_| mss.is_none()),
            target_bitrate: Some(params.bandwidth),
            fq_rate: Some(params.fqrate),
            sock_bufsize: Some(params.window),
            sndbuf_actual: size(socket.and_then(|facts| facts.send_buffer)),
            rcvbuf_actual: size(socket.and_then(|facts| facts.receive_buffer)),
            test_start: Some(self.test_start()),
        }
    }

    fn test_start(&self) -> TestStart {
        let params = self.params;
        let protocol = if self.load.transport == Transport::Udp { "UDP" } else { "TCP" };
        TestStart {
            protocol: protocol.to_owned(),
            num_streams: i64::from(self.load.streams),
            blksize: signed(self.load.message.0),
            omit: params.omit,
            duration: params.time,
            bytes: params.num,
            blocks: params.blockcount,
            reverse: i64::from(self.load.direction == Direction::Reverse),
            tos: Some(params.tos),
            target_bitrate: Some(params.bandwidth),
            bidir: Some(i64::from(self.load.direction == Direction::Both)),
            fqrate: Some(params.fqrate),
            interval: Some(self.every.seconds()),
            ..TestStart::default()
        }
    }
}

/// `Sat, 21 Nov 2026 14:58:35 GMT`.
fn timestamp(millis: i64) -> Timestamp {
    let moment = Moment::from_millisecond(millis).map(|moment| moment.to_zoned(TimeZone::UTC));
    let time = moment.map(|moment| moment.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string());
    Timestamp { time: time.unwrap_or_default(), timesecs: millis / 1000, timemillisecs: Some(millis) }
}

fn endpoint(address: SocketAddr) -> Endpoint {
    Endpoint { host: address.ip().to_canonical().to_string(), port: address.port() }
}

fn connected(socket: i64, local: SocketAddr, remote: SocketAddr) -> Connected {
    let (here, there) = (endpoint(local), endpoint(remote));
    Connected {
        socket,
        local_host: here.host,
        local_port: here.port,
        remote_host: there.host,
        remote_port: there.port,
    }
}
