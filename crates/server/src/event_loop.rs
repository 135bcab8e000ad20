//! The door itself: one thread that accepts, listens to first words, and hands over to sessions.
//!
//! It never waits for a peer. Whoever is served has a thread of its own.

use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpStream},
    thread::{self, Scope},
    time::Duration,
};

use sys::{
    clock::monotonic,
    poller::{Interest, Poller, Ready},
};
use traffic::{Error, Refused, Result, Stop, dial};
use units::Nanos;

use super::{
    accept_backoff::Resting,
    admission_check::Keys,
    admission_queue::Turns,
    allow_list::Allowed,
    auth_worker::Clerk,
    config::Config,
    event::{Event, Refusal, Watcher},
    listeners::Listening,
    log_limiter::Hush,
    pending::{Guest, Guests, Said},
    session::House,
    sessions::Sessions,
    udp_demux::Desk,
    waker::{self, Poke, Poked},
};

/// The longest wait: so often it looks whether it was asked to stop, and who is late.
const TICK: Duration = Duration::from_millis(100);
/// Descriptors that one wait tells of.
const EVENTS: usize = 256;
/// Connections accepted, or datagrams read, before others are heard again.
pub(super) const BATCH: usize = 64;

/// Tokens of the poller: listening sockets of TCP from here on, of UDP from there on, guests above.
const TCP: u64 = 0;
const UDP: u64 = 1 << 16;
const POKED: u64 = 1 << 17;
const GUESTS: u64 = 1 << 32;

/// Serves whoever comes, until it is asked to stop.
///
/// # Errors
/// When a setting makes no sense or an address cannot be listened on. What goes wrong with a client is told to
/// `watcher`, and ends nobody else's session.
pub fn serve(config: &Config, stop: &Stop, watcher: &dyn Watcher) -> Result<()> {
    let allowed = Allowed::new(&config.allow)?;
    let keys = config.auth.as_ref().map(Keys::new).transpose()?;
    sys::limits::raise_open_files()?;
    let listening = Listening::open(&config.listen)?;
    let (poke, poked) = waker::pair()?;
    watcher.event(Event::Listening { addresses: &listening.addresses, proven: config.auth.is_some() });
    thread::scope(|scope| {
        let front = Front {
            scope,
            house: House { config, closing: stop, stop, watcher },
            allowed: &allowed,
            keys: keys.as_ref(),
            clerk: Clerk::new(scope, keys.as_ref(), stop, &poke),
            listening: &listening,
            poller: Poller::new(EVENTS)?,
            guests: Guests::default(),
            resting: Resting::default(),
            turns: Turns::default(),
            sessions: Sessions::default(),
            desk: Desk::default(),
            hush: Hush::new(watcher),
            poke,
            poked,
            next: GUESTS,
            idle_since: monotonic(),
        };
        front.run()
    })
}

pub(super) struct Front<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) house: House<'env>,
    pub(super) allowed: &'env Allowed,
    pub(super) keys: Option<&'env Keys>,
    pub(super) clerk: Clerk,
    pub(super) listening: &'env Listening,
    pub(super) poller: Poller,
    guests: Guests,
    /// Listening sockets of TCP.
    resting: Resting,
    pub(super) turns: Turns,
    pub(super) sessions: Sessions<'scope>,
    pub(super) desk: Desk,
    pub(super) hush: Hush<'env>,
    pub(super) poke: Poke,
    poked: Poked,
    /// The number of the next connection: connections are numbered in the order of their coming.
    next: u64,
    idle_since: u64,
}

impl<'scope, 'env> Front<'scope, 'env> {
    fn run(mut self) -> Result<()> {
        let ended = self.attend_all();
        self.sessions.end(true, monotonic());
        self.hush.flush();
        ended
    }

    fn attend_all(&mut self) -> Result<()> {
        for (listener, token) in self.listening.tcp.iter().zip(TCP..) {
            self.poller.add(listener, token, Interest::Read)?;
        }
        for (socket, token) in self.listening.udp.iter().zip(UDP..) {
            self.poller.add(socket, token, Interest::Read)?;
        }
        self.poller.add(&self.poked, POKED, Interest::Read)?;
        let mut ready = Vec::with_capacity(EVENTS);
        while !self.is_over() {
            self.poller.wait(&mut ready, Some(TICK))?;
            for told in &ready {
                self.attend(*told);
            }
            self.tidy();
        }
        Ok(())
    }

