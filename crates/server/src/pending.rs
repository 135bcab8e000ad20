//! Connections that have not yet said what they want: bounded in number, memory and time.
//!
//! None of them has a thread. The oldest one goes when there are too many, so that peers which stay half open
//! shut nobody out: a client says what it wants within a round trip or two.

use std::{
    collections::BTreeMap,
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
};

use codecs::iperf3::{
    Cookie, Params,
    server::{Event, Machine},
};
use traffic::handshake::Handshake;
use units::Nanos;

use super::{
    event::Refusal,
    opening::{self, LONGEST, Opening},
};

/// More are not undecided at once.
pub(super) const LIMIT: usize = 1024;
/// How long one may take to show its protocol; sockperf's client is silent for 2 s after it has connected.
const OPENING: Nanos = Nanos::from_secs(5);
/// How long an iperf3 client may then take for its parameters.
const PARAMETERS: Nanos = Nanos::from_secs(5);
/// Bytes that are read at a time; parameters have a few hundred.
const CHUNK: usize = 1024;

/// In the order of their coming.
#[derive(Default)]
pub(super) struct PendingConnections(BTreeMap<u64, PendingConnection>);

pub(super) struct PendingConnection {
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    until: u64,
    stage: Stage,
}

enum Stage {
    Opening { bytes: [u8; LONGEST], length: usize },
    Parameters(Cookie, Box<Machine>),
}

/// What the first bytes of a connection ask for.
pub(super) enum ClientHello {
    Incomplete,
    /// It cannot be served.
    Refused(Refusal),
    /// A test of iperf3: ask for its parameters with [`PendingConnection::request_parameters`], unless it is a test under way.
    Cookie(Cookie),
    /// What it asks of iperf3. The machine awaits the verdict.
    Ready(Cookie, Box<Machine>, Box<Params>),
    /// Our own handshake.
    Native(Handshake),
    /// The head of sockperf's first message.
    Sockperf(Vec<u8>),
}

impl PendingConnections {
    /// Takes one in; the oldest has to go when there are too many.
    pub(super) fn admit(&mut self, order: u64, connection: PendingConnection) -> Option<PendingConnection> {
        let gone = if self.0.len() >= LIMIT { self.drop_oldest() } else { None };
        self.0.insert(order, connection);
        gone
    }

    pub(super) fn drop_oldest(&mut self) -> Option<PendingConnection> {
        self.0.pop_first().map(|(_, connection)| connection)
    }

    pub(super) fn get(&mut self, order: u64) -> Option<&mut PendingConnection> {
        self.0.get_mut(&order)
    }

    pub(super) fn take(&mut self, order: u64) -> Option<PendingConnection> {
        self.0.remove(&order)
    }

    /// Those whose time is over.
    pub(super) fn late(&mut self, now: u64) -> impl Iterator<Item = PendingConnection> {
        self.0.extract_if(.., move |_, connection| now >= connection.until).map(|(_, connection)| connection)
    }
}

impl PendingConnection {
    /// A connection that was accepted now, and does not wait.
    pub(super) fn new(socket: TcpStream, peer: SocketAddr, now: u64) -> Self {
        let stage = Stage::Opening { bytes: [0; LONGEST], length: 0 };
        Self { socket, peer, until: now + OPENING.0, stage }
    }

    /// Takes what has come, and says what it means.
    pub(super) fn read(&mut self, now: u64) -> ClientHello {
        match &mut self.stage {
            Stage::Opening { bytes, length } => read_opening(&self.socket, bytes, length),
            Stage::Parameters(cookie, machine) => match read_parameters(&self.socket, machine, now) {
                ParameterRead::Incomplete => ClientHello::Incomplete,
                ParameterRead::Refused(because) => ClientHello::Refused(because),
                ParameterRead::Params(params) => {
                    let machine = std::mem::replace(machine, Box::new(Machine::new(Nanos(now))));
                    ClientHello::Ready(*cookie, machine, params)
                }
            },
        }
    }

    /// Asks an iperf3 client for its parameters.
    pub(super) fn request_parameters(&mut self, cookie: Cookie, now: u64) -> ClientHello {
        let mut machine = Box::new(Machine::new(Nanos(now)));
        if !transmit(&self.socket, &mut machine) {
            return ClientHello::Refused(Refusal::Left);
        }
        self.until = now + PARAMETERS.0;
        self.stage = Stage::Parameters(cookie, machine);
        self.read(now)
    }

    /// Closes it: at once, without the minute for which the kernel would remember an orderly end, unless it may
    /// have been told something.
    pub(super) fn dismiss(self) {
        if matches!(self.stage, Stage::Opening { .. }) {
            // Not set: it is remembered.
            let _ = sys::socket::set_linger_zero(&self.socket);
        }
    }
}

fn read_opening(mut socket: &TcpStream, bytes: &mut [u8; LONGEST], length: &mut usize) -> ClientHello {
    loop {
        match opening::of_stream(&bytes[..*length]) {
            Opening::Iperf3(cookie) => return ClientHello::Cookie(cookie),
            Opening::Native(handshake) => return ClientHello::Native(handshake),
            Opening::Sockperf => return ClientHello::Sockperf(bytes[..*length].to_vec()),
            Opening::Unknown => return ClientHello::Refused(Refusal::UnknownProtocol),
            Opening::More(upto) => match socket.read(&mut bytes[*length..upto]) {
                Ok(0) => return ClientHello::Refused(Refusal::Left),
                Ok(read) => *length += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return ClientHello::Incomplete,
                Err(_) => return ClientHello::Refused(Refusal::Left),
            },
        }
    }
}

pub(super) enum ParameterRead {
    Incomplete,
    Refused(Refusal),
    Params(Box<Params>),
}

/// Takes what has come on a control connection, until the parameters are complete.
pub(super) fn read_parameters(mut socket: &TcpStream, machine: &mut Machine, now: u64) -> ParameterRead {
    let mut bytes = [0; CHUNK];
    loop {
        match machine.poll_event() {
            Some(Event::Params(params)) => return ParameterRead::Params(params),
            Some(Event::ClientTerminated) => return ParameterRead::Refused(Refusal::Left),
            Some(_) => {
                dismiss(socket, machine);
                return ParameterRead::Refused(Refusal::Parameters);
            }
            None => {}
        }
        match socket.read(&mut bytes) {
            Ok(0) => return ParameterRead::Refused(Refusal::Left),
            Ok(read) => machine.receive(&bytes[..read], Nanos(now)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return ParameterRead::Incomplete,
            Err(_) => return ParameterRead::Refused(Refusal::Left),
        }
    }
}

/// Sends what a machine has to say; false when the peer does not take it.
pub(super) fn transmit(mut socket: &TcpStream, machine: &mut Machine) -> bool {
    // A few bytes on a connection on which nothing else is under way: they fit the send buffer.
    machine.poll_transmit().is_none_or(|bytes| socket.write_all(&bytes).is_ok())
}

/// Says the last of it and half-closes, so that the peer reads why.
pub(super) fn dismiss(socket: &TcpStream, machine: &mut Machine) {
    let said = transmit(socket, machine);
    if said {
        // Gone: it does not matter any more.
        let _ = socket.shutdown(Shutdown::Write);
    }
}
