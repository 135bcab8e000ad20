//! The control connection of a test: the machine's bytes and events over a socket.

use std::{
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

use codecs::iperf3::{
    ErrorCode, Failure, Results,
    server::{Event, Machine},
};

use super::{
    super::transport::{Transport, now},
    Arrival,
};
use crate::{
    error::{Error, Result},
    stop::Stop,
};

/// How often the control connection is looked at while data connections are awaited.
const GLANCE: Duration = Duration::from_millis(10);

/// The control connection of one test.
pub(super) struct Control(Transport<Machine>);

impl Control {
    pub(super) fn new(socket: TcpStream, machine: Box<Machine>) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
        Transport::new(socket, machine, format!("the control connection of {peer}")).map(Self)
    }

    /// Asks for `count` data connections and waits until they have come; they are in the order of their coming.
    pub(super) fn gather(
        &mut self,
        count: usize,
        arriving: &Receiver<Arrival>,
        stop: &Stop,
    ) -> Result<Vec<Arrival>> {
        self.0.machine.accept(now());
        self.0.flush()?;
        let mut arrivals = Vec::with_capacity(count);
        while arrivals.len() < count {
            match arriving.recv_timeout(GLANCE) {
                Ok(arrival) => arrivals.push(arrival),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    self.check(stop)?;
                    self.0.hear(true);
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
        self.0.machine.streams_created(now());
        let words = self.0.machine.poll_transmit().unwrap_or_default();
        let socket = self.0.socket.try_clone().map_err(Error::socket("copy", || self.0.name.clone()))?;
        Ok((socket, words))
    }

    /// Waits for a moment for what the client says; `None` when that was nothing.
    pub(super) fn listen(&mut self) -> Result<Option<Event>> {
        if let Some(event) = self.0.machine.poll_event() {
            return Ok(Some(event));
        }
        self.0.hear(false);
        Ok(self.0.machine.poll_event())
    }

    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.0.socket.peer_addr().ok()
    }

    pub(super) fn mss(&self) -> Option<u32> {
        sys::socket::mss(&self.0.socket).ok()
    }

    /// Says what was seen here and returns what was seen there.
    pub(super) fn exchange(&mut self, results: &Results, stop: &Stop) -> Result<Results> {
        self.0.machine.end_test(results, now());
        self.0.flush()?;
        let mut theirs = None;
        loop {
            match self.listen()? {
                Some(Event::Results(results)) => theirs = Some(*results),
                Some(Event::Done) => break,
                // The good-bye of a client that has everything may be missing.
                Some(_) if theirs.is_some() => break,
                Some(Event::Failed(failure)) => return self.fail(failure),
                Some(Event::ClientTerminated) => return Err(Error::Left),
                Some(_) => return Err(Error::Iperf3(closed("the client's results"))),
                None => self.check(stop)?,
            }
            self.0.flush()?;
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
        Err(self.end((code, errno), because))
    }

    /// The same in two numbers.
    pub(super) fn end(&mut self, (code, number): (ErrorCode, i32), because: Error) -> Error {
        self.0.machine.refuse(code, number);
        // It may be gone; what ended it is the better reason.
        let _ = self.0.flush();
        because
    }

    /// Tells the client that this server was told to end.
    pub(super) fn terminate(&mut self) -> Error {
        self.0.machine.terminate();
        // As above.
        let _ = self.0.flush();
        Error::Stopped
    }

    /// Fails when it was asked to stop.
    fn check(&mut self, stop: &Stop) -> Result<()> {
        if stop.is_asked() { Err(self.terminate()) } else { Ok(()) }
    }

    fn fail<T>(&mut self, failure: Failure) -> Result<T> {
        // What the machine has to say about it.
        let _ = self.0.flush();
        Err(Error::Iperf3(failure))
    }

    /// While data connections are awaited the client has nothing to say.
    fn expect_nothing(&mut self) -> Result<()> {
        match self.0.machine.poll_event() {
            None => Ok(()),
            Some(Event::Failed(failure)) => self.fail(failure),
            Some(Event::ClientTerminated) => Err(Error::Left),
            Some(_) => Err(Error::Iperf3(closed("its data connections"))),
        }
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
