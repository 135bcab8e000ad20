//! Server side of a ping-pong, which returns messages.

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
    socket::{TICK, limit_waits},
    spec::ServerSpec,
    stop::Stop,
    workers::{self, CpuMeter, Job, SharedState},
};

const END: &str = "server";
/// Attempts to find a port that is free for both TCP and UDP.
const TRIES: u32 = 32;

#[derive(Debug)]
pub(crate) struct Server {
    spec: ServerSpec<PingPongSettings>,
    port: u16,
    listener: Option<TcpListener>,
    socket: Option<UdpSocket>,
}

impl Server {
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

    #[must_use]
    pub(crate) const fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome<PingPongEnd>> {
        let Self { spec, listener, socket, .. } = self;
        let (background, connection) = match listener {
            Some(listener) => BackgroundStream::gather(&listener, &spec, stop)?,
            None => (BackgroundStream::default(), None),
        };
        let socket = match (connection, socket) {
            (Some(connection), _) => tcp::accepted(connection, &spec.load)?,
            (None, Some(socket)) => udp::await_client(socket, &spec, stop)?,
            (None, None) => unreachable!("a TCP server always waits for the connection"),
        };
        background.while_playing(stop, || serve(&socket, &spec, stop, observer))
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
    single_worker(job, &shared, observer)
}

pub fn serve_tcp(socket: TcpStream, bounds: Bounds, stop: &Stop) -> Result<Outcome<PingPongEnd>> {
    limit_waits(&socket, TICK)?;
    sys::socket::set_nodelay(&socket, true)?;
    let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    let socket =
        MessageSocket::new(Carrier::Tcp(socket), Waiting::Block, format!("the TCP ping-pong with {peer}"));
    serve_any(&socket, 0, bounds, stop)
}

/// Serves a client until its closing datagram arrives or the client goes silent. The socket is connected to the
/// client, and `greeting` has verified the address.
pub fn serve_udp(
    socket: UdpSocket,
    greeting: Greeting,
    bounds: Bounds,
    stop: &Stop,
) -> Result<Outcome<PingPongEnd>> {
    limit_waits(&socket, TICK)?;
    let socket = udp::welcome(socket, greeting, Waiting::Block)?;
    serve_any(&socket, greeting.handshake.token, bounds, stop)
        .inspect_err(|error| udp::dismiss(&socket, greeting, error.refusal()))
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
        let measured =
            PingPongEnd { messages: MessagesEnd::Server(server), background: StreamEnd::default() };
        Ok(Outcome { measured, threads: vec![thread] })
    }
}

fn single_worker<'a>(
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
