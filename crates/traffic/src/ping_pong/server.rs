//! The end that returns every message.

use std::net::{TcpListener, UdpSocket};

use load::{PingPongLoad, Transport};
use samples::{PingPongData, SocketFacts, ThreadCpu};

use super::{check, tcp, udp};
use crate::{
    crew::{self, Job, Shared},
    ends::Outcome,
    error::Result,
    gather,
    observer::Observer,
    spec::ServerSpec,
    stop::Stop,
};

/// A server of one ping-pong, listening.
#[derive(Debug)]
pub(crate) struct Server {
    spec: ServerSpec<PingPongLoad>,
    port: u16,
    socket: Listening,
}

#[derive(Debug)]
enum Listening {
    Tcp(TcpListener),
    Udp(UdpSocket),
}

impl Server {
    /// Listens on a port of the kernel's choice.
    ///
    /// # Errors
    /// When the address is not this machine's, or the kernel lacks the congestion control.
    pub(crate) fn open(spec: ServerSpec<PingPongLoad>) -> Result<Self> {
        check(&spec.load)?;
        let (socket, port) = match spec.load.transport {
            Transport::Tcp => {
                let listener = gather::listen(spec.bind, spec.load.socket.congestion.as_deref())?;
                let port = gather::port(listener.local_addr())?;
                (Listening::Tcp(listener), port)
            }
            Transport::Udp => {
                let socket = udp::bind(spec.bind)?;
                let port = gather::port(socket.local_addr())?;
                (Listening::Udp(socket), port)
            }
        };
        Ok(Self { spec, port, socket })
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
    pub(crate) fn run(self, stop: &Stop, observer: &dyn Observer) -> Result<Outcome> {
        let spec = &self.spec;
        let end = match self.socket {
            Listening::Tcp(listener) => ServerEnd::Tcp(tcp::Server::accept(&listener, spec, stop)?),
            Listening::Udp(socket) => ServerEnd::Udp(udp::Server::meet(socket, spec, stop)?),
        };
        let shared = Shared::new(stop);
        let work = || {
            if let Some(cpus) = &spec.cpus {
                sys::affinity::pin_thread(cpus)?;
            }
            shared.wait_for_start()?;
            match end {
                ServerEnd::Tcp(server) => server.run(spec, &shared),
                ServerEnd::Udp(server) => server.run(spec, &shared),
            }
        };
        let job = Job { name: format!("pong {}:{}", spec.bind, self.port), work: Box::new(work) };
        let mut outcomes = crew::run(vec![job], &shared, observer)?;
        Ok(outcomes.remove(0))
    }
}

enum ServerEnd {
    Tcp(tcp::Server),
    Udp(udp::Server),
}

/// A server measures nothing but its own CPU time.
pub(super) fn outcome(thread: ThreadCpu, socket: SocketFacts) -> Outcome {
    let data = PingPongData { server: socket, ..PingPongData::default() };
    Outcome { ping_pong: Some(data), threads: vec![thread], ..Outcome::default() }
}
