//! The test itself: its streams flow, until the client finds that it is over.
//!
//! Senders end by themselves, and before the server hears of the end: it closes what still sends. Receivers end
//! after the server has heard of it, when what was under way has come.

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
    forwarding_observer::{Ears, Relay, Told},
};

/// How often the server and the clock are looked at.
const GLANCE: Duration = Duration::from_millis(2);
/// How long what was sent may take to be acknowledged after a test that time ends,
const DRAINED: Nanos = Nanos::from_millis(250);
/// and after one that an amount ends, which is to arrive.
const ARRIVED: Nanos = Nanos::from_secs(10);
/// What the server's kernel has acknowledged is read within this long.
const SETTLED: Nanos = Nanos::from_millis(3);
/// How long the server may take to say why its streams are gone.
const REASON: Nanos = Nanos::from_secs(2);
/// How long nothing may come of an amount that is received.
const STALLED: Nanos = Nanos::from_secs(30);

/// What is run, and who is told.
pub(super) struct Drive<'a> {
    /// For errors.
    pub(super) server: SocketAddr,
    pub(super) load: &'a StreamSettings,
    pub(super) cpus: Option<&'a [u32]>,
    pub(super) stop: &'a Stop,
    pub(super) observer: &'a dyn Observer,
}

/// The flags by which the engine is ended.
#[derive(Default)]
struct Ends {
    senders: stream::Told,
    receivers: stream::Told,
    /// By force.
    halt: Stop,
}

/// How the loop ended.
enum Over {
    /// The server knows that the test is over.
    Told,
    /// Streams of this direction are gone before their time, and the server does not say why.
    Gone(Direction),
}

/// What the loop looks at.
struct Seen<'a> {
    ears: Ears<'a>,
    begun: u64,
    /// Copies of the TCP sockets that send, and of those that receive.
    sending: Vec<TcpStream>,
    receiving: Vec<TcpStream>,
    /// When bytes were last seen to have come, and how many there were.
    moved: (u64, u64),
}

type Run<'s> = ScopedJoinHandle<'s, Result<StreamOutcome>>;

