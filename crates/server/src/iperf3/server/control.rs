//! The control connection of a test: the machine's bytes and events over a socket.

use std::{
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use codecs::iperf3::{
    ErrorCode, Failure, Results,
    server::{Event, Machine},
};
use traffic::{Error, Result, Stop};
use units::Nanos;

use super::{
    super::transport::{Transport, now},
    DataConnection,
};

/// How often the control connection is looked at while data connections, or a sign of life, are awaited.
const GLANCE: Duration = Duration::from_millis(10);

/// A client that is sent to has to give a sign of life in this time, or in the server's patience if that is shorter.
const KEEPALIVE: Nanos = Nanos::from_secs(10);
/// A silent client is first asked after a second, and answers in one.
const SHORTEST: Nanos = Nanos::from_secs(2);
/// After so many milliseconds of silence a client is asked every [`AGAIN`]: where most of what is sent to it gets lost, so
/// do most questions.
const SILENCE: u32 = 1100;
/// With 98 % lost in a full queue, 12 to 67 questions were needed for an answer: the shortest patience has room for them.
const AGAIN: Duration = Duration::from_millis(3);

/// The control connection of one test.
pub(super) struct Control {
    transport: Transport<Machine>,
    /// How long the client's kernel may acknowledge nothing, where that is asked.
    keepalive: Option<Nanos>,
}

impl Control {
    pub(super) fn new(socket: TcpStream, machine: Box<Machine>) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
        let transport = Transport::new(socket, machine, format!("the control connection of {peer}"))?;
        Ok(Self { transport, keepalive: None })
    }

    /// From now on a client that gives no sign of life is given up: one that only receives has nothing to say, and
    /// one that is gone does not say so. What it would have received is sent to whoever has its address next.
    pub(super) fn keep_alive(&mut self, patience: Nanos) -> Result<()> {
        let limit = patience.min(KEEPALIVE).max(SHORTEST);
        sys::socket::set_keepalive(&self.transport.socket, limit.into())?;
        self.keepalive = Some(limit);
        Ok(())
    }

    /// Asks for `count` data connections and waits until they have come; they are in the order of their coming.
    pub(super) fn gather(
        &mut self,
        count: usize,
        arriving: &Receiver<DataConnection>,
        stop: &Stop,
    ) -> Result<Vec<DataConnection>> {
        self.transport.machine.accept(now());
        self.transport.flush()?;
        let mut arrivals = Vec::with_capacity(count);
        while arrivals.len() < count {
            match arriving.recv_timeout(GLANCE) {
                Ok(arrival) => arrivals.push(arrival),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    self.check(stop)?;
                    self.transport.hear(true);
                    self.expect_nothing()?;
                }
            }
        }
        arrivals.sort_by_key(DataConnection::order);
        Ok(arrivals)
    }

    /// The words with which the test begins, and a socket to say them on: they are to be said at the moment when
    /// everything is ready.
    pub(super) fn begin(&mut self) -> Result<(TcpStream, Vec<u8>)> {
        self.transport.machine.streams_created(now());
        let words = self.transport.machine.poll_transmit().unwrap_or_default();
        let socket = self
            .transport
            .socket
            .try_clone()
            .map_err(Error::socket("copy", || self.transport.name.clone()))?;
        Ok((socket, words))
    }

    /// Waits for a moment for what the client says; `None` when that was nothing.
    pub(super) fn listen(&mut self) -> Result<Option<Event>> {
        if let Some(event) = self.transport.machine.poll_event() {
            return Ok(Some(event));
        }
        let is_silent = self.keepalive.is_some() && self.is_silent()?;
        if is_silent {
            sys::socket::probe_keepalive(&self.transport.socket)?;
            thread::sleep(AGAIN);
        }
        self.transport.hear(is_silent);
        match self.keepalive {
            Some(waited) if self.transport.is_given_up => {
                let (object, missing) = (self.transport.name.clone(), "a sign of life".into());
                Err(Error::Silent { object, missing, waited })
            }
            _ => Ok(self.transport.machine.poll_event()),
        }
    }

    fn is_silent(&self) -> Result<bool> {
        Ok(sys::socket::tcp_info(&self.transport.socket)?.last_ack_recv_ms > SILENCE)
    }

    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.transport.socket.peer_addr().ok()
    }

    pub(super) fn mss(&self) -> Option<u32> {
        sys::socket::mss(&self.transport.socket).ok()
    }

    /// Says what was seen here and returns what was seen there.
    pub(super) fn exchange(&mut self, results: &Results, stop: &Stop) -> Result<Results> {
        self.transport.machine.end_test(results, now());
        self.transport.flush()?;
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
            self.transport.flush()?;
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
        self.transport.machine.refuse(code, number);
        // It may be gone; what ended it is the better reason.
        let _ = self.transport.flush();
        because
    }

    /// Tells the client that this server was told to end.
    pub(super) fn terminate(&mut self) -> Error {
        self.transport.machine.terminate();
        // As above.
        let _ = self.transport.flush();
        Error::Stopped
    }

    /// Fails when it was asked to stop.
    fn check(&mut self, stop: &Stop) -> Result<()> {
        if stop.is_asked() { Err(self.terminate()) } else { Ok(()) }
    }

    fn fail<T>(&mut self, failure: Failure) -> Result<T> {
        // What the machine has to say about it.
        let _ = self.transport.flush();
        Err(Error::Iperf3(failure))
    }

    /// While data connections are awaited the client has nothing to say.
    fn expect_nothing(&mut self) -> Result<()> {
        match self.transport.machine.poll_event() {
            None => Ok(()),
            Some(Event::Failed(failure)) => self.fail(failure),
            Some(Event::ClientTerminated) => Err(Error::Left),
            Some(_) => Err(Error::Iperf3(closed("its data connections"))),
        }
    }
}

impl DataConnection {
    const fn order(&self) -> u64 {
        match self {
            Self::Tcp { order, .. } | Self::Udp { order, .. } => *order,
        }
    }
}

pub(super) const fn closed(awaited: &'static str) -> Failure {
    Failure::Closed { awaited }
}
