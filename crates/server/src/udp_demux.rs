//! Datagrams that come to the shared sockets: answered where they stand, or given a socket of their own.
//!
//! Nothing is answered with more bytes than came, and nobody is remembered beyond a bound.

use std::{
    io::ErrorKind,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use codecs::{
    iperf3::Connect,
    sockperf::{self, Reply},
};
use sys::{
    clock::monotonic,
    socket::{receive_addressed, send_addressed},
};
use traffic::{
    Error, RefusalCode, Result,
    handshake::Purpose,
    ping_pong::{Cookies, Greeting, GreetingKind},
};
use units::Nanos;

use super::{
    event::{Event, Refusal, refusal_code},
    event_loop::{BATCH, EventLoop},
    ledger::{Share, Source},
    listeners::Listeners,
    opening::{self, Datagram},
    sessions::{Conversation, DatagramProtocol},
};
use crate::{iperf3::server::DataConnection, sockperf::cost};

/// No datagram is longer.
const LONGEST: usize = 65_535;
/// No more of them are taken from a socket; the rest are its own peer's.
const STRAYS: usize = 1024;

/// Peers of sockperf's whose first message is remembered.
const KNOWN: usize = 256;
/// For how long.
const REMEMBERED: Nanos = Nanos::from_secs(10);

/// Peers of sockperf's that have begun to speak and have no socket of their own.
#[derive(Default)]
struct KnownPeers(Vec<(Conversation, u64)>);

impl KnownPeers {
    /// Remembers a peer; the one that was remembered first is forgotten when there are too many.
    fn remember(&mut self, new: Conversation, now: u64) {
        self.0.retain(|(known, since)| known.peer != new.peer && now.saturating_sub(*since) < REMEMBERED.0);
        if self.0.len() >= KNOWN {
            self.0.remove(0);
        }
        self.0.push((new, now));
    }

    fn take(&mut self, peer: SocketAddr) -> Option<Conversation> {
        let place = self.0.iter().position(|(known, _)| known.peer == peer)?;
        Some(self.0.remove(place).0)
    }

    fn find(&self, peer: SocketAddr, now: u64) -> Option<&Conversation> {
        let (known, since) = self.0.iter().find(|(known, _)| known.peer == peer)?;
        (now.saturating_sub(*since) < REMEMBERED.0).then_some(known)
    }
}

#[derive(Debug, Clone, Copy)]
struct Destination {
    /// Which of the listening sockets.
    place: usize,
    /// Which of this machine's addresses, where the socket is bound to all of them.
    here: Option<IpAddr>,
}

/// What is kept of datagrams from one to the next.
pub(super) struct UdpDemux {
    known: KnownPeers,
    cookies: Cookies,
    buffer: Vec<u8>,
}

impl Default for UdpDemux {
    fn default() -> Self {
        Self { known: KnownPeers::default(), cookies: Cookies::default(), buffer: vec![0; LONGEST] }
    }
}

impl EventLoop<'_, '_> {
    /// Takes what has come on one of the UDP sockets.
    pub(super) fn receive(&mut self, place: usize) {
        // Taken out so that what it holds can be looked at beside everything else.
        let mut buffer = std::mem::take(&mut self.udp.buffer);
        for _ in 0..BATCH {
            match receive_addressed(&self.listeners.udp[place], &mut buffer) {
                Ok((length, peer, here)) => {
                    // One of a link is of use only with the link: there the route chooses well.
                    let here = here.filter(|here| !is_of_a_link(*here));
                    self.answer(Destination { place, here }, &mut buffer[..length], peer);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Errors are about datagrams that were sent before, to peers that are gone.
                Err(_) => {}
            }
        }
        self.udp.buffer = buffer;
    }

    fn answer(&mut self, at: Destination, bytes: &mut [u8], peer: SocketAddr) {
        let now = monotonic();
        if !self.allow_list.has(peer.ip()) {
            return self.deny(at, bytes, peer, now);
        }
        match opening::of_datagram(bytes) {
            Datagram::Iperf3(word) => self.give_datagrams(at, word, peer),
            Datagram::Native(said) => self.greet_native(at, said, peer, now),
            Datagram::Other => self.answer_sockperf(at, bytes, peer, now),
        }
    }

    /// Whoever may not come is told so if it is a client of our own, with as many bytes as came.
    fn deny(&mut self, at: Destination, bytes: &[u8], peer: SocketAddr, now: u64) {
        self.log.refused(peer, Refusal::Address, now);
        if let Datagram::Native(said) = opening::of_datagram(bytes)
            && matches!(said.kind, GreetingKind::Asks | GreetingKind::Proves)
        {
            self.send(at, &said.refusing(RefusalCode::Address).encode(), peer);
        }
    }

    /// A client of our own: it costs nothing until it has proved that it hears what is sent to its address.
    fn greet_native(&mut self, at: Destination, said: Greeting, peer: SocketAddr, now: u64) {
        let served = matches!(said.handshake.purpose, Purpose::PingPong | Purpose::Probe);
        match said.kind {
            // What a server says is never answered.
            GreetingKind::Offers | GreetingKind::Welcomes | GreetingKind::Refuses => {
                self.log.refused(peer, Refusal::UnknownProtocol, now);
            }
            GreetingKind::Asks | GreetingKind::Proves if !served => {
                self.log.refused(peer, Refusal::Parameters, now);
            }
            GreetingKind::Asks | GreetingKind::Proves if !self.serves_anybody() => {
                self.log.refused(peer, Refusal::NoLogin, now);
                self.send(at, &said.refusing(RefusalCode::Login).encode(), peer);
            }
            // It came before its sender had a socket of its own, which hears the next one.
            GreetingKind::Proves if self.sessions.conversation(peer).is_some() => {}
            GreetingKind::Proves if self.udp.cookies.know(said, peer, now) => {
                self.welcome(at, said, peer, now);
            }
            GreetingKind::Asks | GreetingKind::Proves => {
                let offer = self.udp.cookies.offer(said, peer, now);
                self.send(at, &offer.encode(), peer);
            }
        }
    }

    fn welcome(&mut self, at: Destination, said: Greeting, peer: SocketAddr, now: u64) {
        match self.place(peer.ip()) {
            Ok(place) => {
                self.promote(at, Conversation::new(peer, DatagramProtocol::Native(said)), place);
            }
            Err(whose) => {
                self.log.refused(peer, whose.into(), now);
                self.send(at, &said.refusing(refusal_code(whose)).encode(), peer);
            }
        }
    }

    /// A stream of an iperf3 test under way.
    fn give_datagrams(&mut self, at: Destination, word: Connect, peer: SocketAddr) {
        let Some(test) = self.sessions.gathering_datagrams(peer.ip()) else {
            return self.log.refused(peer, Refusal::UnknownProtocol, monotonic());
        };
        let (cookie, to) = (test.cookie, test.local.ip());
        let order = self.next_number();
        let local = local(self.listeners.addresses[at.place], Some(to));
        let Some((socket, mut strays)) = self.connect(local, peer) else { return };
        if socket.send(&word.reply()).is_ok() {
            self.sessions.give(cookie, DataConnection::Udp { order, socket });
        }
        // Its own can only be the same wish once more.
        strays.retain(|(_, from)| *from != peer);
        self.answer_strays(at, strays);
    }

    /// A message of sockperf's. A peer that goes on is given a thread and a socket of its own, if there is one left
    /// for those who may be anybody; what comes here is answered here.
    fn answer_sockperf(&mut self, at: Destination, bytes: &mut [u8], peer: SocketAddr, now: u64) {
        let served = self.sessions.conversation(peer).cloned();
        let (is_served, known) = (served.is_some(), self.udp.known.find(peer, now).cloned());
        let goes_on = !is_served && known.is_some();
        let conversation = served.or(known);
        let conversation =
            conversation.unwrap_or_else(|| Conversation::new(peer, DatagramProtocol::Sockperf));
        if conversation.protocol != DatagramProtocol::Sockperf {
            // It came before its sender had a socket of its own.
            return;
        }
        let reply = sockperf::answer_datagram(bytes);
        if reply == Reply::Stranger && self.sessions.had_peer(peer) {
            // What it sent before it knew that it is served no longer.
            return;
        }
        if reply == Reply::Stranger {
            return self.log.refused(peer, Refusal::UnknownProtocol, now);
        }
        if !self.serves_anybody() {
            return self.log.refused(peer, Refusal::NoLogin, now);
        }
        let source = Source::from(peer.ip());
        let allowed = reply != Reply::Answer
            || source.is_proven()
            || self.ledger.replies.spend(source, cost(bytes.len()), now);
        if allowed {
            conversation.counts.note(reply, bytes.len());
        } else {
            // Lost, as it may be anywhere else on its way.
            self.log.refused(peer, Refusal::Rate, now);
        }
        if allowed && reply == Reply::Answer {
            self.send(at, bytes, peer);
        }
        // Without a thread of its own it is answered all the same, here.
        let share = if goes_on { self.ledger.unproven.take(peer.ip().into(), 1).ok() } else { None };
        if let Some(share) = share {
            if let Some(conversation) = self.udp.known.take(peer) {
                self.promote(at, conversation, share);
            }
        } else if !is_served {
            self.udp.known.remember(conversation, now);
        }
    }

    fn promote(&mut self, at: Destination, conversation: Conversation, share: Share) {
        let local = local(self.listeners.addresses[at.place], at.here);
        let Some((socket, strays)) = self.connect(local, conversation.peer) else { return };
        self.begin_datagrams(socket, local, conversation, share);
        self.answer_strays(at, strays);
    }

    /// A socket on a listening address that is connected to one peer, and what came to it before it was.
    fn connect(&self, local: SocketAddr, peer: SocketAddr) -> Option<(UdpSocket, Strays)> {
        let tell = |error: &Error| self.context.watcher.event(Event::Trouble { error });
        connect(self.listeners, local, peer).inspect_err(tell).ok()
    }

    fn answer_strays(&mut self, at: Destination, strays: Strays) {
        for (mut bytes, from) in strays {
            self.answer(at, &mut bytes, from);
        }
    }

    fn send(&self, at: Destination, bytes: &[u8], peer: SocketAddr) {
        let socket = &self.listeners.udp[at.place];
        // Lost, as it may be anywhere else on its way.
        let _ = match at.here {
            Some(here) => send_addressed(socket, bytes, peer, here),
            None => socket.send_to(bytes, peer),
        };
    }
}

fn is_of_a_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

/// Datagrams that came to another socket than they should have.
type Strays = Vec<(Vec<u8>, SocketAddr)>;

/// Until it is connected, a socket gets what anybody sends to its address: that lies before everything else in it.
fn connect(listeners: &Listeners, local: SocketAddr, peer: SocketAddr) -> Result<(UdpSocket, Strays)> {
    let socket = listeners.further_udp(local)?;
    socket.connect(peer).map_err(Error::socket("connect", || format!("a UDP socket to {peer}")))?;
    let (mut bytes, mut strays) = (vec![0; LONGEST], Strays::new());
    while strays.len() < STRAYS
        && let Ok((length, from)) = socket.recv_from(&mut bytes)
    {
        strays.push((bytes[..length].to_vec(), from));
    }
    Ok((socket, strays))
}

/// Where the socket for one peer is bound: to the address that it has reached, so that it hears from that one.
fn local(listeners: SocketAddr, reached: Option<IpAddr>) -> SocketAddr {
    match reached {
        Some(reached) if listeners.ip().is_unspecified() => SocketAddr::new(reached, listeners.port()),
        _ => listeners,
    }
}
