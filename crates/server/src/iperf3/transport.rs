//! Drives the state machine of either role over a control connection.

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

const CHUNK: usize = 16 << 10;
const PATIENCE: Nanos = Nanos::from_secs(10);

pub(super) trait Machine {
    fn receive(&mut self, bytes: &[u8], now: Nanos);
    fn closed(&mut self);
    fn tick(&mut self, now: Nanos);
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
}

pub(super) struct Transport<M> {
    pub(super) socket: TcpStream,
    pub(super) machine: Box<M>,
    pub(super) name: String,
    /// Whether the kernel reported a timeout, rather than the peer closing the connection.
    pub(super) is_given_up: bool,
}

impl<M: Machine> Transport<M> {
    pub(super) fn new(socket: TcpStream, machine: Box<M>, name: String) -> Result<Self> {
        sys::socket::set_nodelay(&socket, true)?;
        socket.set_nonblocking(false).map_err(Error::socket("prepare", || name.clone()))?;
        limit_waits(&socket, TICK)?;
        Ok(Self { socket, machine, name, is_given_up: false })
    }

    pub(super) fn receive_available(&mut self, at_once: bool) {
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

    pub(super) fn flush(&mut self) -> Result<()> {
        let Some(bytes) = self.machine.poll_transmit() else { return Ok(()) };
        let (mut rest, started) = (&bytes[..], monotonic());
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(Error::socket("send on", || self.name.clone())(error)),
            }
            if !rest.is_empty() && monotonic() - started > PATIENCE.0 {
                let missing = "the peer to read".into();
                return Err(Error::Silent { object: self.name.clone(), missing, waited: PATIENCE });
            }
        }
        Ok(())
    }
}

pub(super) fn now() -> Nanos {
    Nanos(monotonic())
}

macro_rules! machine {
    ($role:ident) => {
        impl Machine for $role::Machine {
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
    };
}

machine!(client);
machine!(server);
