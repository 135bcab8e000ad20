//! Runs the streams of a test until the client ends it. Senders stop before the server is notified, because
//! the server closes streams that are still sending. Receivers stop when the data in flight has arrived.

use std::{
    io::ErrorKind,
    net::{SocketAddr, TcpStream},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread::{self, ScopedJoinHandle},
    time::Duration,
};

use codecs::iperf3::PlannedStream;
use sys::{clock::monotonic, socket::tcp_info};
use traffic::{
    Error, Observer, Result, Stop, StreamOutcome,
    stream::{self, CLIENT, Finish, Flow, FlowSocket, Start},
    workers::cpu_of,
};
use units::{Bytes, Nanos};
use workload::{Direction, StreamSettings, Until};

use super::{
    connect::Streams,
    control::Control,
    forwarding_observer::{EngineEvent, EventSink, ForwardingObserver},
};

const GLANCE: Duration = Duration::from_millis(2);
/// The wait for unacknowledged data after a timed test.
const DRAINED: Nanos = Nanos::from_millis(250);
/// The wait for unacknowledged data after a test with a fixed number of bytes. All of them must arrive.
const ARRIVED: Nanos = Nanos::from_secs(10);
const SETTLED: Nanos = Nanos::from_millis(3);
const REASON: Nanos = Nanos::from_secs(2);
/// The stall timeout when receiving a fixed number of bytes.
const STALLED: Nanos = Nanos::from_secs(30);

pub(super) struct TestRun<'a> {
    pub(super) server: SocketAddr,
    pub(super) load: &'a StreamSettings,
    pub(super) cpus: Option<&'a [u32]>,
    pub(super) stop: &'a Stop,
    pub(super) observer: &'a dyn Observer,
}

#[derive(Default)]
struct EndFlags {
    senders: stream::EndFlag,
    receivers: stream::EndFlag,
    halt: Stop,
}

enum TestEnd {
    Acknowledged,
    Gone(Direction),
}

struct LoopState<'a> {
    events: EventSink<'a>,
    started: u64,
    sending: Vec<TcpStream>,
    receiving: Vec<TcpStream>,
    moved: (u64, u64),
}

type Run<'s> = ScopedJoinHandle<'s, Result<StreamOutcome>>;

