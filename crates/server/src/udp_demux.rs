//! Datagrams that come to the door: answered where they stand, or given a socket of their own.
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
    Error, Refused, Result,
    handshake::Purpose,
    ping_pong::{Cookies, Greeting, Word},
};
use units::Nanos;

use super::{
    event::{Event, Refusal},
    event_loop::{BATCH, Front},
    listeners,
    opening::{self, Datagram},
    sessions::{Conversation, Spoken},
};
use crate::iperf3::server::Arrival;

/// No datagram is longer.
const LONGEST: usize = 65_535;
/// No more of them are taken from a socket; the rest are its own peer's.
const STRAYS: usize = 1024;

/// Peers of sockperf's whose first message is remembered.
const KNOWN: usize = 256;
/// For how long.
const REMEMBERED: Nanos = Nanos::from_secs(10);

/// Peers of a protocol that proves no address: so many have a thread and a socket at once, and so many of them share
/// an address. Further ones are answered all the same, here.
const UNPROVEN: usize = 16;
const OF_ONE_ADDRESS: usize = 4;

/// Peers of sockperf's that have begun to speak and have no socket of their own.
#[derive(Default)]
struct Known(Vec<(Conversation, u64)>);

impl Known {
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

/// Where a datagram came to.
#[derive(Debug, Clone, Copy)]
struct At {
    /// Which of the door's sockets.
    place: usize,
    /// Which of this machine's addresses, where the socket is bound to all of them.
    here: Option<IpAddr>,
}

/// What is kept of datagrams from one to the next.
pub(super) struct Desk {
    known: Known,
    cookies: Cookies,
    buffer: Vec<u8>,
}

impl Default for Desk {
    fn default() -> Self {
        Self { known: Known::default(), cookies: Cookies::default(), buffer: vec![0; LONGEST] }
    }
}

impl Front<'_, '_> {
    /// Takes what has come on one of the UDP sockets.
    pub(super) fn receive(&mut self, place: usize) {
        // Taken out so that what it holds can be looked at beside everything else.
        let mut buffer = std::mem::take(&mut self.desk.buffer);
        for _ in 0..BATCH {
            match receive_addressed(&self.listening.udp[place], &mut buffer) {
                Ok((length, peer, here)) => {
                    // One of a link is of use only with the link: there the route chooses well.
                    let here = here.filter(|here| !is_of_a_link(*here));
                    self.answer(At { place, here }, &mut buffer[..length], peer);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Errors are about datagrams that were sent before, to peers that are gone.
                Err(_) => {}
            }
        }
        self.desk.buffer = buffer;
    }

    fn answer(&mut self, at: At, bytes: &mut [u8], peer: SocketAddr) {
        let now = monotonic();
        if !self.allowed.has(peer.ip()) {
            return self.deny(at, bytes, peer, now);
        }
        match opening::of_datagram(bytes) {
            Datagram::Iperf3(word) => self.give_datagrams(at, word, peer),
            Datagram::Native(said) => self.meet(at, said, peer, now),
            Datagram::Other => self.converse(at, bytes, peer, now),
        }
    }

    /// Whoever may not come is told so if it is a client of our own, with as many bytes as came.
    fn deny(&mut self, at: At, bytes: &[u8], peer: SocketAddr, now: u64) {
        self.hush.refused(peer, Refusal::Address, now);
        if let Datagram::Native(said) = opening::of_datagram(bytes)
            && matches!(said.word, Word::Asks | Word::Proves)
        {
            self.send(at, &said.refusing(Refused::Address).encode(), peer);
        }
    }

    /// A client of our own: it costs nothing until it has proved that it hears what is sent to its address.
    fn meet(&mut self, at: At, said: Greeting, peer: SocketAddr, now: u64) {
        let served = matches!(said.handshake.purpose, Purpose::PingPong | Purpose::Probe);
        match said.word {
            // What a server says is never answered.
            Word::Offers | Word::Welcomes | Word::Refuses => {
                self.hush.refused(peer, Refusal::UnknownProtocol, now)
            }
            Word::Asks | Word::Proves if !served => self.hush.refused(peer, Refusal::Parameters, now),
            Word::Asks | Word::Proves if !self.serves_anybody() => {
                self.hush.refused(peer, Refusal::NoLogin, now);
                self.send(at, &said.refusing(Refused::Login).encode(), peer);
            }
            // It came before its sender had a socket of its own, which hears the next one.
            Word::Proves if self.sessions.conversation(peer).is_some() => {}
            Word::Proves if self.desk.cookies.know(said, peer, now) => self.welcome(at, said, peer, now),
            Word::Asks | Word::Proves => {
                let offer = self.desk.cookies.offer(said, peer, now);
                self.send(at, &offer.encode(), peer);
            }
        }
    }

    fn welcome(&mut self, at: At, said: Greeting, peer: SocketAddr, now: u64) {
        if !self.has_place() {
            self.hush.refused(peer, Refusal::Busy, now);
            return self.send(at, &said.refusing(Refused::Busy).encode(), peer);
        }
        self.promote(at, Conversation::new(peer, Spoken::Native(said)));
    }

    /// A stream of an iperf3 test under way.
    fn give_datagrams(&mut self, at: At, word: Connect, peer: SocketAddr) {
        let Some(test) = self.sessions.gathering_datagrams(peer.ip()) else {
            return self.hush.refused(peer, Refusal::UnknownProtocol, monotonic());
        };
        let (cookie, to) = (test.cookie, test.local.ip());
        let order = self.number();
        let local = local(self.listening.addresses[at.place], Some(to));
        let Some((socket, mut strays)) = self.connect(local, peer) else { return };
        if socket.send(&word.reply()).is_ok() {
            self.sessions.give(cookie, Arrival::Udp { order, socket });
        }
        // Its own can only be the same wish once more.
        strays.retain(|(_, from)| *from != peer);
        self.answer_strays(at, strays);
    }

    /// A message of sockperf's. A peer that goes on is given a thread and a socket of its own, if there is one left
    /// for those who may be anybody; what comes here is answered here.
    fn converse(&mut self, at: At, bytes: &mut [u8], peer: SocketAddr, now: u64) {
        let served = self.sessions.conversation(peer).cloned();
        let (is_served, known) = (served.is_some(), self.desk.known.find(peer, now).cloned());
        let goes_on = !is_served && known.is_some();
        let conversation = served.or(known);
        let conversation = conversation.unwrap_or_else(|| Conversation::new(peer, Spoken::Sockperf));
        if conversation.spoken != Spoken::Sockperf {
            // It came before its sender had a socket of its own.
            return;
        }
        let reply = sockperf::answer_datagram(bytes);
        if reply == Reply::Stranger && self.sessions.had_peer(peer) {
            // What it sent before it knew that it is served no longer.
            return;
        }
        if reply == Reply::Stranger {
            return self.hush.refused(peer, Refusal::UnknownProtocol, now);
        }
        if !self.serves_anybody() {
            return self.hush.refused(peer, Refusal::NoLogin, now);
        }
        conversation.tally.note(reply, bytes.len());
        if reply == Reply::Answer {
            self.send(at, bytes, peer);
        }
        if goes_on && self.has_room_for(peer.ip()) {
            if let Some(conversation) = self.desk.known.take(peer) {
                self.promote(at, conversation);
            }
        } else if !is_served {
            self.desk.known.remember(conversation, now);
        }
    }

    /// Whether a peer that has proved nothing may have a thread.
    fn has_room_for(&self, address: IpAddr) -> bool {
        let (all, of_this) = self.sessions.unproven(address);
        all < UNPROVEN && of_this < OF_ONE_ADDRESS
    }

    fn promote(&mut self, at: At, conversation: Conversation) {
        let local = local(self.listening.addresses[at.place], at.here);
        let Some((socket, strays)) = self.connect(local, conversation.peer) else { return };
        self.begin_datagrams(socket, local, conversation);
        self.answer_strays(at, strays);
    }

    /// A socket on an address of the door that is connected to one peer, and what came to it before it was.
    fn connect(&self, local: SocketAddr, peer: SocketAddr) -> Option<(UdpSocket, Strays)> {
        let tell = |error: &Error| self.house.watcher.event(Event::Trouble { error });
        connect(local, peer).inspect_err(tell).ok()
    }

    fn answer_strays(&mut self, at: At, strays: Strays) {
        for (mut bytes, from) in strays {
            self.answer(at, &mut bytes, from);
        }
    }

    fn send(&self, at: At, bytes: &[u8], peer: SocketAddr) {
        let socket = &self.listening.udp[at.place];
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

/// Until it is connected, a socket gets what anybody sends to the door: that lies before everything else in it.
fn connect(local: SocketAddr, peer: SocketAddr) -> Result<(UdpSocket, Strays)> {
    let socket = listeners::udp(local)?;
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
fn local(listening: SocketAddr, reached: Option<IpAddr>) -> SocketAddr {
    match reached {
        Some(reached) if listening.ip().is_unspecified() => SocketAddr::new(reached, listening.port()),
        _ => listening,
    }
}
