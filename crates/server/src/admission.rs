//! From a peer that has said what it wants to a client that is served: judged, in its turn, on a thread.

use std::net::{SocketAddr, TcpStream, UdpSocket};

use codecs::iperf3::{Cookie, ErrorCode, Params, server::Machine};
use sys::{clock::monotonic, poller::Interest};
use traffic::{
    Error, Refused, Result, Stop,
    connect::CONTROL,
    dial,
    handshake::{Handshake, Purpose},
};
use workload::Transport;

use super::{
    admission_check::{Denial, judge},
    admission_queue::{Turn, WAITING, Waiting},
    auth_worker::{Judged, Login},
    event::{Event, Refusal},
    event_loop::Front,
    pending::{Guest, dismiss},
    session::{self, House, Place},
    sessions::{Conversation, Intake, Requests, Sessions, WayIn},
};
use crate::iperf3::server::{Arrival, Visit};

/// Data connections of all iperf3 tests together, each with a thread; one test has 256 at most.
const STREAMS: usize = 1024;
/// What a client is told that has not proved who it is, and what the watcher is.
const UNKNOWN: Denial = Denial { told: (ErrorCode::AUTHORIZATION, 0), because: Refusal::Unknown };
/// Connections for one request that may wait for a thread of their client.
const REQUESTS: usize = 256;

