//! Datagrams that come to the door: answered where they stand, or given a socket of their own.
//!
//! Nothing is answered with more bytes than came, and nobody is remembered beyond a bound.

use std::{
    io::ErrorKind,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use sys::clock::monotonic;
use units::Nanos;
use wire::{
    iperf3::Connect,
    sockperf::{self, Reply},
};

use super::{
    event::{Event, Refusal},
    front::{BATCH, Front},
    listen,
    opening::{self, Datagram},
    sessions::{Conversation, Spoken},
};
use crate::{
    error::{Error, Result},
    handshake::Purpose,
    iperf3::server::Arrival,
    ping_pong::{is_closing, knows},
};

/// No datagram is longer.
const LONGEST: usize = 65_535;
/// No more of them are taken from a socket; the rest are its own peer's.
const STRAYS: usize = 1024;

/// Peers whose handshake is remembered.
const KNOWN: usize = 256;
/// For how long.
const REMEMBERED: Nanos = Nanos::from_secs(10);

/// Peers that have begun to speak and have no socket of their own yet.
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

/// What is kept of datagrams from one to the next.
pub(super) struct Desk {
    known: Known,
    buffer: Vec<u8>,
}

impl Default for Desk {
    fn default() -> Self {
        Self { known: Known::default(), buffer: vec![0; LONGEST] }
    }
}

impl Front<'_, '_> {
    /// Takes what has come on one of the UDP sockets.
    pub(super) fn receive(&mut self, place: usize) {
        // Taken out so that what it holds can be looked at beside everything else.
        let mut buffer = std::mem::take(&mut self.desk.buffer);
        for _ in 0..BATCH {
            match self.listening.udp[place].recv_from(&mut buffer) {
                Ok((length, peer)) => self.answer(place, &mut buffer[..length], peer),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // Errors are about datagrams that were sent before, to peers that are gone.
                Err(_) => {}
            }
        }
        self.desk.buffer = buffer;
    }

    fn answer(&mut self, place: usize, bytes: &mut [u8], peer: SocketAddr) {
        let now = monotonic();
        if !self.allowed.has(peer.ip()) {
            return self.hush.refused(peer, Refusal::Address, now);
        }
        match opening::of_datagram(bytes) {
            Datagram::Iperf3(word) => self.give_datagrams(place, word, peer),
            Datagram::Native(said) if matches!(said.purpose, Purpose::PingPong | Purpose::Probe) => {
                self.desk.known.remember(Conversation::new(peer, Spoken::Native(said.token)), now);
                self.send(place, bytes, peer);
            }
            Datagram::Native(_) => self.hush.refused(peer, Refusal::Parameters, now),
            Datagram::Other => self.converse(place, bytes, peer, now),
        }
    }

    /// A stream of an iperf3 test under way.
    fn give_datagrams(&mut self, place: usize, word: Connect, peer: SocketAddr) {
        let Some(test) = self.sessions.gathering_datagrams(peer.ip()) else {
            return self.hush.refused(peer, Refusal::Stranger, monotonic());
        };
        let (cookie, to) = (test.cookie, test.local.ip());
        let order = self.number();
        let local = local(self.listening.addresses[place], to);
        let Some((socket, mut strays)) = self.connect(local, peer) else { return };
        if socket.send(&word.reply()).is_ok() {
            self.sessions.give(cookie, Arrival::Udp { order, socket });
        }
        // Its own can only be the same wish once more.
        strays.retain(|(_, from)| *from != peer);
        self.answer_strays(place, strays);
    }

    /// A message of an exchange that has begun, or the first of sockperf's. A peer that goes on is given a thread
    /// and a socket of its own; what has come here before that is answered here.
    fn converse(&mut self, place: usize, bytes: &mut [u8], peer: SocketAddr, now: u64) {
        let served = self.sessions.conversation(peer);
        let goes_on = served.is_none() && self.desk.known.find(peer, now).is_some() && self.has_place();
        let conversation = served.or_else(|| self.desk.known.find(peer, now)).cloned();
        let conversation = conversation.unwrap_or_else(|| Conversation::new(peer, Spoken::Sockperf));
        let (answered, over) = match conversation.spoken {
            Spoken::Native(token) => (knows(bytes, token), is_closing(bytes)),
            Spoken::Sockperf => {
                let reply = sockperf::answer_datagram(bytes);
                conversation.tally.note(reply, bytes.len());
                if reply == Reply::Stranger {
                    return self.hush.refused(peer, Refusal::Stranger, now);
                }
                (reply == Reply::Answer, false)
            }
        };
        if answered {
            self.send(place, bytes, peer);
        }
        if goes_on && !over {
            self.promote(place, peer);
        } else if self.sessions.conversation(peer).is_none() && conversation.spoken == Spoken::Sockperf {
            self.desk.known.remember(conversation, now);
        }
    }

    fn promote(&mut self, place: usize, peer: SocketAddr) {
        let Some(conversation) = self.desk.known.take(peer) else { return };
        let local = self.listening.addresses[place];
        let Some((socket, strays)) = self.connect(local, peer) else { return };
        self.begin_datagrams(socket, local, conversation);
        self.answer_strays(place, strays);
    }

    /// A socket on an address of the door that is connected to one peer, and what came to it before it was.
    fn connect(&self, local: SocketAddr, peer: SocketAddr) -> Option<(UdpSocket, Strays)> {
        let tell = |error: &Error| self.house.watcher.event(Event::Trouble { error });
        connect(local, peer).inspect_err(tell).ok()
    }

    fn answer_strays(&mut self, place: usize, strays: Strays) {
        for (mut bytes, from) in strays {
            self.answer(place, &mut bytes, from);
        }
    }

    fn send(&self, place: usize, bytes: &[u8], peer: SocketAddr) {
        // Lost, as it may be anywhere else on its way.
        let _ = self.listening.udp[place].send_to(bytes, peer);
    }
}

/// Datagrams that came to another socket than they should have.
type Strays = Vec<(Vec<u8>, SocketAddr)>;

/// Until it is connected, a socket gets what anybody sends to the door: that lies before everything else in it.
fn connect(local: SocketAddr, peer: SocketAddr) -> Result<(UdpSocket, Strays)> {
    let socket = listen::udp(local)?;
    socket.connect(peer).map_err(Error::socket("connect", || format!("a UDP socket to {peer}")))?;
    let (mut bytes, mut strays) = (vec![0; LONGEST], Strays::new());
    while strays.len() < STRAYS
        && let Ok((length, from)) = socket.recv_from(&mut bytes)
    {
        strays.push((bytes[..length].to_vec(), from));
    }
    Ok((socket, strays))
}

/// Where the socket of a stream is bound: to the address that its client has connected to.
fn local(listening: SocketAddr, to: IpAddr) -> SocketAddr {
    if listening.ip().is_unspecified() { SocketAddr::new(to, listening.port()) } else { listening }
}
