//! Connections without a complete request. If there are too many, the oldest connection of the address with the most
//! connections is dropped, so that half-open connections cannot lock out other peers.

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

/// Sockperf's client sends nothing for the first 2 s after connecting.
const OPENING: Nanos = Nanos::from_secs(5);
const PARAMETERS: Nanos = Nanos::from_secs(5);
/// The read buffer size in bytes. iperf3's parameters take a few hundred bytes.
const CHUNK: usize = 1024;

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

pub(super) enum ClientHello {
    Incomplete,
    Refused(Refusal),
    /// Call [`PendingConnection::request_parameters`] next, unless the test is already running.
    Cookie(Cookie),
    Ready(Cookie, Box<Machine>, Box<Params>),
    Native(Handshake),
    Sockperf(Vec<u8>),
}

impl PendingConnections {
    pub(super) const fn new(amounts: Amounts) -> Self {
        Self { all: BTreeMap::new(), amounts }
    }

    /// If the limit per address is reached, drops the oldest connection of that address.
    pub(super) fn admit(
        &mut self,
        order: u64,
        mut connection: PendingConnection,
    ) -> Option<PendingConnection> {
        let source = connection.peer.ip().into();
        let dropped = match self.amounts.check(source, 1) {
            Ok(()) => None,
            Err(Exhausted::Address) => self.drop_oldest(|other| other == source),
            Err(Exhausted::Server) => self.drop_oldest_of_most(),
        };
        connection.share = self.amounts.take(source, 1).ok();
        self.all.insert(order, connection);
        dropped
    }

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

    pub(super) fn take(&mut self, order: u64) -> Option<PendingConnection> {
        self.all.remove(&order).map(PendingConnection::given_up)
    }

    pub(super) fn late(&mut self, now: u64) -> impl Iterator<Item = PendingConnection> {
        let late = self.all.extract_if(.., move |_, connection| now >= connection.until);
        late.map(|(_, connection)| connection)
    }
}

impl PendingConnection {
    pub(super) fn new(socket: TcpStream, peer: SocketAddr, now: u64) -> Self {
        let stage = Stage::Opening { bytes: [0; LONGEST], length: 0 };
        Self { socket, peer, until: now + OPENING.0, stage, share: None }
    }

    fn given_up(mut self) -> Self {
        self.share = None;
        self
    }

    pub(super) fn read(&mut self, now: u64) -> ClientHello {
        match &mut self.stage {
            Stage::Opening { bytes, length } => read_opening(&self.socket, bytes, length),
            Stage::Parameters(cookie, machine) => match read_parameters(&self.socket, machine, now) {
                ParameterRead::Incomplete => ClientHello::Incomplete,
                ParameterRead::Refused(reason) => ClientHello::Refused(reason),
                ParameterRead::Params(params) => {
                    let machine = std::mem::replace(machine, Box::new(Machine::new(Nanos(now))));
                    ClientHello::Ready(*cookie, machine, params)
                }
            },
        }
    }

    pub(super) fn request_parameters(&mut self, cookie: Cookie, now: u64) -> ClientHello {
        let mut machine = Box::new(Machine::new(Nanos(now)));
        if !transmit(&self.socket, &mut machine) {
            return ClientHello::Refused(Refusal::Left);
        }
        self.until = now + PARAMETERS.0;
        self.stage = Stage::Parameters(cookie, machine);
        self.read(now)
    }

    /// Closes the connection, or resets it to avoid TIME-WAIT if nothing was sent.
    pub(super) fn dismiss(self) {
        if matches!(self.stage, Stage::Opening { .. }) {
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

pub(super) fn transmit(mut socket: &TcpStream, machine: &mut Machine) -> bool {
    machine.poll_transmit().is_none_or(|bytes| socket.write_all(&bytes).is_ok())
}

/// Shuts down writing after the final message, so that the peer can still read it.
pub(super) fn dismiss(socket: &TcpStream, machine: &mut Machine) {
    let sent = transmit(socket, machine);
    if sent {
        // Ignores errors, because the peer may already have disconnected.
        let _ = socket.shutdown(Shutdown::Write);
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::ledger::Ledger;

    fn dropped(addresses: impl IntoIterator<Item = String>) -> Vec<(usize, String)> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let socket = TcpStream::connect(listener.local_addr().expect("bound")).expect("the listener accepts");
        let mut pending =
            PendingConnections::new(Ledger::new(crate::ledger::Budget { address: 1, server: 1 }).pending);
        let mut dropped = Vec::new();
        for (order, address) in addresses.into_iter().enumerate() {
            let peer = SocketAddr::new(address.parse().expect("an address"), 1000);
            let copy = socket.try_clone().expect("a descriptor");
            let evicted = pending.admit(order as u64, PendingConnection::new(copy, peer, 0));
            dropped.extend(evicted.map(|connection| (order, connection.peer.ip().to_string())));
        }
        dropped
    }

    #[test]
    fn flooding_network_loses_its_own_connections() {
        let attacks: [fn(usize) -> String; 3] = [
            |_| "198.18.0.66".to_owned(),
            |number| format!("2001:db8:0:66::{number:x}"),
            |number| format!("198.18.66.{}", number % 4),
        ];
        for attack in attacks {
            let honest = ["198.18.0.1", "2001:db8::1"].map(str::to_owned);
            let dropped = dropped(honest.into_iter().chain((0..3000).map(attack)));
            assert!(dropped.len() >= 1900, "{}", dropped.len());
            let victims: Vec<_> = dropped
                .iter()
                .filter(|(_, address)| address == "198.18.0.1" || address == "2001:db8::1")
                .collect();
            assert!(victims.is_empty(), "{victims:?}");
        }
    }

    #[test]
    fn drops_oldest_if_each_address_has_one() {
        let dropped = dropped((0..1030).map(|number| format!("198.18.{}.{}", number / 250, number % 250)));
        let expected: Vec<_> = (0..6).map(|number| (1024 + number, format!("198.18.0.{number}"))).collect();
        assert_eq!(dropped, expected);
    }
}
