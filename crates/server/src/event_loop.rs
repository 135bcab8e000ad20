//! The event loop, which never blocks on a peer.

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
use traffic::{Error, RefusalCode, Result, Stop, dial};
use units::Nanos;

use super::{
    accept_backoff::AcceptBackoff,
    admission_check::LoginKeys,
    admission_queue::AdmissionQueue,
    allow_list::AllowList,
    auth_worker::AuthWorker,
    config::{Config, Limits},
    confinement::{self, Confinement},
    datagram_peers::UdpDemux,
    event::{Event, Refusal, Watcher},
    ledger::{Budget, Ledger},
    listeners::Listeners,
    log_limiter::LogLimiter,
    pending::{ClientHello, PendingConnection, PendingConnections},
    port_holder,
    session::ServerContext,
    sessions::Sessions,
    waker::{self, WakeReceiver, Waker},
};

const TICK: Duration = Duration::from_millis(100);
const EVENTS: usize = 256;
/// The maximum number of connections or datagrams per event. Keeps a listener from starving the others.
pub(super) const BATCH: usize = 64;

/// The first poller key of the TCP listeners. All other keys follow.
const TCP: u64 = 0;
const UDP: u64 = 1 << 16;
const WAKE: u64 = 1 << 17;
const HOLDER: u64 = 1 << 18;
const PENDING: u64 = 1 << 32;

/// Runs the server with the current privileges. If a client fails, `watcher` is notified and other clients continue.
pub fn serve(config: &Config, stop: &Stop, watcher: &dyn Watcher) -> Result<()> {
    Bound::new(config)?.serve(stop, watcher)
}

pub struct Bound<'a> {
    config: &'a Config,
    allow_list: AllowList,
    keys: Option<LoginKeys>,
    listeners: Listeners,
    confinement: Option<Confinement>,
}

impl<'a> Bound<'a> {
    pub fn new(config: &'a Config) -> Result<Self> {
        let allow_list = AllowList::new(&config.allow)?;
        let keys = config.auth.as_ref().map(LoginKeys::new).transpose()?;
        sys::limits::raise_open_files()?;
        let listeners = Listeners::open(&config.listen)?;
        Ok(Self { config, allow_list, keys, listeners, confinement: None })
    }

    /// Switches to `user` (by default `nobody` if the server was started as root), drops all capabilities,
    /// and restricts file access and system calls. The process must be single-threaded.
    pub fn confine(&mut self, user: Option<&str>) -> Result<()> {
        let user = confinement::user(user)?;
        // Zero-copy sends lock memory, and only root may exceed RLIMIT_MEMLOCK.
        sys::limits::raise_locked_memory()?;
        if sys::confine::is_root() {
            self.listeners.start_port_holder()?;
        }
        self.confinement = Some(confinement::confine(user)?);
        Ok(())
    }

    pub fn serve(&self, stop: &Stop, watcher: &dyn Watcher) -> Result<()> {
        let Self { config, allow_list, keys, listeners, confinement } = self;
        let (addresses, proven) = (&*listeners.addresses, config.auth.is_some());
        let confinement = confinement.as_ref();
        watcher.event(Event::Listening { addresses, proven, confinement });
        run(config, allow_list, keys.as_ref(), listeners, stop, watcher)
    }
}

fn run(
    config: &Config,
    allow_list: &AllowList,
    keys: Option<&LoginKeys>,
    listeners: &Listeners,
    stop: &Stop,
    watcher: &dyn Watcher,
) -> Result<()> {
    let (waker, wake_receiver) = waker::pair()?;
    let ledger = Ledger::new(places(&config.limits));
    thread::scope(|scope| {
        let event_loop = EventLoop {
            scope,
            context: ServerContext { config, closing: stop, stop, watcher },
            allow_list,
            keys,
            auth_worker: AuthWorker::new(scope, keys, stop, &waker),
            listeners,
            poller: Poller::new(EVENTS)?,
            pending: PendingConnections::new(ledger.pending.clone()),
            ledger,
            accept_backoff: AcceptBackoff::default(),
            queue: AdmissionQueue::default(),
            sessions: Sessions::default(),
            udp: UdpDemux::default(),
            log: LogLimiter::new(watcher),
            waker,
            wake_receiver,
            next: PENDING,
            idle_since: monotonic(),
        };
        event_loop.run()
    })
}

fn places(limits: &Limits) -> Budget {
    Budget { address: limits.clients_of_one().min(limits.clients) as u64, server: limits.clients as u64 }
}

pub(super) struct EventLoop<'scope, 'env> {
    pub(super) scope: &'scope Scope<'scope, 'env>,
    pub(super) context: ServerContext<'env>,
    pub(super) allow_list: &'env AllowList,
    pub(super) keys: Option<&'env LoginKeys>,
    pub(super) auth_worker: AuthWorker,
    pub(super) listeners: &'env Listeners,
    pub(super) poller: Poller,
    pending: PendingConnections,
    pub(super) ledger: Ledger,
    accept_backoff: AcceptBackoff,
    pub(super) queue: AdmissionQueue,
    pub(super) sessions: Sessions<'scope>,
    pub(super) udp: UdpDemux,
    pub(super) log: LogLimiter<'env>,
    pub(super) waker: Waker,
    wake_receiver: WakeReceiver,
    next: u64,
    idle_since: u64,
}

impl<'scope, 'env> EventLoop<'scope, 'env> {
    fn run(mut self) -> Result<()> {
        let ended = self.run_until_over();
        self.sessions.end(true, monotonic());
        self.log.flush();
        ended
    }

