//! Connections that have not yet said what they want: bounded in number, memory and time.
//!
//! None of them has a thread. When there are too many, the oldest one goes of the address that has most, so that peers
//! which stay half open shut nobody out: a client says what it wants within a round trip or two.

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
    ledger::{Amounts, Exhausted, Share, Source},
    opening::{self, LONGEST, Opening},
};

/// How long one may take to show its protocol; sockperf's client is silent for 2 s after it has connected.
const OPENING: Nanos = Nanos::from_secs(5);
/// How long an iperf3 client may then take for its parameters.
const PARAMETERS: Nanos = Nanos::from_secs(5);
/// Bytes that are read at a time; parameters have a few hundred.
const CHUNK: usize = 1024;

/// In the order of their coming.
pub(super) struct PendingConnections {
    all: BTreeMap<u64, PendingConnection>,
    amounts: Amounts,
}

pub(super) struct PendingConnection {
    pub(super) socket: TcpStream,
    pub(super) peer: SocketAddr,
    until: u64,
    stage: Stage,
    share: Option<Share>,
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
    pub(super) const fn new(amounts: Amounts) -> Self {
        Self { all: BTreeMap::new(), amounts }
    }

    /// Takes one in. Another has to go when there are too many: of an address that has all that one may have its own
    /// oldest, else the oldest of the address that has most.
    pub(super) fn admit(
        &mut self,
        order: u64,
        mut connection: PendingConnection,
    ) -> Option<PendingConnection> {
        let source = connection.peer.ip().into();
        let gone = match self.amounts.check(source, 1) {
            Ok(()) => None,
            Err(Exhausted::Address) => self.drop_oldest(|other| other == source),
            Err(Exhausted::Server) => self.drop_oldest_of_most(),
        };
        connection.share = self.amounts.take(source, 1).ok();
        self.all.insert(order, connection);
        gone
    }

    /// Drops the oldest connection of the address that has most.
    pub(super) fn drop_oldest_of_most(&mut self) -> Option<PendingConnection> {
        let most = self.amounts.most();
        let amounts = self.amounts.clone();
        self.drop_oldest(|source| amounts.of(source) == most)
    }

    fn drop_oldest(&mut self, of: impl Fn(Source) -> bool) -> Option<PendingConnection> {
        let found = self.all.iter().find(|(_, connection)| of(connection.peer.ip().into()));
        let order = *found?.0;
        self.take(order)
    }

    pub(super) fn get(&mut self, order: u64) -> Option<&mut PendingConnection> {
        self.all.get_mut(&order)
    }

    /// Its place is free.
    pub(super) fn take(&mut self, order: u64) -> Option<PendingConnection> {
        self.all.remove(&order).map(PendingConnection::given_up)
    }

    /// Those whose time is over.
    pub(super) fn late(&mut self, now: u64) -> impl Iterator<Item = PendingConnection> {
        let late = self.all.extract_if(.., move |_, connection| now >= connection.until);
        late.map(|(_, connection)| connection)
    }
}

impl PendingConnection {
    /// A connection that was accepted now, and does not wait.
    pub(super) fn new(socket: TcpStream, peer: SocketAddr, now: u64) -> Self {
        let stage = Stage::Opening { bytes: [0; LONGEST], length: 0 };
        Self { socket, peer, until: now + OPENING.0, stage, share: None }
    }

    fn given_up(mut self) -> Self {
        self.share = None;
        self
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::ledger::Ledger;

    /// Connections from these addresses, in this order: who was given up, by number.
    fn given_up(addresses: impl IntoIterator<Item = String>) -> Vec<(usize, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let socket = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let mut pending =
            PendingConnections::new(Ledger::new(crate::ledger::Budget { address: 1, server: 1 }).pending);
        let mut gone = Vec::new();
        for (order, address) in addresses.into_iter().enumerate() {
            let peer = SocketAddr::new(address.parse().expect("an address"), 1000);
            let copy = socket.try_clone().expect("a descriptor");
            let dropped = pending.admit(order as u64, PendingConnection::new(copy, peer, 0));
            gone.extend(dropped.map(|connection| (order, connection.peer.ip().to_string())));
        }
        gone
    }

    #[test]
    fn who_floods_gives_up_its_own_connections_whatever_its_addresses() {
        let attacks: [fn(usize) -> String; 3] = [
            |_| "198.18.0.66".to_owned(),
            |number| format!("2001:db8:0:66::{number:x}"),
            |number| format!("198.18.66.{}", number % 4),
        ];
        for attack in attacks {
            let honest = ["198.18.0.1", "2001:db8::1"].map(str::to_owned);
            let gone = given_up(honest.into_iter().chain((0..3000).map(attack)));
            assert!(gone.len() >= 1900, "{}", gone.len());
            let victims: Vec<_> =
                gone.iter().filter(|(_, gone)| gone == "198.18.0.1" || gone == "2001:db8::1").collect();
            assert!(victims.is_empty(), "{victims:?}");
        }
    }

    #[test]
    fn among_many_with_one_each_the_oldest_goes() {
        let gone = given_up((0..1030).map(|number| format!("198.18.{}.{}", number / 250, number % 250)));
        let expected: Vec<_> = (0..6).map(|number| (1024 + number, format!("198.18.0.{number}"))).collect();
        assert_eq!(gone, expected);
    }
}
