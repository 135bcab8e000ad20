//! Ping-pong over one TCP connection, without delay (TCP_NODELAY).

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
};

use load::PingPongLoad;
use samples::ThreadRole;
use sys::clock::monotonic;

use super::{GRACE, client::Notes, server::outcome};
use crate::{
    crew::{Shared, Spent},
    dial::{self, Dial},
    ends::Outcome,
    error::{Error, Result},
    gather,
    handshake::{Handshake, Purpose},
    socket::{TICK, is_wait, limit_waits, tcp_facts},
    spec::{ClientSpec, ServerSpec},
    stop::Stop,
};

/// The connected client.
pub(super) struct Client {
    socket: TcpStream,
    name: String,
}

impl Client {
    pub(super) fn connect(spec: &ClientSpec<PingPongLoad>, stop: &Stop) -> Result<Self> {
        let congestion = spec.load.socket.congestion.as_deref();
        let dial = Dial { bind: spec.bind, server: spec.server, congestion };
        let handshake = Handshake { token: spec.token, purpose: Purpose::PingPong, number: 0 };
        let socket = dial.connect(handshake, stop)?;
        sys::socket::set_nodelay(&socket, true)?;
        Ok(Self { socket, name: format!("the TCP ping-pong with {}", spec.server) })
    }

    pub(super) fn run(
        self,
        spec: &ClientSpec<PingPongLoad>,
        shared: &Shared<'_>,
    ) -> Result<Outcome> {
        let message = vec![0x5A; spec.load.message.0 as usize];
        dial::await_go(&self.socket, &self.name, || shared.check())?;
        match self.exchange(spec, shared, &message) {
            Ok(notes) => {
                let thread = notes.spent();
                Ok(notes.outcome(thread, tcp_facts(&self.socket, spec.cpus.as_deref())))
            }
            Err(error) => {
                // An ordinary close would look to the server like the proper end.
                sys::socket::set_linger_zero(&self.socket)?;
                Err(error)
            }
        }
    }

    fn exchange<'a>(
        &self,
        spec: &ClientSpec<PingPongLoad>,
        shared: &'a Shared<'a>,
        message: &[u8],
    ) -> Result<Notes<'a>> {
        let Self { socket, name } = self;
        let mut answer = message.to_vec();
        let mut notes = Notes::begin(&spec.load, shared);
        let limit = monotonic() + (spec.load.warmup + spec.load.duration + GRACE).0;
        let wait = || patience(shared, limit, name);
        loop {
            let sent = monotonic();
            put(socket, message, wait, name)?;
            if !take(socket, &mut answer, wait, name)? {
                let source = io::ErrorKind::UnexpectedEof.into();
                return Err(Error::Socket { operation: "receive on", object: name.clone(), source });
            }
            if !notes.answered(sent, monotonic())? {
                return Ok(notes);
            }
        }
    }
}

/// The server with its one client.
pub(super) struct Server {
    socket: TcpStream,
    name: String,
}

impl Server {
    pub(super) fn accept(
        listener: &TcpListener,
        spec: &ServerSpec<PingPongLoad>,
        stop: &Stop,
    ) -> Result<Self> {
        let gathered = gather::gather(listener, spec.token, &[(Purpose::PingPong, 0)], stop)?;
        let socket = gathered.into_values().next().expect("gather returns what was expected");
        limit_waits(&socket, TICK)?;
        sys::socket::set_nodelay(&socket, true)?;
        let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
        Ok(Self { socket, name: format!("the TCP ping-pong with {peer}") })
    }

    /// Returns messages until the client closes the connection.
    pub(super) fn run(
        self,
        spec: &ServerSpec<PingPongLoad>,
        shared: &Shared<'_>,
    ) -> Result<Outcome> {
        let Self { socket, name } = self;
        let mut message = vec![0; spec.load.message.0 as usize];
        dial::give_go(&socket, &name)?;
        let spent = Spent::from_now();
        let limit = monotonic() + (spec.load.warmup + spec.load.duration + GRACE).0;
        let wait = || patience(shared, limit, &name);
        let mut wake = monotonic();
        while take(&socket, &mut message, wait, &name)? {
            put(&socket, &message, wait, &name)?;
            let now = monotonic();
            if now >= wake {
                wait()?;
                wake = now + TICK.as_nanos() as u64;
            }
        }
        let thread = spent.until_now("server", ThreadRole::Pong);
        Ok(outcome(thread, tcp_facts(&socket, spec.cpus.as_deref())))
    }
}

/// Fails when it is time to give up.
fn patience(shared: &Shared<'_>, limit: u64, name: &str) -> Result<()> {
    shared.check()?;
    if monotonic() < limit {
        return Ok(());
    }
    Err(Error::Silent { object: name.into(), missing: "the end of the exchange".into(), waited: GRACE })
}

/// Writes all of `bytes`.
#[inline]
fn put(mut socket: &TcpStream, bytes: &[u8], wait: impl Fn() -> Result<()>, name: &str) -> Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match socket.write(&bytes[done..]) {
            Ok(written) => done += written,
            Err(error) if is_wait(&error) => wait()?,
            Err(error) => return Err(Error::socket("send on", || name)(error)),
        }
    }
    Ok(())
}

/// Fills `bytes`; false when the peer closed the connection between two messages.
#[inline]
fn take(mut socket: &TcpStream, bytes: &mut [u8], wait: impl Fn() -> Result<()>, name: &str) -> Result<bool> {
    let mut done = 0;
    while done < bytes.len() {
        match socket.read(&mut bytes[done..]) {
            Ok(0) if done == 0 => return Ok(false),
            Ok(0) => {
                let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(Error::socket("receive on", || name)(error));
            }
            Ok(read) => done += read,
            Err(error) if is_wait(&error) => wait()?,
            Err(error) => return Err(Error::socket("receive on", || name)(error)),
        }
    }
    Ok(true)
}
