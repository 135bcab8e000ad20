//! Admits peers: checks a request, queues it and starts a client thread.

use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};

use codecs::iperf3::{Cookie, ErrorCode, Params, server::Machine};
use sys::{clock::monotonic, poller::Interest};
use traffic::{
    Error, RefusalCode, Result, Stop,
    connect::CONTROL,
    dial,
    handshake::{Handshake, Purpose},
};
use workload::Transport;

use super::{
    admission_check::{Denial, check_limits},
    admission_queue::{Admission, QueuedTest},
    auth_worker::{CheckedLogin, Login},
    event::{Event, Refusal, refusal_code},
    event_loop::EventLoop,
    holdings::Holdings,
    ingress::{Conversation, Ingress, RequestIngress, StreamIngress},
    ledger::{Exhausted, FAILURE, Ledger, Share, Source},
    pending::{PendingConnection, dismiss},
    session::{self, ServerContext, SessionId},
    sessions::Sessions,
};
use crate::iperf3::server::{AdmittedTest, DataConnection, Memory};

const UNKNOWN: Denial = Denial { reply: (ErrorCode::AUTHORIZATION, 0), reason: Refusal::Unknown };
const TOO_MANY: Denial = Denial { reply: (ErrorCode::ACCESS_DENIED, 0), reason: Refusal::AddressLimit };
const REQUESTS: usize = 256;

