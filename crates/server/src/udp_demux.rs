//! Handles datagrams on the shared sockets. Replies are never longer than the request.

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
    ping_pong::{Greeting, GreetingKind},
};

use super::{
    datagram_peers::LONGEST,
    event::{Event, Refusal, refusal_code},
    event_loop::{BATCH, EventLoop},
    ingress::{Conversation, DatagramProtocol},
    ledger::{Share, Source},
    listeners::Listeners,
    opening::{self, Datagram},
};
use crate::{iperf3::server::DataConnection, sockperf::cost};

const STRAYS: usize = 1024;

#[derive(Debug, Clone, Copy)]
struct Destination {
    place: usize,
    here: Option<IpAddr>,
}

impl EventLoop<'_, '_> {
    pub(super) fn receive(&mut self, place: usize) {
        let mut buffer = std::mem::take(&mut self.udp.buffer);
        for _ in 0..BATCH {
            match receive_addressed(&self.listeners.udp[place], &mut buffer) {
                Ok((length, peer, here)) => {
                    // A link-local address is valid only together with its interface, so let the routing table choose
                    // the source address.
                    let here = here.filter(|here| !is_of_a_link(*here));
                    self.answer(Destination { place, here }, &mut buffer[..length], peer);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
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
            Datagram::Native(greeting) => self.greet_native(at, greeting, peer, now),
            Datagram::Other => self.answer_sockperf(at, bytes, peer, now),
        }
    }

    fn deny(&mut self, at: Destination, bytes: &[u8], peer: SocketAddr, now: u64) {
        self.log.refused(peer, Refusal::Address, now);
        if let Datagram::Native(greeting) = opening::of_datagram(bytes)
            && matches!(greeting.kind, GreetingKind::Asks | GreetingKind::Proves)
        {
            self.send(at, &greeting.refusing(RefusalCode::Address).encode(), peer);
        }
    }

    /// Starts the handshake, but reserves nothing until the client has verified its address.
    fn greet_native(&mut self, at: Destination, greeting: Greeting, peer: SocketAddr, now: u64) {
        let served = matches!(greeting.handshake.purpose, Purpose::PingPong | Purpose::Probe);
        match greeting.kind {
            // A reply to messages that only servers send could cause a loop.
            GreetingKind::Offers | GreetingKind::Welcomes | GreetingKind::Refuses => {
                self.log.refused(peer, Refusal::UnknownProtocol, now);
            }
            GreetingKind::Asks | GreetingKind::Proves if !served => {
                self.log.refused(peer, Refusal::Parameters, now);
            }
            GreetingKind::Asks | GreetingKind::Proves if !self.accepts_unauthenticated() => {
                self.log.refused(peer, Refusal::NoLogin, now);
                self.send(at, &greeting.refusing(RefusalCode::Login).encode(), peer);
            }
            // The client sent this datagram before the server opened a socket for it. That socket replies if the client
            // repeats the datagram.
            GreetingKind::Proves if self.sessions.conversation(peer).is_some() => {}
            GreetingKind::Proves if self.udp.cookies.know(greeting, peer, now) => {
                self.welcome(at, greeting, peer, now);
            }
            GreetingKind::Asks | GreetingKind::Proves => {
                let offer = self.udp.cookies.offer(greeting, peer, now);
                self.send(at, &offer.encode(), peer);
            }
        }
    }

    fn welcome(&mut self, at: Destination, greeting: Greeting, peer: SocketAddr, now: u64) {
        match self.place(peer.ip()) {
            Ok(place) => {
                self.promote(at, Conversation::new(peer, DatagramProtocol::Native(greeting)), place);
            }
            Err(exhausted) => {
                self.log.refused(peer, exhausted.into(), now);
                self.send(at, &greeting.refusing(refusal_code(exhausted)).encode(), peer);
            }
        }
    }

    fn give_datagrams(&mut self, at: Destination, word: Connect, peer: SocketAddr) {
        let Some(test) = self.sessions.gathering_datagrams(peer.ip()) else {
            return self.log.refused(peer, Refusal::UnknownProtocol, monotonic());
        };
        let (cookie, to) = (test.cookie, test.local);
        let order = self.next_number();
        let local = local(self.listeners.addresses[at.place], Some(to));
        let Some((socket, mut strays)) = self.connect(local, peer) else { return };
        if socket.send(&word.reply()).is_ok() {
            self.sessions.give(cookie, DataConnection::Udp { order, socket });
        }
        // A datagram from the client itself can only repeat its request.
        strays.retain(|(_, from)| *from != peer);
        self.answer_strays(at, strays);
    }

    /// A peer that keeps sending gets its own thread and connected socket, unless the budget for unverified clients is
    /// used up.
    fn answer_sockperf(&mut self, at: Destination, bytes: &mut [u8], peer: SocketAddr, now: u64) {
        let served = self.sessions.conversation(peer).cloned();
        let (is_served, known) = (served.is_some(), self.udp.known.find(peer, now).cloned());
        let goes_on = !is_served && known.is_some();
        let new = || Conversation::new(peer, DatagramProtocol::Sockperf);
        let conversation = served.or(known).unwrap_or_else(new);
        if conversation.protocol != DatagramProtocol::Sockperf {
            return;
        }
        let reply = sockperf::answer_datagram(bytes);
        if reply == Reply::Stranger && self.sessions.had_peer(peer) {
            return;
        }
        if reply == Reply::Stranger {
            return self.log.refused(peer, Refusal::UnknownProtocol, now);
        }
        if !self.accepts_unauthenticated() {
            return self.log.refused(peer, Refusal::NoLogin, now);
        }
        let allowed = self.may_reply(reply, bytes.len(), peer, now);
        if allowed {
            conversation.counts.note(reply, bytes.len());
        } else {
            self.log.refused(peer, Refusal::Rate, now);
        }
        if allowed && reply == Reply::Answer {
            self.send(at, bytes, peer);
        }
        // The shared socket serves clients without a thread.
        let share = if goes_on { self.ledger.unproven.take(peer.ip().into(), 1).ok() } else { None };
        if let Some(share) = share {
            if let Some(conversation) = self.udp.known.take(peer) {
                self.promote(at, conversation, share);
            }
        } else if !is_served {
            self.udp.known.remember(conversation, now);
        }
    }

    fn may_reply(&mut self, reply: Reply, length: usize, peer: SocketAddr, now: u64) -> bool {
        let source = Source::from(peer.ip());
        reply != Reply::Answer || source.is_proven() || self.ledger.replies.spend(source, cost(length), now)
    }

    fn promote(&mut self, at: Destination, conversation: Conversation, share: Share) {
        let here = at.here.map(|here| SocketAddr::new(here, 0));
        let local = local(self.listeners.addresses[at.place], here);
        let Some((socket, strays)) = self.connect(local, conversation.peer) else { return };
        self.begin_datagrams(socket, local, conversation, share);
        self.answer_strays(at, strays);
    }

    fn connect(&self, local: SocketAddr, peer: SocketAddr) -> Option<(UdpSocket, Strays)> {
        let report = |error: &Error| self.context.watcher.event(Event::Trouble { error });
        connect(self.listeners, local, peer).inspect_err(report).ok()
    }

    fn answer_strays(&mut self, at: Destination, strays: Strays) {
        for (mut bytes, from) in strays {
            self.answer(at, &mut bytes, from);
        }
    }

    fn send(&self, at: Destination, bytes: &[u8], peer: SocketAddr) {
        let socket = &self.listeners.udp[at.place];
        let _ = match at.here {
            Some(here) => send_addressed(socket, bytes, peer, here),
            None => socket.send_to(bytes, peer),
        };
    }
}

fn is_of_a_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.is_unicast_link_local())
}

type Strays = Vec<(Vec<u8>, SocketAddr)>;

/// Datagrams from other senders may arrive before connect(2) and stay at the front of the queue.
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

fn local(listeners: SocketAddr, reached: Option<SocketAddr>) -> SocketAddr {
    let mut local = reached.filter(|_| listeners.ip().is_unspecified()).unwrap_or(listeners);
    local.set_port(listeners.port());
    local
}
