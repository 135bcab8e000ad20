//! The channel through which a client's thread receives further connections and datagrams.

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

pub(super) enum Ingress {
    Streams(StreamIngress),
    Requests(RequestIngress),
    Datagrams(Conversation),
}

impl Ingress {
    pub(super) const fn is_unproven(&self) -> bool {
        matches!(self, Self::Datagrams(Conversation { protocol: DatagramProtocol::Sockperf, .. }))
    }
}

#[derive(Clone)]
pub(super) struct Conversation {
    pub(super) peer: SocketAddr,
    pub(super) protocol: DatagramProtocol,
    pub(super) counts: Arc<SharedCounts>,
}

impl Conversation {
    pub(super) fn new(peer: SocketAddr, protocol: DatagramProtocol) -> Self {
        Self { peer, protocol, counts: Arc::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DatagramProtocol {
    Native(Greeting),
    Sockperf,
}

pub(super) struct RequestIngress {
    pub(super) token: u64,
    pub(super) peer: IpAddr,
    pub(super) arrivals: SyncSender<(TcpStream, Handshake)>,
}

impl RequestIngress {
    pub(super) fn new(token: u64, peer: IpAddr, count: usize) -> (Self, Receiver<(TcpStream, Handshake)>) {
        let (arrivals, arriving) = sync_channel(count);
        (Self { token, peer, arrivals }, arriving)
    }
}

pub(super) struct StreamIngress {
    pub(super) cookie: Cookie,
    pub(super) transport: Transport,
    pub(super) peer: IpAddr,
    pub(super) local: SocketAddr,
    gathering: Arc<AtomicBool>,
    pub(super) arrivals: SyncSender<DataConnection>,
}

impl StreamIngress {
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

    pub(super) fn gathering(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.gathering)
    }
}