impl<'scope> EventLoop<'scope, '_> {
    pub(super) fn give_stream(&mut self, order: u64, connection: PendingConnection, cookie: Cookie) {
        // Errors can be ignored, because closing the connection deregisters it anyway.
        let _ = self.poller.remove(&connection.socket);
        if !self.sessions.give(cookie, DataConnection::Tcp { order, socket: connection.socket }) {
            self.log.refused(connection.peer, Refusal::Parameters, monotonic());
        }
    }

    pub(super) fn check_login(
        &mut self,
        order: u64,
        connection: PendingConnection,
        cookie: Cookie,
        machine: Box<Machine>,
        params: Box<Params>,
    ) {
        let (now, PendingConnection { socket, peer, .. }) = (monotonic(), connection);
        let Ok(local) = socket.local_addr() else { return };
        // The event loop ignores the socket during the login check.
        if self.poller.remove(&socket).is_err() {
            return self.log.refused(peer, Refusal::ConnectionLimit, now);
        }
        let Some(share) = self.make_room_to_wait(peer.ip().into(), now) else {
            return self.refuse(&socket, peer, machine, TOO_MANY, now);
        };
        let test =
            QueuedTest { order, socket, peer, local, cookie, machine, params, since: now, _share: share };
        match self.auth_worker.log_in(test, self.keys, &mut self.ledger.failures, now) {
            Login::NotRequired(test) => self.enqueue(test, now),
            Login::Pending => {}
            Login::Refused(test) => self.refuse_test(test, UNKNOWN, now),
            Login::Busy(test) => test.deny(Exhausted::Server, &mut self.log, now),
        }
    }

    /// If the queue is full, evicts the oldest queued test from the address with the most queued tests.
    fn make_room_to_wait(&mut self, source: Source, now: u64) -> Option<Share> {
        let waiting = self.ledger.waiting.clone();
        if waiting.check(source, 1) == Err(Exhausted::Server) && waiting.of(source) + 1 < waiting.most() {
            let most = waiting.most();
            let evicted = self.queue.take_oldest(|other| waiting.of(other) == most)?;
            evicted.deny(Exhausted::Address, &mut self.log, now);
        }
        waiting.take(source, 1).ok()
    }

    pub(super) fn take_checked_logins(&mut self, now: u64) {
        while let Some(CheckedLogin { mut test, known }) = self.auth_worker.next_checked() {
            if known {
                test.since = now;
                self.enqueue(test, now);
            } else {
                self.ledger.failures.spend(test.source(), FAILURE, now);
                self.refuse_test(test, UNKNOWN, now);
            }
        }
    }

    fn refuse_test(&mut self, test: QueuedTest, denial: Denial, now: u64) {
        self.refuse(&test.socket, test.peer, test.machine, denial, now);
    }

    fn refuse(
        &mut self,
        socket: &TcpStream,
        peer: SocketAddr,
        mut machine: Box<Machine>,
        denial: Denial,
        now: u64,
    ) {
        self.log.refused(peer, denial.reason, now);
        let (code, number) = denial.reply;
        machine.refuse(code, number);
        dismiss(socket, &mut machine);
    }

    fn enqueue(&mut self, test: QueuedTest, now: u64) {
        let (order, peer) = (test.order, test.peer);
        if let Err(denial) = check_limits(&test.params, &self.context.config.limits) {
            return self.refuse_test(test, denial, now);
        }
        if self.poller.add(&test.socket, order, Interest::Read).is_err() {
            return self.log.refused(peer, Refusal::ConnectionLimit, now);
        }
        if check_once(&self.sessions, &self.context).is_ok() && self.is_its_turn() {
            self.make_place(test.source());
        }
        self.queue.add(test);
        self.admit_waiting(now);
        if let Some(before) = self.queue.position(order).filter(|_| self.context.config.queue) {
            self.context.watcher.event(Event::Waits { peer, before });
        }
    }

    pub(super) fn admit_waiting(&mut self, now: u64) {
        while let Some(test) =
            self.queue.next(|test| admission(test, &self.sessions, &self.ledger, &self.context))
        {
            let started = self.begin_iperf3(test);
            self.report_failure(started);
        }
        let admission = |test: &QueuedTest| admission(test, &self.sessions, &self.ledger, &self.context);
        self.queue.drop_late(admission, &mut self.log, now);
    }

    fn begin_iperf3(&mut self, test: QueuedTest) -> Result<()> {
        self.poller.remove(&test.socket)?;
        let QueuedTest { socket, peer, local, cookie, machine, params, .. } = test;
        let (source, count) = (Source::from(peer.ip()), params.streams().len());
        let holdings = self.holdings_of_test(source, count);
        let Ok((holdings, [buffers, intervals, send_buffers])) =
            holdings.and_then(|holdings| Ok((holdings, self.memory(source, &params)?)))
        else {
            self.refuse(&socket, peer, machine, TOO_MANY, monotonic());
            return Ok(());
        };
        let memory = Memory {
            buffers: buffers.amount(),
            intervals: intervals.amount(),
            send_buffers: send_buffers.amount(),
        };
        let (stream_ingress, arriving) = StreamIngress::new(cookie, params.transport(), (peer, local), count);
        let (load, gathered) = (params.load(), self.when_gathered(&stream_ingress));
        let admitted = AdmittedTest {
            control: socket,
            cookie,
            machine,
            params,
            load,
            memory,
            arriving,
            patience: self.context.config.patience(),
            gathered,
        };
        self.begin(
            (peer, local),
            Some(Ingress::Streams(stream_ingress)),
            holdings,
            move |context, session| {
                session::iperf3(context, session, admitted);
                // Frees the resources now, because the watcher has already received the report.
                drop((buffers, intervals, send_buffers));
            },
        )
    }

    fn when_gathered(&self, stream_ingress: &StreamIngress) -> Box<dyn FnOnce() + Send> {
        let (gathering, waker) = (stream_ingress.gathering(), self.waker.clone());
        Box::new(move || {
            gathering.store(false, std::sync::atomic::Ordering::Relaxed);
            waker.wake();
        })
    }

    fn memory(&self, source: Source, params: &Params) -> std::result::Result<[Share; 3], Exhausted> {
        let (wanted, least) = Memory::of(params, &self.context.config.limits);
        let Ledger { buffers, intervals, send_buffers, .. } = &self.ledger;
        Ok([
            buffers.take_part(source, wanted.buffers, least.buffers)?,
            intervals.take_part(source, wanted.intervals, least.intervals)?,
            send_buffers.take_part(source, wanted.send_buffers, least.send_buffers)?,
        ])
    }

    fn holdings_of_test(&self, source: Source, streams: usize) -> std::result::Result<Holdings, Exhausted> {
        let Ledger { places, streams: budget, .. } = &self.ledger;
        Ok(Holdings::new(Some(places.take(source, 1)?), Some(budget.take(source, streams as u64)?)))
    }

    pub(super) fn begin_native(&mut self, connection: PendingConnection, handshake: Handshake) {
        match handshake.purpose {
            _ if !self.accepts_unauthenticated() => {
                self.turn_away(&connection, Refusal::NoLogin, RefusalCode::Login);
            }
            Purpose::PingPong => self.begin_stream(connection, None, session::ping_pong),
            // Two clients with the same token would make later connections ambiguous.
            Purpose::Connect if handshake.number == CONTROL && self.sessions.has_token(handshake.token) => {
                self.log.refused(connection.peer, Refusal::Token, monotonic());
            }
            Purpose::Connect if handshake.number == CONTROL => {
                let (requests, arriving) =
                    RequestIngress::new(handshake.token, connection.peer.ip(), REQUESTS);
                self.begin_stream(
                    connection,
                    Some(Ingress::Requests(requests)),
                    move |context, session, control| {
                        session::connect(context, session, &control, arriving);
                    },
                );
            }
            Purpose::Connect => self.give_request(connection, handshake),
            _ => self.turn_away(&connection, Refusal::Parameters, RefusalCode::Kind),
        }
    }

    fn turn_away(&mut self, connection: &PendingConnection, reason: Refusal, word: RefusalCode) {
        self.log.refused(connection.peer, reason, monotonic());
        dial::refuse(&connection.socket, word);
    }

    pub(super) fn begin_sockperf(&mut self, connection: PendingConnection, first: Vec<u8>) {
        if !self.accepts_unauthenticated() {
            return self.log.refused(connection.peer, Refusal::NoLogin, monotonic());
        }
        self.begin_stream(connection, None, move |context, session, socket| {
            session::sockperf(context, session, &socket, &first);
        });
    }

    pub(super) fn begin_datagrams(
        &mut self,
        socket: UdpSocket,
        local: SocketAddr,
        conversation: Conversation,
        share: Share,
    ) {
        let ready = socket.set_nonblocking(false).map_err(Error::socket("prepare", || "a UDP socket"));
        let source = Source::from(conversation.peer.ip());
        let limited = (!source.is_proven()).then(|| self.ledger.replies.meters(source, monotonic()));
        let rate = limited.map_or_else(Vec::new, Vec::from);
        let ingress = Some(Ingress::Datagrams(conversation.clone()));
        let started = ready.and_then(|()| {
            let holdings = Holdings::new(Some(share), None);
            self.begin((conversation.peer, local), ingress, holdings, move |context, session| {
                session::datagrams(context, session, socket, &conversation, &rate);
            })
        });
        self.report_failure(started);
    }

    pub(super) const fn accepts_unauthenticated(&self) -> bool {
        self.context.config.auth.is_none()
    }

    pub(super) fn place(&self, address: IpAddr) -> std::result::Result<Share, Exhausted> {
        check_once(&self.sessions, &self.context)?;
        self.make_place(address.into());
        self.ledger.places.take(address.into(), 1)
    }

    fn make_place(&self, source: Source) {
        if let Some(debtor) = self.ledger.places.debtor(source) {
            self.sessions.displace_newest_of(debtor);
        }
    }

    fn begin_stream(
        &mut self,
        connection: PendingConnection,
        ingress: Option<Ingress>,
        work: impl FnOnce(ServerContext<'_>, &SessionId, TcpStream) + Send + 'scope,
    ) {
        let place = match self.place(connection.peer.ip()) {
            Ok(place) => place,
            Err(exhausted) => return self.turn_away(&connection, exhausted.into(), refusal_code(exhausted)),
        };
        let PendingConnection { socket, peer, .. } = connection;
        let started = self.prepare(&socket, peer).and_then(|local| {
            self.begin((peer, local), ingress, Holdings::new(Some(place), None), move |context, session| {
                work(context, session, socket);
            })
        });
        self.report_failure(started);
    }

    fn give_request(&mut self, connection: PendingConnection, handshake: Handshake) {
        let PendingConnection { socket, peer, .. } = connection;
        let ready = self.prepare(&socket, peer).is_ok();
        if !(ready && self.sessions.give_request(peer.ip(), socket, handshake)
            || self.sessions.had_token(handshake.token))
        {
            self.log.refused(peer, Refusal::Parameters, monotonic());
        }
    }

    fn prepare(&self, socket: &TcpStream, peer: SocketAddr) -> Result<SocketAddr> {
        let named = || format!("a connection with {peer}");
        self.poller.remove(socket)?;
        socket.set_nonblocking(false).map_err(Error::socket("prepare", named))?;
        socket.local_addr().map_err(Error::socket("read the address of", named))
    }

    fn begin(
        &mut self,
        (peer, local): (SocketAddr, SocketAddr),
        ingress: Option<Ingress>,
        holdings: Holdings,
        work: impl FnOnce(ServerContext<'_>, &SessionId) + Send + 'scope,
    ) -> Result<()> {
        let context = self.context;
        // An iperf3 test is ended by its own thread, because only this thread can send the reason.
        let limit = (!matches!(ingress, Some(Ingress::Streams(_)))).then_some(context.config.limits.duration);
        let held = holdings.clone();
        let work = move |number, stop: &Stop| {
            let session = SessionId { number, peer, local, holdings: held };
            work(ServerContext { stop, ..context }, &session);
        };
        self.sessions.begin(self.scope, (peer, limit), (ingress, holdings), &self.waker, work)
    }

    fn is_its_turn(&self) -> bool {
        !(self.context.config.queue && self.sessions.has_test())
    }

    fn report_failure(&self, started: Result<()>) {
        if let Err(error) = started {
            self.context.watcher.event(Event::Trouble { error: &error });
        }
    }
}

fn check_once(sessions: &Sessions<'_>, context: &ServerContext<'_>) -> std::result::Result<(), Exhausted> {
    if context.config.once && sessions.begun() > 0 { Err(Exhausted::Server) } else { Ok(()) }
}

fn admission(
    test: &QueuedTest,
    sessions: &Sessions<'_>,
    ledger: &Ledger,
    context: &ServerContext<'_>,
) -> Admission {
    let (source, streams) = (test.source(), test.params.streams().len() as u64);
    let room = check_once(sessions, context)
        .and_then(|()| ledger.places.check(source, 1))
        .and_then(|()| ledger.streams.check(source, streams));
    let alone = !(context.config.queue && sessions.has_test());
    // UDP streams carry no cookie, so tests from the same peer set up their streams one test at a time.
    let mixed =
        test.params.transport() == Transport::Udp && sessions.gathering_datagrams(test.peer.ip()).is_some();
    match room {
        Ok(()) if alone && !mixed => Admission::Now,
        Err(exhausted) if !context.config.queue => Admission::Busy(exhausted),
        _ => Admission::Later,
    }
}
