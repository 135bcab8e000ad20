//! The active clients. Each has at least one thread.

use std::{
    net::{IpAddr, SocketAddr, TcpStream},
    thread::{self, Scope, ScopedJoinHandle},
};

use codecs::iperf3::Cookie;
use sys::clock::monotonic;
use traffic::{Error, Result, Stop, handshake::Handshake};
use units::Nanos;
use workload::Transport;

use super::{
    holdings::Holdings,
    ingress::{Conversation, Ingress, RequestIngress, StreamIngress},
    ledger::Source,
    recently_closed::RecentlyClosed,
    waker::Waker,
};
use crate::iperf3::server::DataConnection;

#[derive(Default)]
pub(super) struct Sessions<'scope> {
    running: Vec<Session<'scope>>,
    numbers: u64,
    begun: u64,
    recently_closed: RecentlyClosed,
}

/// The time that a client's own thread has to end the test. Only that thread can send the reason.
const BACKSTOP: Nanos = Nanos::from_secs(1);

struct Session<'scope> {
    thread: ScopedJoinHandle<'scope, ()>,
    ingress: Option<Ingress>,
    source: Source,
    holdings: Holdings,
    stop: Stop,
    until: Option<u64>,
}

impl Session<'_> {
    fn is_alive(&self) -> bool {
        !self.stop.is_asked()
    }

    /// Returns whether the client occupies a slot. Unverified clients do not.
    fn has_place(&self) -> bool {
        !self.ingress.as_ref().is_some_and(Ingress::is_unproven)
    }
}

impl<'scope> Sessions<'scope> {
    pub(super) fn is_empty(&self) -> bool {
        self.alive().next().is_none()
    }

    pub(super) const fn begun(&self) -> u64 {
        self.begun
    }

    pub(super) fn begin<'env>(
        &mut self,
        scope: &'scope Scope<'scope, 'env>,
        (peer, limit): (SocketAddr, Option<Nanos>),
        (ingress, holdings): (Option<Ingress>, Holdings),
        waker: &Waker,
        work: impl FnOnce(u64, &Stop) + Send + 'scope,
    ) -> Result<()> {
        let number = self.numbers + 1;
        let (wake, stop) = (WakeOnDrop(waker.clone()), Stop::new());
        let own = stop.clone();
        let body = move || {
            let _wake = wake;
            work(number, &own);
        };
        let named = || format!("client {peer}");
        let thread = thread::Builder::new()
            .name(format!("client {number}"))
            .spawn_scoped(scope, body)
            .map_err(Error::socket("start a thread for", named))?;
        self.numbers = number;
        self.begun += u64::from(!ingress.as_ref().is_some_and(Ingress::is_unproven));
        let until = limit.map(|limit| monotonic() + (limit + BACKSTOP).0);
        let source = peer.ip().into();
        self.running.push(Session { thread, ingress, source, holdings, stop, until });
        Ok(())
    }

    pub(super) fn end(&self, closing: bool, now: u64) {
        let over = |running: &&Session<'_>| closing || running.until.is_some_and(|until| now >= until);
        self.running.iter().filter(over).for_each(|running| running.stop.ask());
    }

    pub(super) fn displace_newest_of(&self, source: Source) {
        let its = |running: &&Session<'_>| running.source == source && running.has_place();
        if let Some(newest) = self.alive().filter(its).last() {
            newest.stop.ask();
            newest.holdings.give_up_place();
        }
    }

    pub(super) fn reap(&mut self) -> bool {
        let before = self.running.len();
        for ended in self.running.extract_if(.., |running| running.thread.is_finished()) {
            let _ = ended.thread.join();
            self.recently_closed.add(ended.ingress.as_ref());
        }
        self.running.len() < before
    }

    pub(super) fn has_test(&self) -> bool {
        self.stream_ingresses().next().is_some()
    }

    pub(super) fn has(&self, cookie: Cookie) -> bool {
        self.stream_ingresses().any(|stream_ingress| stream_ingress.cookie == cookie)
    }

    pub(super) fn give(&self, cookie: Cookie, arrival: DataConnection) -> bool {
        let test = self.stream_ingresses().find(|stream_ingress| stream_ingress.cookie == cookie);
        test.is_some_and(|test| test.is_gathering() && test.arrivals.try_send(arrival).is_ok())
    }

    pub(super) fn give_request(&self, peer: IpAddr, socket: TcpStream, handshake: Handshake) -> bool {
        let found =
            self.requests().find(|requests| requests.token == handshake.token && requests.peer == peer);
        found.is_some_and(|requests| requests.arrivals.try_send((socket, handshake)).is_ok())
    }

    pub(super) fn had_peer(&self, peer: SocketAddr) -> bool {
        let is_its = |ingress: &Ingress| matches!(ingress, Ingress::Datagrams(its) if its.peer == peer);
        self.recently_closed.has_peer(peer)
            || self.running.iter().filter_map(|it| it.ingress.as_ref()).any(is_its)
    }

    pub(super) fn had_token(&self, token: u64) -> bool {
        let is_its = |ingress: &Ingress| matches!(ingress, Ingress::Requests(its) if its.token == token);
        self.recently_closed.has_token(token)
            || self.running.iter().filter_map(|it| it.ingress.as_ref()).any(is_its)
    }

    pub(super) fn has_token(&self, token: u64) -> bool {
        self.requests().any(|requests| requests.token == token)
    }

    pub(super) fn conversation(&self, peer: SocketAddr) -> Option<&Conversation> {
        let mut all = self.alive().filter_map(|running| match &running.ingress {
            Some(Ingress::Datagrams(conversation)) => Some(conversation),
            _ => None,
        });
        all.find(|conversation| conversation.peer == peer)
    }

    pub(super) fn gathering_datagrams(&self, peer: IpAddr) -> Option<&StreamIngress> {
        let udp = |stream_ingress: &&StreamIngress| {
            stream_ingress.transport == Transport::Udp && stream_ingress.peer == peer
        };
        self.stream_ingresses().filter(udp).find(|stream_ingress| stream_ingress.is_gathering())
    }

    fn stream_ingresses(&self) -> impl Iterator<Item = &StreamIngress> {
        self.alive().filter_map(|running| match &running.ingress {
            Some(Ingress::Streams(stream_ingress)) => Some(stream_ingress),
            _ => None,
        })
    }

    fn requests(&self) -> impl Iterator<Item = &RequestIngress> {
        self.alive().filter_map(|running| match &running.ingress {
            Some(Ingress::Requests(requests)) => Some(requests),
            _ => None,
        })
    }

    fn alive(&self) -> impl Iterator<Item = &Session<'scope>> {
        self.running.iter().filter(|running| running.is_alive())
    }
}

struct WakeOnDrop(Waker);

impl Drop for WakeOnDrop {
    fn drop(&mut self) {
        self.0.wake();
    }
}