impl TestRun<'_> {
    pub(super) fn run(
        &self,
        control: &mut Control<'_>,
        streams: Streams,
        plan: &[PlannedStream],
    ) -> Result<StreamOutcome> {
        let flags = EndFlags::default();
        let (sending, receiving) = (copies(&streams, plan, true)?, copies(&streams, plan, false)?);
        let (senders, receivers) = self.flows(streams, plan, &flags);
        let (sender, engine) = channel();
        let started = monotonic();
        let events = EventSink::new(self.observer);
        let mut state = LoopState { events, started, sending, receiving, moved: (started, 0) };
        self.observer.started();
        let outcome = thread::scope(|scope| {
            let halt = &flags.halt;
            let run = |flows: Vec<_>, observer: ForwardingObserver| {
                (!flows.is_empty()).then(|| scope.spawn(move || stream::run(flows, halt, &observer)))
            };
            let progress = receivers.is_empty();
            let runs = [
                run(senders, ForwardingObserver::new(sender.clone(), progress)),
                run(receivers, ForwardingObserver::new(sender.clone(), true)),
            ];
            let ended = self.until_over(control, &runs, &engine, &mut state, &flags);
            flags.senders.set();
            flags.receivers.set();
            if ended.as_ref().is_err_and(|error| !error.is_stopped()) {
                flags.halt.ask();
            }
            let outcomes = join(runs, || forward_all(&engine, &state.events));
            match ended? {
                TestEnd::Acknowledged => outcomes,
                TestEnd::Gone(direction) => Err(self.cut_short(direction, &state, outcomes.err())),
            }
        });
        self.observer.ended();
        outcome
    }

    fn flows<'a>(
        &'a self,
        streams: Streams,
        plan: &[PlannedStream],
        flags: &'a EndFlags,
    ) -> (Vec<Flow<'a>>, Vec<Flow<'a>>) {
        let mut ids = [0, 0];
        let flows = streams.sockets.into_iter().zip(plan).enumerate().map(|(thread, (socket, planned))| {
            let sends = planned.direction == Direction::Forward;
            let id = ids[usize::from(sends)];
            ids[usize::from(sends)] += 1;
            let peer = match &socket {
                FlowSocket::Tcp(socket) => socket.peer_addr().ok(),
                FlowSocket::Udp(socket, _) => socket.peer_addr().ok(),
            };
            Flow {
                id,
                direction: planned.direction,
                end: CLIENT,
                name: Flow::name_of(planned.direction, id, peer),
                socket,
                load: self.load,
                cpu: cpu_of(self.cpus, thread),
                share: stream::share(self.load, id),
                start: Start::Now,
                finish: Finish::External(if sends { &flags.senders } else { &flags.receivers }),
            }
        });
        flows.partition(|flow| flow.direction == Direction::Forward)
    }

    /// Waits until the server has acknowledged the end of the test, or the streams close.
    fn until_over(
        &self,
        control: &mut Control<'_>,
        runs: &[Option<Run<'_>>; 2],
        engine: &Receiver<EngineEvent>,
        state: &mut LoopState<'_>,
        flags: &EndFlags,
    ) -> Result<TestEnd> {
        let [senders, receivers] = runs;
        let mut missed = None;
        loop {
            match engine.recv_timeout(GLANCE) {
                Ok(event) => state.events.forward(&event),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            control.poll()?;
            if self.stop.is_asked() && self.stop.keeps() {
                break;
            }
            if self.stop.is_asked() {
                return Err(Error::Stopped);
            }
            let received = receivers.is_none() || self.has_received(state)?;
            if let Some(direction) = self.closed_direction(runs, received, state) {
                let now = monotonic();
                if now - *missed.get_or_insert(now) > REASON.0 {
                    return Ok(TestEnd::Gone(direction));
                }
            } else if received && (senders.is_none() || has_ended(senders)) {
                break;
            }
        }
        flags.senders.set();
        self.drain(state);
        control.end_test().map(|()| TestEnd::Acknowledged)
    }

    /// Returns a direction that ended too early. Receivers never end on their own, and senders end only with the test.
    fn closed_direction(
        &self,
        [senders, receivers]: &[Option<Run<'_>>; 2],
        received: bool,
        state: &LoopState<'_>,
    ) -> Option<Direction> {
        if has_ended(receivers) && !received {
            return Some(Direction::Reverse);
        }
        (has_ended(senders) && self.is_early(state)).then_some(Direction::Forward)
    }

    fn is_early(&self, state: &LoopState<'_>) -> bool {
        match self.load.until {
            Until::Elapsed(time) => monotonic() - state.started < (self.load.warmup + time).0,
            Until::Sent(_) => false,
        }
    }

    fn cut_short(&self, direction: Direction, state: &LoopState<'_>, failure: Option<Error>) -> Error {
        match failure {
            None => {}
            Some(Error::Socket { source, .. }) if is_gone(source.kind()) => {}
            Some(other) => return other,
        }
        let object = match self.load.streams {
            1 => Flow::name_of(direction, 0, Some(self.server)),
            _ => format!("every connection ({}) with {}", direction_word(direction), self.server),
        };
        let (got, requested) = match self.load.until {
            Until::Elapsed(time) => {
                (Nanos(monotonic() - state.started).to_string(), (self.load.warmup + time).to_string())
            }
            Until::Sent(bytes) => (Bytes(state.received()).to_string(), bytes.to_string()),
        };
        Error::CutShort { object, got, asked: requested }
    }

    fn has_received(&self, state: &mut LoopState<'_>) -> Result<bool> {
        let now = monotonic();
        let requested = match self.load.until {
            Until::Elapsed(time) => return Ok(now - state.started >= (self.load.warmup + time).0),
            Until::Sent(bytes) => bytes.0,
        };
        let received = state.received();
        if received > state.moved.1 {
            state.moved = (now, received);
        }
        if now - state.moved.0 > STALLED.0 {
            let (object, missing) = ("the streams from the server".into(), "more data".into());
            return Err(Error::Silent { object, missing, waited: STALLED });
        }
        Ok(received >= requested)
    }

    /// Without this wait, the two ends would count different numbers of bytes, because the server closes its streams as
    /// soon as the test ends.
    fn drain(&self, state: &LoopState<'_>) {
        let limit = || match self.load.until {
            Until::Sent(_) if !self.stop.is_asked() => ARRIVED,
            _ => DRAINED,
        };
        let started = monotonic();
        while state.sending.iter().any(is_under_way) && monotonic() - started < limit().0 {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(SETTLED.into());
    }
}

impl LoopState<'_> {
    fn received(&self) -> u64 {
        let tcp: u64 = self
            .receiving
            .iter()
            .filter_map(|socket| tcp_info(socket).ok())
            .map(|info| info.bytes_received)
            .sum();
        tcp.max(self.events.received().0)
    }
}

fn has_ended(run: &Option<Run<'_>>) -> bool {
    run.as_ref().is_some_and(ScopedJoinHandle::is_finished)
}

const fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionRefused)
}

const fn direction_word(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both ways",
    }
}

fn is_under_way(socket: &TcpStream) -> bool {
    tcp_info(socket).is_ok_and(|info| info.unacked > 0 || info.notsent_bytes > 0)
}

fn copies(streams: &Streams, plan: &[PlannedStream], send: bool) -> Result<Vec<TcpStream>> {
    let of = |(socket, planned): (&FlowSocket, &PlannedStream)| match socket {
        FlowSocket::Tcp(socket) if (planned.direction == Direction::Forward) == send => {
            Some(socket.try_clone())
        }
        _ => None,
    };
    let copied: std::io::Result<Vec<_>> = streams.sockets.iter().zip(plan).filter_map(of).collect();
    copied.map_err(Error::socket("copy", || "a data connection"))
}

fn forward_all(engine: &Receiver<EngineEvent>, events: &EventSink<'_>) {
    while let Ok(event) = engine.try_recv() {
        events.forward(&event);
    }
}

fn join(runs: [Option<Run<'_>>; 2], forward_all: impl Fn()) -> Result<StreamOutcome> {
    let mut all = StreamOutcome::default();
    let mut failure = None;
    for run in runs.into_iter().flatten() {
        while !run.is_finished() {
            forward_all();
            thread::sleep(GLANCE);
        }
        match run.join().unwrap_or_else(|_| Err(Error::Panicked { thread: "the streams".into() })) {
            Ok(outcome) => {
                all.measured.flows.extend(outcome.measured.flows);
                all.threads.extend(outcome.threads);
            }
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    forward_all();
    failure.map_or(Ok(all), Err)
}
