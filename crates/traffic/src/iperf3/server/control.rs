//! The control connection of a test: the machine's bytes and events over a socket.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use sys::clock::monotonic;
use units::Nanos;
use wire::iperf3::{
    ErrorCode, Failure, Results,
    server::{Event, Machine},
};

use super::{Arrival, PATIENCE};
use crate::{
    error::{Error, Result},
    socket::{TICK, is_wait, limit_waits},
    stop::Stop,
};

/// How often the control connection is looked at while data connections are awaited.
const GLANCE: Duration = Duration::from_millis(10);
/// Read at a time.
const CHUNK: usize = 8 << 10;

/// The control connection of one test.
pub(super) struct Control {
    socket: TcpStream,
    machine: Box<Machine>,
    name: String,
}

impl Control {
    pub(super) fn new(socket: TcpStream, machine: Box<Machine>) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
        let name = format!("the control connection of {peer}");
        // Its answers are few and small, and waited for.
        sys::socket::set_nodelay(&socket, true)?;
        socket.set_nonblocking(false).map_err(Error::socket("prepare", || name.clone()))?;
        Ok(Self { socket, machine, name })
    }

    /// Asks for `count` data connections and waits until they have come; they are in the order of their coming.
    pub(super) fn gather(
        &mut self,
        count: usize,
        arriving: &Receiver<Arrival>,
        stop: &Stop,
    ) -> Result<Vec<Arrival>> {
        limit_waits(&self.socket, TICK)?;
        self.machine.accept(now());
        self.flush()?;
        let mut arrivals = Vec::with_capacity(count);
        while arrivals.len() < count {
            match arriving.recv_timeout(GLANCE) {
                Ok(arrival) => arrivals.push(arrival),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    self.check(stop)?;
                    self.look(true)?;
                    self.expect_nothing()?;
                }
            }
        }
        arrivals.sort_by_key(Arrival::order);
        Ok(arrivals)
    }

    /// The words with which the test begins, and a socket to say them on: they are to be said at the moment when
    /// everything is ready.
    pub(super) fn begin(&mut self) -> Result<(TcpStream, Vec<u8>)> {
        self.machine.streams_created(now());
        let words = self.machine.poll_transmit().unwrap_or_default();
        let socket = self.socket.try_clone().map_err(Error::socket("copy", || self.name.clone()))?;
        Ok((socket, words))
    }

    /// Waits for a moment for what the client says; `None` when that was nothing.
    pub(super) fn listen(&mut self) -> Result<Option<Event>> {
        if let Some(event) = self.machine.poll_event() {
            return Ok(Some(event));
        }
        self.look(false)?;
        Ok(self.machine.poll_event())
    }

    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.socket.peer_addr().ok()
    }

    pub(super) fn mss(&self) -> Option<u32> {
        sys::socket::mss(&self.socket).ok()
    }

    /// Says what was seen here and returns what was seen there.
    pub(super) fn exchange(&mut self, results: &Results, stop: &Stop) -> Result<Results> {
        self.machine.end_test(results, now());
        self.flush()?;
        let mut theirs = None;
        loop {
            match self.listen()? {
                Some(Event::Results(results)) => theirs = Some(*results),
                Some(Event::Done) => break,
                // The good-bye of a client that has everything may be missing.
                Some(_) if theirs.is_some() => break,
                Some(Event::Failed(failure)) => return self.fail(failure),
                Some(_) => return Err(Error::Iperf3(closed("the client's results"))),
                None => self.check(stop)?,
            }
            self.flush()?;
        }
        theirs.ok_or_else(|| Error::Iperf3(closed("the client's results")))
    }

    /// Tells the client that it will not be served any more, and why.
    pub(super) fn refuse<T>(&mut self, code: ErrorCode, because: Error) -> Result<T> {
        let errno = match &because {
            Error::System(error) => error.errno(),
            Error::Socket { source, .. } => source.raw_os_error().unwrap_or(0),
            _ => 0,
        };
        self.machine.refuse(code, errno);
        // It may be gone; what ended it is the better reason.
        let _ = self.flush();
        Err(because)
    }

    /// Tells the client that this server was told to end.
    pub(super) fn terminate(&mut self) -> Error {
        self.machine.terminate();
        // As above.
        let _ = self.flush();
        Error::Stopped
    }

    /// Fails when it was asked to stop.
    fn check(&mut self, stop: &Stop) -> Result<()> {
        if stop.is_asked() { Err(self.terminate()) } else { Ok(()) }
    }

    fn fail<T>(&mut self, failure: Failure) -> Result<T> {
        // What the machine has to say about it.
        let _ = self.flush();
        Err(Error::Iperf3(failure))
    }

    /// While data connections are awaited the client has nothing to say.
    fn expect_nothing(&mut self) -> Result<()> {
        match self.machine.poll_event() {
            None => Ok(()),
            Some(Event::Failed(failure)) => self.fail(failure),
            Some(_) => Err(Error::Iperf3(closed("its data connections"))),
        }
    }

    /// Reads what has come; waits for it if it may.
    fn look(&mut self, at_once: bool) -> Result<()> {
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
            Err(_) => self.machine.closed(),
        }
        self.machine.tick(now());
        Ok(())
    }

    /// Says what the machine has to say.
    fn flush(&mut self) -> Result<()> {
        let Some(bytes) = self.machine.poll_transmit() else { return Ok(()) };
        let (mut rest, begun) = (&bytes[..], monotonic());
        while !rest.is_empty() {
            match self.socket.write(rest) {
                Ok(written) => rest = &rest[written..],
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(Error::socket("send on", || self.name.clone())(error)),
            }
            if !rest.is_empty() && monotonic() - begun > PATIENCE.0 {
                let missing = "the client to read".into();
                return Err(Error::Silent { object: self.name.clone(), missing, waited: PATIENCE });
            }
        }
        Ok(())
    }
}

impl Arrival {
    const fn order(&self) -> u64 {
        match self {
            Self::Tcp { order, .. } | Self::Udp { order, .. } => *order,
        }
    }
}

pub(super) const fn closed(awaited: &'static str) -> Failure {
    Failure::Closed { awaited }
}

fn now() -> Nanos {
    Nanos(monotonic())
}