    fn run_until_over(&mut self) -> Result<()> {
        for (listener, token) in self.listeners.tcp.iter().zip(TCP..) {
            self.poller.add(listener, token, Interest::Read)?;
        }
        for (socket, token) in self.listeners.udp.iter().zip(UDP..) {
            self.poller.add(socket, token, Interest::Read)?;
        }
        self.poller.add(&self.wake_receiver, WAKE, Interest::Read)?;
        if let Some(holder) = self.listeners.holder() {
            self.poller.add(holder.connection(), HOLDER, Interest::Read)?;
        }
        let mut ready = Vec::with_capacity(EVENTS);
        while !self.is_over() {
            self.poller.wait(&mut ready, Some(TICK))?;
            for ready_socket in &ready {
                if ready_socket.token == HOLDER && ready_socket.hangup {
                    return Err(port_holder::ended());
                }
                self.handle(*ready_socket);
            }
            self.housekeep();
        }
        Ok(())
    }

    fn handle(&mut self, ready_socket: Ready) {
        let place = |from: u64| usize::try_from(ready_socket.token - from).expect("few sockets listen");
        match ready_socket.token {
            PENDING.. => self.read(ready_socket.token),
            HOLDER.. => {}
            WAKE.. => self.wake_receiver.clear(),
            UDP.. => self.receive(place(UDP)),
            TCP.. => self.accept(place(TCP)),
        }
    }

    fn housekeep(&mut self) {
        let now = monotonic();
        for connection in self.pending.late(now) {
            self.log.refused(connection.peer, Refusal::Slow, now);
            connection.dismiss();
        }
        self.wake_listeners(now);
        self.log.tick(now);
        self.sessions.end(false, now);
        self.sessions.reap();
        self.take_checked_logins(now);
        self.admit_waiting(now);
        if !self.sessions.is_empty() {
            self.idle_since = now;
        }
    }

    fn is_over(&self) -> bool {
        let Config { once, idle_timeout, .. } = *self.context.config;
        let served = self.sessions.begun() > 0 && self.ledger.places.total() == 0;
        let idle = idle_timeout > Nanos(0) && monotonic() - self.idle_since > idle_timeout.0;
        self.context.stop.is_asked() || (once && (served || idle))
    }

    fn accept(&mut self, listener: usize) {
        for _ in 0..BATCH {
            match self.listeners.tcp[listener].accept() {
                Ok((socket, peer)) => self.admit(socket, peer),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The peer disconnected before accept(2).
                Err(error)
                    if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(error) => return self.make_room(listener, error),
            }
        }
    }

    fn admit(&mut self, socket: TcpStream, peer: SocketAddr) {
        let now = monotonic();
        let order = self.next_number();
        let connection = PendingConnection::new(socket, peer, now);
        if !self.allow_list.has(peer.ip()) {
            self.log.refused(peer, Refusal::Address, now);
            // Closes the connection gracefully, because a reset could discard the refusal before the client reads it.
            return dial::refuse(&connection.socket, RefusalCode::Address);
        }
        let watched = connection.socket.set_nonblocking(true).is_ok()
            && self.poller.add(&connection.socket, order, Interest::Read).is_ok();
        if !watched {
            self.log.refused(peer, Refusal::ConnectionLimit, now);
            return connection.dismiss();
        }
        if let Some(dropped) = self.pending.admit(order, connection) {
            self.log.refused(dropped.peer, Refusal::ConnectionLimit, now);
            dropped.dismiss();
        }
        self.read(order);
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }

    fn make_room(&mut self, listener: usize, error: io::Error) {
        if let Some(dropped) = self.pending.drop_oldest_of_most() {
            self.log.refused(dropped.peer, Refusal::ConnectionLimit, monotonic());
            return dropped.dismiss();
        }
        let address = || self.listeners.addresses[listener].to_string();
        let error = Error::socket("accept on", address)(error);
        self.context.watcher.event(Event::Trouble { error: &error });
        // If the listener stayed registered, its waiting connection would keep waking the poller.
        if self.poller.remove(&self.listeners.tcp[listener]).is_ok() {
            self.accept_backoff.pause(listener, monotonic());
        }
    }

    fn wake_listeners(&mut self, now: u64) {
        for place in self.accept_backoff.expired(now) {
            let token = TCP + place as u64;
            if self.poller.add(&self.listeners.tcp[place], token, Interest::Read).is_err() {
                self.accept_backoff.pause(place, now);
            }
        }
    }

    fn read(&mut self, order: u64) {
        let now = monotonic();
        let Some(connection) = self.pending.get(order) else {
            return self.queue.check_activity(order, &mut self.log, now);
        };
        let mut hello = connection.read(now);
        if let ClientHello::Cookie(cookie) = hello
            && !self.sessions.has(cookie)
        {
            hello = connection.request_parameters(cookie, now);
        }
        if matches!(hello, ClientHello::Incomplete) {
            return;
        }
        let Some(connection) = self.pending.take(order) else { return };
        match hello {
            ClientHello::Refused(reason) => {
                self.log.refused(connection.peer, reason, now);
                connection.dismiss();
            }
            ClientHello::Cookie(cookie) => self.give_stream(order, connection, cookie),
            ClientHello::Ready(cookie, machine, params) => {
                self.check_login(order, connection, cookie, machine, params);
            }
            ClientHello::Native(handshake) => self.begin_native(connection, handshake),
            ClientHello::Sockperf(first) => self.begin_sockperf(connection, first),
            ClientHello::Incomplete => {}
        }
    }
}