impl<'scope> Front<'scope, '_> {
    /// A data connection of a test under way.
    pub(super) fn give_stream(&mut self, order: u64, guest: Guest, cookie: Cookie) {
        // Closing it would do the same, but it is handed on.
        let _ = self.poller.remove(&guest.socket);
        if !self.sessions.give(cookie, Arrival::Tcp { order, socket: guest.socket }) {
            self.hush.refused(guest.peer, Refusal::Parameters, monotonic());
        }
    }

    /// An iperf3 client has sent its parameters: it is judged, and awaits its turn.
    pub(super) fn line_up(
        &mut self,
        order: u64,
        guest: Guest,
        cookie: Cookie,
        machine: Box<Machine>,
        params: Box<Params>,
    ) {
        let (now, Guest { socket, peer, .. }) = (monotonic(), guest);
        let Ok(local) = socket.local_addr() else { return };
        // It is not heard while its login is judged.
        if self.poller.remove(&socket).is_err() {
            return self.hush.refused(peer, Refusal::ConnectionLimit, now);
        }
        let waiting = Waiting { order, socket, peer, local, cookie, machine, params, since: now };
        match self.clerk.log_in(waiting, self.keys, now) {
            Login::Needless(waiting) => self.await_turn(waiting, now),
            Login::Pending => {}
            Login::Refused(waiting) => self.refuse(waiting, UNKNOWN, now),
            Login::Busy(waiting) => waiting.deny(&mut self.hush, now),
        }
    }

    /// Goes on with those whose login was judged.
    pub(super) fn hear_clerk(&mut self, now: u64) {
        while let Some(Judged { mut waiting, known }) = self.clerk.judged() {
            if known {
                waiting.since = now;
                self.await_turn(waiting, now);
            } else {
                self.clerk.failed(waiting.peer.ip(), now);
                self.refuse(waiting, UNKNOWN, now);
            }
        }
    }

    fn refuse(&mut self, mut waiting: Waiting, denial: Denial, now: u64) {
        self.hush.refused(waiting.peer, denial.because, now);
        let (code, number) = denial.told;
        waiting.machine.refuse(code, number);
        dismiss(&waiting.socket, &mut waiting.machine);
    }

    /// A client that is known awaits its turn, if what it asks for may be served.
    fn await_turn(&mut self, waiting: Waiting, now: u64) {
        let (order, peer) = (waiting.order, waiting.peer);
        if let Err(denial) = judge(&waiting.params, &self.house.config.limits) {
            return self.refuse(waiting, denial, now);
        }
        if self.poller.add(&waiting.socket, order, Interest::Read).is_err() {
            return self.hush.refused(peer, Refusal::ConnectionLimit, now);
        }
        if self.turns.count() >= WAITING {
            return waiting.deny(&mut self.hush, now);
        }
        self.turns.add(waiting);
        self.take_turns(now);
        if let Some(before) = self.turns.place(order).filter(|_| self.house.config.queue) {
            self.house.watcher.event(Event::Waits { peer, before });
        }
    }

    /// Serves those whose turn it is, and sends those away who have no hope of one.
    pub(super) fn take_turns(&mut self, now: u64) {
        while let Some(waiting) = self.turns.next(|waiting| turn(waiting, &self.sessions, &self.house)) {
            let begun = self.begin_iperf3(waiting);
            self.tell(begun);
        }
        self.turns.send_away(|waiting| turn(waiting, &self.sessions, &self.house), &mut self.hush, now);
    }

    fn begin_iperf3(&mut self, waiting: Waiting) -> Result<()> {
        // It stays with the client's thread, which waits for it in its own way.
        self.poller.remove(&waiting.socket)?;
        let Waiting { socket, peer, local, cookie, machine, params, .. } = waiting;
        let count = params.streams().len();
        let (intake, arriving) = Intake::new(cookie, params.transport(), (peer, local), count);
        let (gathering, poke) = (intake.gathering(), self.poke.clone());
        let load = params.load();
        let gathered = Box::new(move || {
            gathering.store(false, std::sync::atomic::Ordering::Relaxed);
            poke.poke();
        });
        let visit = Visit {
            control: socket,
            cookie,
            machine,
            params,
            load,
            arriving,
            patience: self.house.config.patience(),
            gathered,
        };
        self.begin(peer, local, Some(WayIn::Streams(intake)), move |house, place| {
            session::iperf3(house, place, visit);
        })
    }

    pub(super) fn begin_native(&mut self, guest: Guest, said: Handshake) {
        match said.purpose {
            _ if !self.serves_anybody() => self.turn_away(&guest, Refusal::NoLogin, Refused::Login),
            Purpose::PingPong => self.begin_stream(guest, None, session::ping_pong),
            // Which of two it is for a further connection could not say.
            Purpose::Connect if said.number == CONTROL && self.sessions.has_token(said.token) => {
                self.hush.refused(guest.peer, Refusal::Token, monotonic());
            }
            Purpose::Connect if said.number == CONTROL => {
                let (requests, arriving) = Requests::new(said.token, guest.peer.ip(), REQUESTS);
                self.begin_stream(guest, Some(WayIn::Requests(requests)), move |house, place, control| {
                    session::connect(house, place, &control, arriving);
                });
            }
            Purpose::Connect => self.give_request(guest, said),
            _ => self.turn_away(&guest, Refusal::Parameters, Refused::Kind),
        }
    }

    /// A client of our own is told why.
    fn turn_away(&mut self, guest: &Guest, because: Refusal, word: Refused) {
        self.hush.refused(guest.peer, because, monotonic());
        dial::refuse(&guest.socket, word);
    }

    pub(super) fn begin_sockperf(&mut self, guest: Guest, first: Vec<u8>) {
        if !self.serves_anybody() {
            return self.hush.refused(guest.peer, Refusal::NoLogin, monotonic());
        }
        self.begin_stream(guest, None, move |house, place, socket| {
            session::sockperf(house, place, &socket, &first);
        });
    }

    /// Serves datagrams on a socket that is connected to their sender.
    pub(super) fn begin_datagrams(
        &mut self,
        socket: UdpSocket,
        local: SocketAddr,
        conversation: Conversation,
    ) {
        let ready = socket.set_nonblocking(false).map_err(Error::socket("prepare", || "a UDP socket"));
        let way_in = Some(WayIn::Datagrams(conversation.clone()));
        let begun = ready.and_then(|()| {
            self.begin(conversation.peer, local, way_in, move |house, place| {
                session::datagrams(house, place, socket, &conversation);
            })
        });
        self.tell(begun);
    }

    /// Whether clients are served that cannot prove who they are.
    pub(super) const fn serves_anybody(&self) -> bool {
        self.house.config.auth.is_none()
    }

    /// Whether one more may be served.
    pub(super) fn has_place(&self) -> bool {
        has_place(&self.sessions, &self.house)
    }

    /// Serves a connection, if there is a place.
    fn begin_stream(
        &mut self,
        guest: Guest,
        way_in: Option<WayIn>,
        work: impl FnOnce(House<'_>, &Place, TcpStream) + Send + 'scope,
    ) {
        if !self.has_place() {
            return self.turn_away(&guest, Refusal::Busy, Refused::Busy);
        }
        let Guest { socket, peer, .. } = guest;
        let begun = self.prepare(&socket, peer).and_then(|local| {
            self.begin(peer, local, way_in, move |house, place| work(house, place, socket))
        });
        self.tell(begun);
    }

    /// A connection for one request of a client that is served.
    fn give_request(&mut self, guest: Guest, said: Handshake) {
        let Guest { socket, peer, .. } = guest;
        let ready = self.prepare(&socket, peer).is_ok();
        if !(ready && self.sessions.give_request(peer.ip(), socket, said)
            || self.sessions.had_token(said.token))
        {
            self.hush.refused(peer, Refusal::Parameters, monotonic());
        }
    }

    /// Makes a connection one that waits, and says where it came to.
    fn prepare(&self, socket: &TcpStream, peer: SocketAddr) -> Result<SocketAddr> {
        let named = || format!("a connection with {peer}");
        self.poller.remove(socket)?;
        socket.set_nonblocking(false).map_err(Error::socket("prepare", named))?;
        socket.local_addr().map_err(Error::socket("read the address of", named))
    }

    fn begin(
        &mut self,
        peer: SocketAddr,
        local: SocketAddr,
        way_in: Option<WayIn>,
        work: impl FnOnce(House<'_>, &Place) + Send + 'scope,
    ) -> Result<()> {
        let house = self.house;
        // A test of iperf3 is told why it ends; whoever has no way to hear so is ended from here.
        let limit = (!matches!(way_in, Some(WayIn::Streams(_)))).then_some(house.config.limits.duration);
        let work = move |number, stop: &Stop| work(House { stop, ..house }, &Place { number, peer, local });
        self.sessions.begin(self.scope, (peer, limit), way_in, &self.poke, work)
    }

    /// A client that could not be served is no reason to end.
    fn tell(&self, begun: Result<()>) {
        if let Err(error) = begun {
            self.house.watcher.event(Event::Trouble { error: &error });
        }
    }
}

fn has_place(sessions: &Sessions<'_>, house: &House<'_>) -> bool {
    let served = house.config.once && sessions.begun() > 0;
    !served && sessions.count() < house.config.limits.clients
}

fn turn(waiting: &Waiting, sessions: &Sessions<'_>, house: &House<'_>) -> Turn {
    let place = has_place(sessions, house);
    let alone = !(house.config.queue && sessions.has_test());
    // Streams over UDP do not say whose they are: tests of one peer gather them one after another.
    let mixed = waiting.params.transport() == Transport::Udp
        && sessions.gathering_datagrams(waiting.peer.ip()).is_some();
    let room = sessions.streams() + waiting.params.streams().len() <= STREAMS;
    match (place && room && alone && !mixed, (place && room) || house.config.queue) {
        (true, _) => Turn::Now,
        (false, true) => Turn::Later,
        (false, false) => Turn::Busy,
    }
}
