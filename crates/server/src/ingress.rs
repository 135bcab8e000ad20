//! How further connections and datagrams of a client reach its thread.

use std::{
    net::{IpAddr, SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use codecs::iperf3::Cookie;
use traffic::{handshake::Handshake, ping_pong::Greeting};
use workload::Transport;

use crate::{iperf3::server::DataConnection, sockperf::SharedCounts};

/// How further connections of a client reach its thread.
pub(super) enum Ingress {
    Streams(StreamIngress),
    /// Connections for one request each.
    Requests(RequestIngress),
    /// Datagrams received on the shared socket before the client's socket was connected.
    Datagrams(Conversation),
}

impl Ingress {
    /// Whether its protocol lacks address verification.
    pub(super) const fn is_unproven(&self) -> bool {
        matches!(self, Self::Datagrams(Conversation { protocol: DatagramProtocol::Sockperf, .. }))
    }
}

/// Datagram exchange with one peer.
#[derive(Clone)]
pub(super) struct Conversation {
    pub(super) peer: SocketAddr,
    pub(super) protocol: DatagramProtocol,
    /// Counts of datagrams answered on the shared socket.
    pub(super) counts: Arc<SharedCounts>,
}

impl Conversation {
    pub(super) fn new(peer: SocketAddr, protocol: DatagramProtocol) -> Self {
        Self { peer, protocol, counts: Arc::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DatagramProtocol {
    /// The plumb protocol. The greeting has verified the address.
    Native(Greeting),
    Sockperf,
}

/// Receives single-request connections.
pub(super) struct RequestIngress {
    pub(super) token: u64,
    pub(super) peer: IpAddr,
    pub(super) arrivals: SyncSender<(TcpStream, Handshake)>,
}

impl RequestIngress {
    /// At most `count` connections may wait.
    pub(super) fn new(token: u64, peer: IpAddr, count: usize) -> (Self, Receiver<(TcpStream, Handshake)>) {
        let (arrivals, arriving) = sync_channel(count);
        (Self { token, peer, arrivals }, arriving)
    }
}

/// Receives the data connections of an iperf3 test.
pub(super) struct StreamIngress {
    pub(super) cookie: Cookie,
    pub(super) transport: Transport,
    pub(super) peer: IpAddr,
    pub(super) local: SocketAddr,
    /// Whether connections are still missing.
    gathering: Arc<AtomicBool>,
    pub(super) arrivals: SyncSender<DataConnection>,
}

impl StreamIngress {
    /// The sender and receiver for `count` data connections.
    pub(super) fn new(
        cookie: Cookie,
        transport: Transport,
        (peer, local): (SocketAddr, SocketAddr),
        count: usize,
    ) -> (Self, Receiver<DataConnection>) {
        let (arrivals, arriving) = sync_channel(count);
        let gathering = Arc::new(AtomicBool::new(true));
        (Self { cookie, transport, peer: peer.ip(), local, gathering, arrivals }, arriving)
    }

    pub(super) fn is_gathering(&self) -> bool {
        self.gathering.load(Ordering::Relaxed)
    }

    /// Shared flag behind [`Self::is_gathering`].
    pub(super) fn gathering(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.gathering)
    }
}
