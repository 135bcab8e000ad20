//! One end of one connection, ready to flow, and how all of them are run: the engine of every protocol.

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

/// How the end that connects is called.
pub const CLIENT: &str = "client";
/// How the end that listens is called.
pub const SERVER: &str = "server";

/// One end of one connection.
#[derive(Debug)]
pub struct Flow<'a> {
    /// Its number among those of its direction, from 0.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// Which end this is: [`CLIENT`] or [`SERVER`].
    pub end: &'static str,
    /// For errors.
    pub name: String,
    /// Connected.
    pub socket: FlowSocket,
    /// What flows. Its direction and its number of streams are not looked at.
    pub load: &'a StreamSettings,
    /// The only CPU that its thread may run on.
    pub cpu: Option<u32>,
    /// Bytes that it carries, where the load ends with an amount.
    pub share: Option<u64>,
    /// What both ends say before the first byte.
    pub start: Start,
    /// How it ends.
    pub finish: Finish<'a>,
}

/// What a connection flows over. Whoever needs it afterwards keeps a `try_clone`.
#[derive(Debug)]
pub enum FlowSocket {
    /// A connection.
    Tcp(TcpStream),
    /// A connected socket, and how its datagrams are numbered.
    Udp(UdpSocket, DatagramFormat),
}

impl FlowSocket {
    /// Whom it is connected to.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(socket) => socket.peer_addr().ok(),
            Self::Udp(socket, _) => socket.peer_addr().ok(),
        }
    }
}

/// What both ends say before the first byte.
#[derive(Debug, Clone, Copy)]
pub enum Start {
    /// The server lets the client begin: one byte over TCP.
    Go,
    /// The client begins, over UDP, with this opening, which the server knows.
    Opening(udp::Opening),
    /// Nothing: both know that it begins.
    Now,
}

/// How a connection ends.
#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// In itself: the sender half-closes, or says by a datagram how many it has sent, and waits until the
    /// receiver has everything.
    HalfClose,
    /// From outside. A sender ends when the load does, or once the flag is raised; a receiver once it is, when what is
    /// under way has come, or when its sender has closed. Nothing is closed.
    External(&'a EndFlag),
}

/// A flag by which a protocol's control connection ends the record of its streams. Raise it after the peer was
/// told to stop: a receiver goes on for as long as something comes, for half a second at most.
#[derive(Debug, Default)]
pub struct EndFlag(AtomicBool);

impl EndFlag {
    /// Ends them, within 100 ms.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs all flows of one end, a thread each; what they recorded is in the same order.
///
/// # Errors
/// The first failure, after which the others are ended.
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
    /// How a connection is called in errors.
    pub fn name_of(direction: Direction, id: u32, peer: Option<SocketAddr>) -> String {
        let peer = peer.map_or_else(|| "its peer".into(), |peer| peer.to_string());
        let way = if direction == Direction::Reverse { "reverse" } else { "forward" };
        format!("connection {id} ({way}) with {peer}")
    }

    /// As short as the kernel's names of threads.
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
        matches!(self.finish, Finish::External(end) if end.is_raised())
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

    /// Prepares, waits for the others and flows.
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
