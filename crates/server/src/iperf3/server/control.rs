//! Runs the server state machine over the control connection.

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

const GLANCE: Duration = Duration::from_millis(10);

/// The timeout for clients that only receive, unless the server's idle timeout is shorter.
const KEEPALIVE: Nanos = Nanos::from_secs(10);
/// The first keepalive probe is sent after a second, and its reply may take another second.
const SHORTEST: Nanos = Nanos::from_secs(2);
/// After this many milliseconds of silence, a probe is sent every [`AGAIN`], because heavy loss towards the client
/// drops most probes.
const SILENCE: u32 = 1100;
/// The interval between probes. With 98 % loss in a full queue, it took 12 to 67 probes to get a reply, which fits well
/// within the shortest timeout.
const AGAIN: Duration = Duration::from_millis(3);

pub(super) struct Control {
    transport: Transport<Machine>,
    keepalive: Option<Nanos>,
}

impl Control {
    pub(super) fn new(socket: TcpStream, machine: Box<Machine>) -> Result<Self> {
        let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
        let transport = Transport::new(socket, machine, format!("the control connection of {peer}"))?;
        Ok(Self { transport, keepalive: None })
    }

    /// A client that only receives sends nothing, and a crashed client does not close its connection. Without
    /// keepalives, the server would send to the next owner of the client's address.
    pub(super) fn keep_alive(&mut self, patience: Nanos) -> Result<()> {
        let limit = patience.min(KEEPALIVE).max(SHORTEST);
        sys::socket::set_keepalive(&self.transport.socket, limit.into())?;
        self.keepalive = Some(limit);
        Ok(())
    }

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
                    self.transport.receive_available(true);
                    self.expect_nothing()?;
                }
            }
        }
        arrivals.sort_by_key(DataConnection::order);
        Ok(arrivals)
    }

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

    pub(super) fn listen(&mut self) -> Result<Option<Event>> {
        if let Some(event) = self.transport.machine.poll_event() {
            return Ok(Some(event));
        }
        let is_silent = self.keepalive.is_some() && self.is_silent()?;
        if is_silent {
            sys::socket::probe_keepalive(&self.transport.socket)?;
            thread::sleep(AGAIN);
        }
        self.transport.receive_available(is_silent);
        match self.keepalive {
            Some(waited) if self.transport.is_given_up => {
                let (object, missing) = (self.transport.name.clone(), "a keepalive reply".into());
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

    pub(super) fn exchange(&mut self, results: &Results, stop: &Stop) -> Result<Results> {
        self.transport.machine.end_test(results, now());
        self.transport.flush()?;
        let mut theirs = None;
        loop {
            match self.listen()? {
                Some(Event::Results(results)) => theirs = Some(*results),
                Some(Event::Done) => break,
                // A client that has received everything may close the connection without a final message.
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

    pub(super) fn refuse<T>(&mut self, code: ErrorCode, reason: Error) -> Result<T> {
        let errno = match &reason {
            Error::System(error) => error.errno(),
            Error::Socket { source, .. } => source.raw_os_error().unwrap_or(0),
            _ => 0,
        };
        Err(self.end((code, errno), reason))
    }

    pub(super) fn end(&mut self, (code, number): (ErrorCode, i32), reason: Error) -> Error {
        self.transport.machine.refuse(code, number);
        // Reports the original error even if this flush fails.
        let _ = self.transport.flush();
        reason
    }

    pub(super) fn terminate(&mut self) -> Error {
        self.transport.machine.terminate();
        let _ = self.transport.flush();
        Error::Stopped
    }

    fn check(&mut self, stop: &Stop) -> Result<()> {
        if stop.is_asked() { Err(self.terminate()) } else { Ok(()) }
    }

    fn fail<T>(&mut self, failure: Failure) -> Result<T> {
        // Sends the error message from the state machine.
        let _ = self.transport.flush();
        Err(Error::Iperf3(failure))
    }

    /// The client must be silent until all data connections are open.
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
