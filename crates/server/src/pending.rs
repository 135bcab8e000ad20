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

/// Connections that may be undecided at once.
pub(super) const CROWD: usize = 1024;
/// How long one may take to show its protocol; sockperf's client is silent for 2 s after it has connected.
const OPENING: Nanos = Nanos::from_secs(5);
/// How long an iperf3 client may then take to send its parameters.
const GREETING: Nanos = Nanos::from_secs(5);
/// Bytes that are read at a time; parameters have a few hundred.
const CHUNK: usize = 1024;

/// All of them, in the order of their coming.
#[derive(Default)]
pub(super) struct Guests(BTreeMap<u64, Guest>);

/// One of them.
pub(super) struct Guest {
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    until: u64,
    stage: Stage,
}

enum Stage {
    Opening { bytes: [u8; LONGEST], length: usize },
    Greeting(Cookie, Box<Machine>),
}

/// What a guest has said.
pub(super) enum Said {
    /// Not all yet.
    Nothing,
    /// It cannot be served.
    Refused(Refusal),
    /// A test of iperf3: ask for its parameters with [`Guest::greet`], unless it is a test under way.
    Cookie(Cookie),
    /// What it asks of iperf3. The machine awaits a judgement.
    Ready(Cookie, Box<Machine>, Box<Params>),
    /// Our own handshake.
    Native(Handshake),
    /// The head of sockperf's first message.
    Sockperf(Vec<u8>),
}

impl Guests {
    /// Takes one in; the oldest has to go when there are too many.
    pub(super) fn admit(&mut self, order: u64, guest: Guest) -> Option<Guest> {
        let gone = if self.0.len() >= CROWD { self.drop_oldest() } else { None };
        self.0.insert(order, guest);
        gone
    }

    pub(super) fn drop_oldest(&mut self) -> Option<Guest> {
        self.0.pop_first().map(|(_, guest)| guest)
    }

    pub(super) fn get(&mut self, order: u64) -> Option<&mut Guest> {
        self.0.get_mut(&order)
    }

    pub(super) fn take(&mut self, order: u64) -> Option<Guest> {
        self.0.remove(&order)
    }

    /// Those whose time is over.
    pub(super) fn late(&mut self, now: u64) -> impl Iterator<Item = Guest> {
        self.0.extract_if(.., move |_, guest| now >= guest.until).map(|(_, guest)| guest)
    }
}

impl Guest {
    /// A connection that was accepted now, and does not wait.
    pub(super) fn new(socket: TcpStream, peer: SocketAddr, now: u64) -> Self {
        let stage = Stage::Opening { bytes: [0; LONGEST], length: 0 };
        Self { socket, peer, until: now + OPENING.0, stage }
    }

    /// Takes what has come, and says what it means.
    pub(super) fn hear(&mut self, now: u64) -> Said {
        match &mut self.stage {
            Stage::Opening { bytes, length } => hear_opening(&self.socket, bytes, length),
            Stage::Greeting(cookie, machine) => match hear_greeting(&self.socket, machine, now) {
                Heard::Nothing => Said::Nothing,
                Heard::Over(because) => Said::Refused(because),
                Heard::Params(params) => {
                    let machine = std::mem::replace(machine, Box::new(Machine::new(Nanos(now))));
                    Said::Ready(*cookie, machine, params)
                }
            },
        }
    }

    /// Asks an iperf3 client for its parameters.
    pub(super) fn greet(&mut self, cookie: Cookie, now: u64) -> Said {
        let mut machine = Box::new(Machine::new(Nanos(now)));
        if !transmit(&self.socket, &mut machine) {
            return Said::Refused(Refusal::Left);
        }
        self.until = now + GREETING.0;
        self.stage = Stage::Greeting(cookie, machine);
        self.hear(now)
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

fn hear_opening(mut socket: &TcpStream, bytes: &mut [u8; LONGEST], length: &mut usize) -> Said {
    loop {
        match opening::of_stream(&bytes[..*length]) {
            Opening::Iperf3(cookie) => return Said::Cookie(cookie),
            Opening::Native(handshake) => return Said::Native(handshake),
            Opening::Sockperf => return Said::Sockperf(bytes[..*length].to_vec()),
            Opening::Stranger => return Said::Refused(Refusal::UnknownProtocol),
            Opening::More(upto) => match socket.read(&mut bytes[*length..upto]) {
                Ok(0) => return Said::Refused(Refusal::Left),
                Ok(read) => *length += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Said::Nothing,
                Err(_) => return Said::Refused(Refusal::Left),
            },
        }
    }
}

/// What came of listening to an iperf3 client.
pub(super) enum Heard {
    Nothing,
    Over(Refusal),
    Params(Box<Params>),
}

/// Takes what has come on a control connection, until the parameters are complete.
pub(super) fn hear_greeting(mut socket: &TcpStream, machine: &mut Machine, now: u64) -> Heard {
    let mut bytes = [0; CHUNK];
    loop {
        match machine.poll_event() {
            Some(Event::Params(params)) => return Heard::Params(params),
            Some(Event::ClientTerminated) => return Heard::Over(Refusal::Left),
            Some(_) => {
                dismiss(socket, machine);
                return Heard::Over(Refusal::Parameters);
            }
            None => {}
        }
        match socket.read(&mut bytes) {
            Ok(0) => return Heard::Over(Refusal::Left),
            Ok(read) => machine.receive(&bytes[..read], Nanos(now)),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Heard::Nothing,
            Err(_) => return Heard::Over(Refusal::Left),
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
