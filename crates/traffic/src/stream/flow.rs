//! One end of a connection that is ready to transfer data, for every protocol.

use std::{
    net::{SocketAddr, TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
};

use workload::{Direction, SocketFacts, StreamSettings};

use super::udp::{DatagramFormat, Opening};
use crate::{
    observer::FlowId,
    socket::{tcp_facts, udp_facts},
};

pub const CLIENT: &str = "client";
pub const SERVER: &str = "server";

#[derive(Debug)]
pub struct Flow<'a> {
    pub id: u32,
    pub direction: Direction,
    pub end: &'static str,
    pub name: String,
    pub socket: FlowSocket,
    pub load: &'a StreamSettings,
    pub cpu: Option<u32>,
    pub share: Option<u64>,
    pub start: Start,
    pub finish: Finish<'a>,
}

#[derive(Debug)]
pub enum FlowSocket {
    Tcp(TcpStream),
    Udp(UdpSocket, DatagramFormat),
}

impl FlowSocket {
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(socket) => socket.peer_addr().ok(),
            Self::Udp(socket, _) => socket.peer_addr().ok(),
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub enum Start {
    Go,
    Opening(Opening),
    Now,
}

#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// The sender half-closes the connection or sends the number of datagrams, and then waits until the
    /// receiver has everything.
    HalfClose,
    /// A control connection ends the stream. The sender stops when everything is sent or the flag is set. The
    /// receiver stops when the sender has closed, or when the flag is set and the data in flight has arrived.
    External(&'a EndFlag),
}

/// Once this is set, a receiver continues only while data arrives, for at most half a second.
#[derive(Debug, Default)]
pub struct EndFlag(AtomicBool);

impl EndFlag {
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Flow<'_> {
    pub fn name_of(direction: Direction, id: u32, peer: Option<SocketAddr>) -> String {
        let peer = peer.map_or_else(|| "its peer".into(), |peer| peer.to_string());
        let way = if direction == Direction::Reverse { "reverse" } else { "forward" };
        format!("connection {id} ({way}) with {peer}")
    }

    pub(super) fn thread_name(&self) -> String {
        let way = if self.direction == Direction::Reverse { "rev" } else { "fwd" };
        format!("stream {} {way}", self.id)
    }

    pub(super) fn is_server(&self) -> bool {
        self.end == SERVER
    }

    pub(super) fn sends(&self) -> bool {
        self.is_server() == (self.direction == Direction::Reverse)
    }

    pub(super) fn flow_id(&self) -> FlowId {
        FlowId { id: self.id, direction: self.direction, sends: self.sends() }
    }

    #[inline]
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.finish, Finish::External(end) if end.is_set())
    }

    pub(super) const fn is_ended_from_outside(&self) -> bool {
        matches!(self.finish, Finish::External(_))
    }

    pub(super) fn facts(&self) -> SocketFacts {
        let cpus = self.cpu.as_ref().map(std::slice::from_ref);
        match &self.socket {
            FlowSocket::Tcp(socket) => tcp_facts(socket, cpus),
            FlowSocket::Udp(socket, _) => udp_facts(socket, cpus),
        }
    }
}
