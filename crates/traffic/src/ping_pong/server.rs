//! The end that returns every message.

use std::{
    cell::RefCell,
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
};

use samples::ThreadRole;
use sys::clock::monotonic;
use workload::{MessagesEnd, PingPongEnd, PingPongSettings, StreamEnd, Transport, Waiting};

use super::{
    GRACE, check,
    client::pin,
    echo::{self, Patience},
    greeting::Greeting,
    message_socket::{Carrier, Inbox, MessageSocket},
    tcp, udp,
    under::{self, BackgroundStream},
};
use crate::{
    bounds::{Bounds, Guard},
    error::Result,
    gather,
    observer::Observer,
    outcome::Outcome,
    refused::RefusalCode,
    socket::{TICK, limit_waits},
    spec::ServerSpec,
    stop::Stop,
    workers::{self, CpuMeter, Job, SharedState},
};

/// How its threads are called.
const END: &str = "server";
/// How often a port is looked for that is free for both TCP and UDP.
const TRIES: u32 = 32;

/// A server of one ping-pong, listening.
#[derive(Debug)]
pub(crate) struct Server {
    spec: ServerSpec<PingPongSettings>,
    port: u16,
    /// For messages over TCP, and for a stream beside them.
    listener: Option<TcpListener>,
    /// For messages over UDP.
    socket: Option<UdpSocket>,
}

impl Server {
    /// Listens on the port that is asked for, or one of the kernel's choice; on the same one for TCP and UDP where
    /// both are needed.
    ///
    /// # Errors
    /// When a setting is invalid, the address is not this machine's, or the kernel lacks what was asked.
    pub(crate) fn open(spec: ServerSpec<PingPongSettings>) -> Result<Self> {
        check(&spec.load)?;
        if spec.load.transport == Transport::Udp && spec.load.under.is_none() {
            let asked = spec.load.socket.server_port.unwrap_or(0);
            let socket = udp::bind(SocketAddr::new(spec.bind, asked), &spec.load.socket)?;
            let port = gather::port(socket.local_addr())?;
            return Ok(Self { spec, port, listener: None, socket: Some(socket) });
        }
        for _ in 1..TRIES {
            if let Ok(server) = Self::listen(&spec) {
                return Ok(server);
            }
        }
        Self::listen(&spec)
    }

    fn listen(spec: &ServerSpec<PingPongSettings>) -> Result<Self> {
        let listener = gather::listen(spec.bind, &spec.load.socket)?;
        let port = gather::port(listener.local_addr())?;
        let socket = match spec.load.transport {
            Transport::Tcp => None,
            Transport::Udp => Some(udp::bind(SocketAddr::new(spec.bind, port), &spec.load.socket)?),
        };
        Ok(Self { spec: spec.clone(), port, listener: Some(listener), socket })
    }

    /// Where clients connect.
    #[must_use]
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    /// Awaits the one client and returns its messages until it ends.
    ///
    /// # Errors
    /// When no client comes, or it neither ends nor continues.
    pub(crate) fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome<PingPongEnd>> {
        let Self { spec, listener, socket, .. } = self;
        let (beside, connection) = match listener {
            Some(listener) => BackgroundStream::gather(&listener, &spec, stop)?,
            None => (BackgroundStream::default(), None),
        };
        let socket = match (connection, socket) {
            (Some(connection), _) => tcp::accepted(connection, &spec.load)?,
            (None, Some(socket)) => udp::meet(socket, &spec, stop)?,
            (None, None) => unreachable!("a server of messages over TCP awaits their connection"),
        };
        beside.while_playing(stop, || serve(&socket, &spec, stop, observer))
    }
}

fn serve(
    socket: &MessageSocket,
    spec: &ServerSpec<PingPongSettings>,
    stop: &Stop,
    observer: &dyn Observer,
) -> Result<Outcome<PingPongEnd>> {
    let load = &spec.load;
    let inbox = socket.inbox(Some(load.message.0 as usize));
    let limit = monotonic() + (under::lead(load) + load.warmup + load.duration + GRACE).0;
    let cpus = spec.cpus.as_deref();
    let shared = SharedState::new(stop);
    let job = Pong { socket, inbox, token: spec.token, patience: Patience::Until(limit), cpus };
    crew_of_one(job, &shared, observer)
}

/// Returns what a client sends over a connection that it has opened with a handshake, until it closes it or is
/// silent for too long. Messages may have any length. Lets the client begin.
///
/// # Errors
/// When the connection fails, the client takes more than `bounds` grant, or it was asked to stop.
pub fn serve_tcp(socket: TcpStream, bounds: Bounds, stop: &Stop) -> Result<Outcome<PingPongEnd>> {
    limit_waits(&socket, TICK)?;
    sys::socket::set_nodelay(&socket, true)?;
    let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    let socket =
        MessageSocket::new(Carrier::Tcp(socket), Waiting::Block, format!("the TCP ping-pong with {peer}"));
    serve_any(&socket, 0, bounds, stop)
}

/// Welcomes a client and returns its datagrams, until the closing one or until it is silent for too long. The
/// socket is connected to the client, which has proved with `said` that it hears what is sent there.
///
/// # Errors
/// When the socket fails, the client takes more than `bounds` grant, or it was asked to stop.
pub fn serve_udp(
    socket: UdpSocket,
    said: Greeting,
    bounds: Bounds,
    stop: &Stop,
) -> Result<Outcome<PingPongEnd>> {
    limit_waits(&socket, TICK)?;
    let socket = udp::welcome(socket, said, Waiting::Block)?;
    serve_any(&socket, said.handshake.token, bounds, stop)
        .inspect_err(|error| udp::dismiss(&socket, said, RefusalCode::of(error)))
}

fn serve_any(
    socket: &MessageSocket,
    token: u64,
    bounds: Bounds,
    stop: &Stop,
) -> Result<Outcome<PingPongEnd>> {
    let shared = SharedState::new(stop);
    let patience = Patience::Bounds(RefCell::new(Guard::new(bounds, stop, monotonic())));
    let job = Pong { socket, inbox: socket.inbox(None), token, patience, cpus: None };
    job.run(&shared)
}

/// The work of a server's thread.
struct Pong<'a> {
    socket: &'a MessageSocket,
    inbox: Inbox,
    token: u64,
    patience: Patience<'a>,
    cpus: Option<&'a [u32]>,
}

impl Pong<'_> {
    fn run(self, shared: &SharedState<'_>) -> Result<Outcome<PingPongEnd>> {
        let Self { socket, inbox, token, patience, cpus } = self;
        tcp::give_go(socket)?;
        let spent = CpuMeter::from_now();
        let seen = echo::run(socket, inbox, token, &patience, || shared.check())?;
        let thread = spent.until_now(END, ThreadRole::Pong);
        let mut server = socket.facts(cpus);
        server.ran_on = seen.list();
        let measured = PingPongEnd { messages: MessagesEnd::Server(server), beside: StreamEnd::default() };
        Ok(Outcome { measured, threads: vec![thread] })
    }
}

fn crew_of_one<'a>(
    pong: Pong<'a>,
    shared: &'a SharedState<'a>,
    observer: &dyn Observer,
) -> Result<Outcome<PingPongEnd>> {
    let (name, thread) = (pong.socket.name().to_owned(), pong.socket.thread_name("pong"));
    let work = move || {
        pin(pong.cpus, 0)?;
        shared.wait_for_start()?;
        pong.run(shared)
    };
    let mut outcomes = workers::run(vec![Job { name, thread, work: Box::new(work) }], shared, observer)?;
    Ok(outcomes.remove(0))
}
