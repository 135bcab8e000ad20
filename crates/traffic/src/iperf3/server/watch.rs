//! What happens beside a test that flows: the client may end it, a limit may, or this server's end.

use std::{
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use samples::{Interval, PingPongInterval};
use sys::clock::monotonic;
use units::Nanos;
use wire::iperf3::{ErrorCode, server::Event};

use super::control::{Control, closed};
use crate::{
    door::Limits,
    error::Error,
    observer::{Beat, FlowId, Observer},
    stop::Stop,
    stream::Told,
};

/// How long streams may take to end once they were told.
const ENDING: Nanos = Nanos::from_secs(3);
/// How long the client may take to say why its streams have ended.
const REASON: Nanos = Nanos::from_millis(500);
/// A rate is not judged before it was kept for so long.
const JUDGED: Nanos = Nanos::from_secs(1);

/// Why the streams ended.
pub(super) enum Ended {
    /// The client has said that the test is over.
    Asked,
    /// They failed or ended by themselves.
    Engine,
    /// Anything else; the client was told, if it could be.
    Failed(Error),
}

/// What the engine's observer and the watching thread share.
#[derive(Debug, Default)]
pub(super) struct Counts {
    bytes: AtomicU64,
    begun: AtomicU64,
    over: AtomicBool,
    expected: AtomicBool,
}

/// Stands between the engine and whoever observes it: starts the client at the right moment, counts payload.
pub(super) struct Tap<'a> {
    go: (TcpStream, Vec<u8>),
    counts: Arc<Counts>,
    observer: &'a dyn Observer,
}

impl<'a> Tap<'a> {
    /// `go` is what lets the client begin.
    pub(super) fn new(go: (TcpStream, Vec<u8>), observer: &'a dyn Observer) -> Self {
        Self { go, counts: Arc::default(), observer }
    }

    pub(super) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// The engine has ended; whether before the client said so was to be expected.
    pub(super) fn is_over(&self, expected: bool) {
        self.counts.expected.store(expected, Ordering::Relaxed);
        self.counts.over.store(true, Ordering::Release);
    }
}

impl Observer for Tap<'_> {
    /// Every thread stands ready: the client's clock begins with this, and ours right after.
    fn started(&self) {
        self.counts.begun.store(monotonic(), Ordering::Relaxed);
        // Gone: the control connection will tell.
        let _ = (&self.go.0).write_all(&self.go.1);
        self.observer.started();
    }

    fn beat(&self, beat: Beat) {
        self.observer.beat(beat);
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.counts.bytes.fetch_add(interval.bytes.0, Ordering::Relaxed);
        self.observer.interval(flow, interval);
    }

    fn ping_interval(&self, interval: &PingPongInterval) {
        self.observer.ping_interval(interval);
    }

    fn ended(&self) {
        self.observer.ended();
    }
}

/// What a test may not exceed.
pub(super) struct Bounds<'a> {
    pub(super) limits: &'a Limits,
    /// How long nothing may move.
    pub(super) patience: Nanos,
    pub(super) stop: &'a Stop,
}

/// Awaits the end of the test and ends the streams, at last by force.
pub(super) fn watch(
    control: &mut Control,
    bounds: &Bounds<'_>,
    counts: &Counts,
    told: &Told,
    own: &Stop,
) -> Ended {
    let ended = await_end(control, bounds, counts);
    told.tell();
    let since = monotonic();
    while !counts.is_over() {
        if monotonic() - since > ENDING.0 {
            own.ask();
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    ended
}

fn await_end(control: &mut Control, bounds: &Bounds<'_>, counts: &Counts) -> Ended {
    let mut over = None;
    let mut moved = (0, monotonic());
    loop {
        match control.listen() {
            Ok(Some(Event::TestEnd)) => return Ended::Asked,
            Ok(Some(Event::Failed(failure))) => return Ended::Failed(Error::Iperf3(failure)),
            Ok(Some(_)) => return Ended::Failed(Error::Iperf3(closed("the end of the test"))),
            Ok(None) => {}
            Err(error) => return Ended::Failed(error),
        }
        if bounds.stop.is_asked() {
            return Ended::Failed(control.terminate());
        }
        if let Some((what, code)) = counts.exceeded(bounds.limits) {
            let refused: Result<(), Error> = control.refuse(code, Error::Limit(what));
            return refused.map_or_else(Ended::Failed, |()| Ended::Engine);
        }
        let (now, bytes) = (monotonic(), counts.bytes.load(Ordering::Relaxed));
        if bytes != moved.0 {
            moved = (bytes, now);
        }
        if now - moved.1 > bounds.patience.0 {
            let missing = "any byte to move".into();
            let object = "a test of iperf3".into();
            let silent = Error::Silent { object, missing, waited: bounds.patience };
            let refused: Result<(), Error> = control.refuse(ErrorCode::NO_MESSAGE, silent);
            return refused.map_or_else(Ended::Failed, |()| Ended::Engine);
        }
        if counts.is_over_too_soon() && now - *over.get_or_insert(now) > REASON.0 {
            return Ended::Engine;
        }
    }
}

impl Counts {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn is_over_too_soon(&self) -> bool {
        self.is_over() && !self.expected.load(Ordering::Relaxed)
    }

    /// Which limit the test has exceeded, and what iperf3 calls it.
    fn exceeded(&self, limits: &Limits) -> Option<(&'static str, ErrorCode)> {
        let begun = self.begun.load(Ordering::Relaxed);
        if begun == 0 {
            return None;
        }
        let elapsed = Nanos(monotonic().saturating_sub(begun));
        let bytes = self.bytes.load(Ordering::Relaxed);
        let rate = bytes as f64 * 8e9 / elapsed.0.max(1) as f64;
        if elapsed > limits.duration + GRACE {
            return Some(("duration", ErrorCode::DURATION_EXPIRED));
        }
        if limits.bytes.is_some_and(|limit| bytes > limit.0) {
            return Some(("bytes", ErrorCode::SERVER_TERMINATED));
        }
        let fast = limits.rate.is_some_and(|limit| rate > limit.0 * TOLERANCE);
        (fast && elapsed > JUDGED).then_some(("rate", ErrorCode::TOTAL_RATE))
    }
}

/// A test of exactly the time that is allowed ends a little later.
const GRACE: Nanos = Nanos::from_secs(2);
/// A paced stream may be ahead of its rate by what it sends at once.
const TOLERANCE: f64 = 1.05;
