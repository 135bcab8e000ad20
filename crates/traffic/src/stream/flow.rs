//! One end of a connection, ready to transfer data, and the engine that runs all flows, for every protocol.

use std::{
    net::{SocketAddr, TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
};

use samples::ThreadCpu;
use workload::{Direction, FlowEnd, SocketFacts, StreamEnd, StreamSettings};

use super::{
    tcp,
    udp::{self, DatagramFormat},
};
use crate::{
    error::Result,
    observer::{FlowId, Observer},
    outcome::StreamOutcome,
    socket::{tcp_facts, udp_facts},
    stop::Stop,
    workers::{self, Job, SharedState},
};

/// Name of the connecting end.
pub const CLIENT: &str = "client";
/// Name of the listening end.
pub const SERVER: &str = "server";

/// One end of a connection.
#[derive(Debug)]
pub struct Flow<'a> {
    /// Index within its direction, from 0.
    pub id: u32,
    /// Never `both`.
    pub direction: Direction,
    /// [`CLIENT`] or [`SERVER`].
    pub end: &'static str,
    /// For errors.
    pub name: String,
    pub socket: FlowSocket,
    /// Settings; direction and number of streams are ignored.
    pub load: &'a StreamSettings,
    /// CPU to which its thread is pinned.
    pub cpu: Option<u32>,
    /// Bytes to transfer, if the load has a byte limit.
    pub share: Option<u64>,
    /// Handshake before the first byte.
    pub start: Start,
    /// How it ends.
    pub finish: Finish<'a>,
}

/// Socket of a flow. Use `try_clone` to keep access to it.
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

/// Handshake before the first byte.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// The server starts the client, with one byte over TCP.
    Go,
    /// The client starts, over UDP, with this opening, which the server knows.
    Opening(udp::Opening),
    /// None: both ends start by themselves.
    Now,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// In-band: the sender half-closes or sends the number of datagrams, then waits until the receiver has
    /// everything.
    HalfClose,
    /// By a control connection. A sender ends with its load or when the flag is set. A receiver ends when the flag is
    /// set and data in flight has arrived, or when the sender has closed. The socket stays open.
    External(&'a EndFlag),
}

/// Flag by which a protocol's control connection ends its streams. Set it after the peer was asked to stop: a
/// receiver continues while data arrives, for at most half a second.
#[derive(Debug, Default)]
pub struct EndFlag(AtomicBool);

impl EndFlag {
    /// Sets the flag; streams end within 100 ms.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs all flows of an end, with a thread each; results have the same order.
///
/// # Errors
///
/// The first failure, after which all flows are stopped.
pub fn run(flows: Vec<Flow<'_>>, stop: &Stop, observer: &dyn Observer) -> Result<StreamOutcome> {
    let shared = &SharedState::new(stop);
    let mut jobs = Vec::with_capacity(flows.len());
    for flow in flows {
        let (name, thread) = (flow.name.clone(), flow.thread_name());
        jobs.push(Job { name, thread, work: Box::new(move || flow.run(shared)) });
    }
    let (flows, threads) = workers::run(jobs, shared, observer)?.into_iter().unzip();
    Ok(StreamOutcome { measured: StreamEnd { flows }, threads })
}

impl Flow<'_> {
    /// Name of a connection in errors.
    pub fn name_of(direction: Direction, id: u32, peer: Option<SocketAddr>) -> String {
        let peer = peer.map_or_else(|| "its peer".into(), |peer| peer.to_string());
        let way = if direction == Direction::Reverse { "reverse" } else { "forward" };
        format!("connection {id} ({way}) with {peer}")
    }

    /// Fits into the kernel's thread names.
    fn thread_name(&self) -> String {
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

    /// Prepares, waits for the other flows, and transfers.
    fn run(self, shared: &SharedState<'_>) -> Result<(FlowEnd, ThreadCpu)> {
        if let Some(cpu) = self.cpu {
            sys::affinity::pin_thread(&[cpu])?;
        }
        let flowed = match &self.socket {
            FlowSocket::Tcp(socket) => tcp::run(&self, socket, shared),
            FlowSocket::Udp(socket, format) => udp::run(&self, socket, *format, shared),
        };
        let (series, thread) = flowed?;
        Ok((FlowEnd { id: self.id, direction: self.direction, series }, thread))
    }
}