impl Drive<'_> {
    /// Lets the streams flow until the end; the server has been told of it.
    pub(super) fn run(
        &self,
        control: &mut Control<'_>,
        streams: Streams,
        plan: &[PlannedStream],
    ) -> Result<StreamOutcome> {
        let ends = Ends::default();
        let (sending, receiving) = (copies(&streams, plan, true)?, copies(&streams, plan, false)?);
        let (senders, receivers) = self.flows(streams, plan, &ends);
        let (tell, told) = channel();
        let begun = monotonic();
        let ears = Ears::new(self.observer);
        let mut seen = Seen { ears, begun, sending, receiving, moved: (begun, 0) };
        self.observer.started();
        let outcome = thread::scope(|scope| {
            let halt = &ends.halt;
            let run = |flows: Vec<_>, relay: Relay| {
                (!flows.is_empty()).then(|| scope.spawn(move || stream::run(flows, halt, &relay)))
            };
            let beats = receivers.is_empty();
            let runs = [
                run(senders, Relay::new(tell.clone(), beats)),
                run(receivers, Relay::new(tell.clone(), true)),
            ];
            let ended = self.until_over(control, &runs, &told, &mut seen, &ends);
            ends.senders.tell();
            ends.receivers.tell();
            if ended.as_ref().is_err_and(|error| !error.is_stopped()) {
                ends.halt.ask();
            }
            let outcomes = join(runs, || hear(&told, &seen.ears));
            match ended? {
                Over::Told => outcomes,
                Over::Gone(direction) => Err(self.cut_short(direction, &seen, outcomes.err())),
            }
        });
        self.observer.ended();
        outcome
    }

    fn flows<'a>(
        &'a self,
        streams: Streams,
        plan: &[PlannedStream],
        ends: &'a Ends,
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
                finish: Finish::Told(if sends { &ends.senders } else { &ends.receivers }),
            }
        });
        flows.partition(|flow| flow.direction == Direction::Forward)
    }

    /// Watches until the test is over and the server knows, or until its streams are gone.
    fn until_over(
        &self,
        control: &mut Control<'_>,
        runs: &[Option<Run<'_>>; 2],
        told: &Receiver<Told>,
        seen: &mut Seen<'_>,
        ends: &Ends,
    ) -> Result<Over> {
        let [senders, receivers] = runs;
        let mut missed = None;
        loop {
            match told.recv_timeout(GLANCE) {
                Ok(word) => seen.ears.hear(&word),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            control.look()?;
            if self.stop.is_asked() && self.stop.keeps() {
                break;
            }
            if self.stop.is_asked() {
                return Err(Error::Stopped);
            }
            let received = receivers.is_none() || self.has_received(seen)?;
            if let Some(direction) = self.gone(runs, received, seen) {
                let now = monotonic();
                // The server may say why.
                if now - *missed.get_or_insert(now) > REASON.0 {
                    return Ok(Over::Gone(direction));
                }
            } else if received && (senders.is_none() || has_ended(senders)) {
                break;
            }
        }
        ends.senders.tell();
        self.drain(seen);
        control.end_test().map(|()| Over::Told)
    }

    /// Whose streams are gone: receivers do not end by themselves, and senders not before the time.
    fn gone(
        &self,
        [senders, receivers]: &[Option<Run<'_>>; 2],
        received: bool,
        seen: &Seen<'_>,
    ) -> Option<Direction> {
        if has_ended(receivers) && !received {
            return Some(Direction::Reverse);
        }
        (has_ended(senders) && self.is_early(seen)).then_some(Direction::Forward)
    }

    /// Whether the time that was asked is not over.
    fn is_early(&self, seen: &Seen<'_>) -> bool {
        match self.load.until {
            Until::Elapsed(time) => monotonic() - seen.begun < (self.load.warmup + time).0,
            Until::Sent(_) => false,
        }
    }

    /// What to say of streams that are gone. That they were reset is said by that already.
    fn cut_short(&self, direction: Direction, seen: &Seen<'_>, failure: Option<Error>) -> Error {
        match failure {
            None => {}
            Some(Error::Socket { source, .. }) if is_gone(source.kind()) => {}
            Some(other) => return other,
        }
        let object = match self.load.streams {
            1 => Flow::name_of(direction, 0, Some(self.server)),
            _ => format!("every connection ({}) with {}", way(direction), self.server),
        };
        let (got, asked) = match self.load.until {
            Until::Elapsed(time) => {
                (Nanos(monotonic() - seen.begun).to_string(), (self.load.warmup + time).to_string())
            }
            Until::Sent(bytes) => (Bytes(seen.received()).to_string(), bytes.to_string()),
        };
        Error::CutShort { object, got, asked }
    }

    /// Whether what is received is enough.
    fn has_received(&self, seen: &mut Seen<'_>) -> Result<bool> {
        let now = monotonic();
        let asked = match self.load.until {
            Until::Elapsed(time) => return Ok(now - seen.begun >= (self.load.warmup + time).0),
            Until::Sent(bytes) => bytes.0,
        };
        let received = seen.received();
        if received > seen.moved.1 {
            seen.moved = (now, received);
        }
        if now - seen.moved.0 > STALLED.0 {
            let (object, missing) = ("the streams from the server".into(), "more of them".into());
            return Err(Error::Silent { object, missing, waited: STALLED });
        }
        Ok(received >= asked)
    }

    /// Waits until the server's kernel has what was sent, so that both ends count the same as far as they can: a
    /// server closes its streams as soon as it hears of the end.
    fn drain(&self, seen: &Seen<'_>) {
        let limit = || match self.load.until {
            Until::Sent(_) if !self.stop.is_asked() => ARRIVED,
            _ => DRAINED,
        };
        let begun = monotonic();
        while seen.sending.iter().any(is_under_way) && monotonic() - begun < limit().0 {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(SETTLED.into());
    }
}

impl Seen<'_> {
    /// Payload that has come to this end's kernel, as far as it tells.
    fn received(&self) -> u64 {
        let tcp: u64 = self
            .receiving
            .iter()
            .filter_map(|socket| tcp_info(socket).ok())
            .map(|info| info.bytes_received)
            .sum();
        tcp.max(self.ears.received().0)
    }
}

fn has_ended(run: &Option<Run<'_>>) -> bool {
    run.as_ref().is_some_and(ScopedJoinHandle::is_finished)
}

/// Whether a socket fails so because the other end has closed its own.
const fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::ConnectionRefused)
}

const fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "forward",
        Direction::Reverse => "reverse",
        Direction::Both => "both ways",
    }
}

fn is_under_way(socket: &TcpStream) -> bool {
    tcp_info(socket).is_ok_and(|info| info.unacked > 0 || info.notsent_bytes > 0)
}

/// Copies of the TCP sockets that send, or of those that receive.
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

/// Hands on what was told.
fn hear(told: &Receiver<Told>, ears: &Ears<'_>) {
    while let Ok(word) = told.try_recv() {
        ears.hear(&word);
    }
}

/// Awaits both runs, hearing what they tell, and puts what they recorded together.
fn join(runs: [Option<Run<'_>>; 2], hear: impl Fn()) -> Result<StreamOutcome> {
    let mut all = StreamOutcome::default();
    let mut failure = None;
    for run in runs.into_iter().flatten() {
        while !run.is_finished() {
            hear();
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
    hear();
    failure.map_or(Ok(all), Err)
}
