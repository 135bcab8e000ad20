//! A control connection: what either role's machine says and hears, over a socket.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
};

use codecs::iperf3::{client, server};
use sys::clock::monotonic;
use traffic::{
    Error, Result,
    socket::{TICK, is_wait, limit_waits},
};
use units::Nanos;

/// Read at a time.
const CHUNK: usize = 16 << 10;
/// How long the other end may take to read what is said to it.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// One role of the protocol: bytes in, bytes out.
pub(super) trait Machine {
    /// Takes what came.
    fn receive(&mut self, bytes: &[u8], now: Nanos);
    /// The other end closed the connection.
    fn closed(&mut self);
    /// Looks whether the other end is late.
    fn tick(&mut self, now: Nanos);
    /// What is to be sent.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
}

/// A control connection and the machine that speaks on it.
pub(super) struct Transport<M> {
    pub(super) socket: TcpStream,
    pub(super) machine: Box<M>,
    /// For errors.
    pub(super) name: String,
    /// Whether the kernel has given the other end up, which did not close the connection.
    pub(super) is_given_up: bool,
}

impl<M: Machine> Transport<M> {
    /// What is said is little, and waited for.
    pub(super) fn new(socket: TcpStream, machine: Box<M>, name: String) -> Result<Self> {
        sys::socket::set_nodelay(&socket, true)?;
        socket.set_nonblocking(false).map_err(Error::socket("prepare", || name.clone()))?;
        limit_waits(&socket, TICK)?;
        Ok(Self { socket, machine, name, is_given_up: false })
    }

    /// Hears what has come; waits for it for a moment, unless it is to look only.
    pub(super) fn hear(&mut self, at_once: bool) {
        let mut bytes = [0; CHUNK];
        let read = if at_once {
            sys::socket::recv_nonblocking(&self.socket, &mut bytes)
        } else {
            self.socket.read(&mut bytes)
        };
        match read {
            Ok(0) => self.machine.closed(),
            Ok(length) => self.machine.receive(&bytes[..length], now()),
            Err(error) if is_wait(&error) => {}
            Err(error) => {
                self.is_given_up |= error.kind() == ErrorKind::TimedOut;
                self.machine.closed();
            }
        }
        self.machine.tick(now());
    }

    /// Says what the machine has to say.
    pub(super) fn flush(&mut self) -> Result<()> {
        let Some(bytes) = self.machine.poll_transmit() else { return Ok(()) };
        let (mut rest, begun) = (&bytes[..], monotonic());
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(Error::socket("send on", || self.name.clone())(error)),
            }
            if !rest.is_empty() && monotonic() - begun > PATIENCE.0 {
                let missing = "the other end to read".into();
                return Err(Error::Silent { object: self.name.clone(), missing, waited: PATIENCE });
            }
        }
        Ok(())
    }
}

/// The clock that machines are told.
pub(super) fn now() -> Nanos {
    Nanos(monotonic())
}

impl Machine for client::Machine {
    fn receive(&mut self, bytes: &[u8], now: Nanos) {
        self.receive(bytes, now);
    }

    fn closed(&mut self) {
        self.closed();
    }

    fn tick(&mut self, now: Nanos) {
        self.tick(now);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit()
    }
}

impl Machine for server::Machine {
    fn receive(&mut self, bytes: &[u8], now: Nanos) {
        self.receive(bytes, now);
    }

    fn closed(&mut self) {
        self.closed();
    }

    fn tick(&mut self, now: Nanos) {
        self.tick(now);
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit()
    }
}