    fn attend(&mut self, told: Ready) {
        let place = |from: u64| usize::try_from(told.token - from).expect("few sockets listen");
        match told.token {
            GUESTS.. => self.hear(told.token),
            POKED.. => self.poked.clear(),
            UDP.. => self.receive(place(UDP)),
            TCP.. => self.accept(place(TCP)),
        }
    }

    /// What has to be looked after now and then, and after each client.
    fn tidy(&mut self) {
        let now = monotonic();
        for guest in self.guests.late(now) {
            self.hush.refused(guest.peer, Refusal::Slow, now);
            guest.dismiss();
        }
        self.wake_listeners(now);
        self.hush.tick(now);
        self.sessions.end(false, now);
        self.sessions.reap();
        self.hear_clerk(now);
        self.take_turns(now);
        if !self.sessions.is_empty() {
            self.idle_since = now;
        }
    }

    fn is_over(&self) -> bool {
        let Config { once, idle_timeout, .. } = *self.house.config;
        let served = self.sessions.begun() > 0 && self.sessions.count() == 0;
        let idle = idle_timeout > Nanos(0) && monotonic() - self.idle_since > idle_timeout.0;
        self.house.stop.is_asked() || (once && (served || idle))
    }

    fn accept(&mut self, listener: usize) {
        for _ in 0..BATCH {
            match self.listening.tcp[listener].accept() {
                Ok((socket, peer)) => self.admit(socket, peer),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The peer was gone before it was accepted (accept(2)).
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(error) => return self.make_room(listener, error),
            }
        }
    }

    fn admit(&mut self, socket: TcpStream, peer: SocketAddr) {
        let now = monotonic();
        let order = self.number();
        let guest = Guest::new(socket, peer, now);
        if !self.allowed.has(peer.ip()) {
            self.hush.refused(peer, Refusal::Address, now);
            dial::refuse(&guest.socket, Refused::Address);
            return guest.dismiss();
        }
        let watched = guest.socket.set_nonblocking(true).is_ok()
            && self.poller.add(&guest.socket, order, Interest::Read).is_ok();
        if !watched {
            self.hush.refused(peer, Refusal::ConnectionLimit, now);
            return guest.dismiss();
        }
        if let Some(gone) = self.guests.admit(order, guest) {
            self.hush.refused(gone.peer, Refusal::ConnectionLimit, now);
            gone.dismiss();
        }
        // Most have said it by now.
        self.hear(order);
    }

    /// The number of what comes now.
    pub(super) fn number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    /// No more descriptors or memory: the oldest guest goes, or the listener rests for a moment.
    fn make_room(&mut self, listener: usize, error: io::Error) {
        if let Some(gone) = self.guests.drop_oldest() {
            self.hush.refused(gone.peer, Refusal::ConnectionLimit, monotonic());
            return gone.dismiss();
        }
        let address = || self.listening.addresses[listener].to_string();
        let error = Error::socket("accept on", address)(error);
        self.house.watcher.event(Event::Trouble { error: &error });
        // Whoever waits there would wake the poller again and again.
        if self.poller.remove(&self.listening.tcp[listener]).is_ok() {
            self.resting.rest(listener, monotonic());
        }
    }

    fn wake_listeners(&mut self, now: u64) {
        for place in self.resting.rested(now) {
            let token = TCP + place as u64;
            if self.poller.add(&self.listening.tcp[place], token, Interest::Read).is_err() {
                self.resting.rest(place, now);
            }
        }
    }

    /// Listens to what a connection has said.
    fn hear(&mut self, order: u64) {
        let now = monotonic();
        let Some(guest) = self.guests.get(order) else { return self.turns.stir(order, &mut self.hush, now) };
        let mut said = guest.hear(now);
        if let Said::Cookie(cookie) = said
            && !self.sessions.has(cookie)
        {
            said = guest.greet(cookie, now);
        }
        if matches!(said, Said::Nothing) {
            return;
        }
        let Some(guest) = self.guests.take(order) else { return };
        match said {
            Said::Refused(because) => {
                self.hush.refused(guest.peer, because, now);
                guest.dismiss();
            }
            Said::Cookie(cookie) => self.give_stream(order, guest, cookie),
            Said::Ready(cookie, machine, params) => self.line_up(order, guest, cookie, machine, params),
            Said::Native(handshake) => self.begin_native(guest, handshake),
            Said::Sockperf(first) => self.begin_sockperf(guest, first),
            Said::Nothing => {}
        }
    }
}
