//! What happens beside a test that flows: the client may end it, a limit may, or this server's end.

use std::{
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use codecs::iperf3::{ErrorCode, server::Event};
use sys::clock::monotonic;
use traffic::{Error, FlowId, Observer, Progress, Stop, stream::EndFlag};
use units::{BitRate, Bytes, Nanos};
use workload::{Interval, PingPongInterval, StreamSettings};

use super::control::{Control, closed};
use crate::Limits;

/// How long streams may take to end once they were told.
const ENDING: Nanos = Nanos::from_secs(3);
/// How long the client may take to say why its streams have failed. Of streams that it closed it has as long as the
/// server's patience: on a path that loses, the end of the test may come after the end of its streams.
const REASON: Nanos = Nanos::from_millis(500);
/// What a test has to move within the server's patience at least, unless it asked for a rate so low that this is more
/// than a tenth of it.
const LEAST: u64 = 64 << 10;
/// A stream may be ahead of its rate by what it may carry in this time: one that stood still catches up.
const AHEAD: f64 = 1.0;

/// Why the streams ended.
pub(super) enum TestEnd {
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
    failed: AtomicBool,
}

/// Stands between the engine and whoever observes it: starts the client at the right moment, counts payload.
pub(super) struct CountingObserver<'a> {
    go: (TcpStream, Vec<u8>),
    counts: Arc<Counts>,
    observer: &'a dyn Observer,
}

impl<'a> CountingObserver<'a> {
    /// `go` is what lets the client begin.
    pub(super) fn new(go: (TcpStream, Vec<u8>), observer: &'a dyn Observer) -> Self {
        Self { go, counts: Arc::default(), observer }
    }

    pub(super) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    /// The engine has ended, having failed or not; whether before the client said so was to be expected.
    pub(super) fn is_over(&self, expected: bool, failed: bool) {
        self.counts.expected.store(expected && !failed, Ordering::Relaxed);
        self.counts.failed.store(failed, Ordering::Relaxed);
        self.counts.over.store(true, Ordering::Release);
    }
}

impl Observer for CountingObserver<'_> {
    /// Every thread stands ready: the client's clock begins with this, and ours right after.
    fn started(&self) {
        self.counts.begun.store(monotonic(), Ordering::Relaxed);
        // Gone: the control connection will tell.
        let _ = (&self.go.0).write_all(&self.go.1);
        self.observer.started();
    }

    /// Ten times a second, however long the intervals are.
    fn progress(&self, progress: Progress) {
        self.counts.bytes.fetch_add(progress.received.0 + progress.sent.0, Ordering::Relaxed);
        self.observer.progress(progress);
    }

    fn interval(&self, flow: FlowId, interval: &Interval) {
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
pub(super) struct TestBounds<'a> {
    pub(super) limits: &'a Limits,
    /// How long less than `least` may move.
    pub(super) patience: Nanos,
    /// Bytes.
    pub(super) least: u64,
    pub(super) stop: &'a Stop,
    /// Whether the client knows the numbers of our limits.
    pub(super) plumb: bool,
}

/// What a test has to move within so long a time, in bytes: more than a byte now and then, by which a peer that wants
/// nothing but the place would keep it.
pub(super) fn least_progress(load: &StreamSettings, patience: Nanos) -> u64 {
    let flows = f64::from(load.streams) * load.direction.flows().len() as f64;
    let asked = load.rate.map(|rate| rate.0 / 8.0 * flows * patience.0 as f64 / 1e9);
    asked.map_or(LEAST, |asked| LEAST.min((asked / 10.0) as u64)).max(1)
}

/// Awaits the end of the test and ends the streams, at last by force.
pub(super) fn watch(
    control: &mut Control,
    bounds: &TestBounds<'_>,
    counts: &Counts,
    end: &EndFlag,
    own: &Stop,
) -> TestEnd {
    let ended = await_end(control, bounds, counts);
    end.raise();
    let since = monotonic();
    while !counts.is_over() {
        if monotonic() - since > ENDING.0 {
            own.ask();
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    ended
}

fn await_end(control: &mut Control, bounds: &TestBounds<'_>, counts: &Counts) -> TestEnd {
    let mut over = None;
    let mut moved = (0, monotonic());
    let mut meter = Meter::default();
    loop {
        match control.listen() {
            Ok(Some(Event::TestEnd)) => return TestEnd::Asked,
            Ok(Some(Event::Failed(failure))) => return TestEnd::Failed(Error::Iperf3(failure)),
            Ok(Some(Event::ClientTerminated)) => return TestEnd::Failed(Error::Left),
            Ok(Some(_)) => return TestEnd::Failed(Error::Iperf3(closed("the end of the test"))),
            Ok(None) => {}
            Err(error) => return TestEnd::Failed(error),
        }
        if bounds.stop.is_asked() {
            return TestEnd::Failed(control.terminate());
        }
        if let Some(exceeded) = counts.exceeded(bounds.limits, &mut meter) {
            let codes = if bounds.plumb { exceeded.ours } else { (exceeded.nearest, 0) };
            return TestEnd::Failed(control.end(codes, Error::Limit(exceeded.what)));
        }
        let (now, bytes) = (monotonic(), counts.bytes.load(Ordering::Relaxed));
        if bytes - moved.0 >= bounds.least {
            moved = (bytes, now);
        }
        if counts.is_over_too_soon() {
            let reason = if counts.has_failed() { REASON } else { bounds.patience };
            if now - *over.get_or_insert(now) > reason.0 {
                return TestEnd::Engine;
            }
        } else if now - moved.1 > bounds.patience.0 {
            let missing = format!("{} to move", Bytes(bounds.least));
            let object = "a test of iperf3".into();
            let silent = Error::Silent { object, missing, waited: bounds.patience };
            let refused: Result<(), Error> = control.refuse(ErrorCode::NO_MESSAGE, silent);
            return refused.map_or_else(TestEnd::Failed, |()| TestEnd::Engine);
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

    fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Which limit the test has exceeded.
    fn exceeded(&self, limits: &Limits, meter: &mut Meter) -> Option<Exceeded> {
        let begun = self.begun.load(Ordering::Relaxed);
        if begun == 0 {
            return None;
        }
        let elapsed = Nanos(monotonic().saturating_sub(begun));
        let bytes = self.bytes.load(Ordering::Relaxed);
        if elapsed > limits.duration + GRACE {
            let (ours, nearest) = (ErrorCode::of_time(limits.duration), ErrorCode::DURATION_EXPIRED);
            return Some(Exceeded { what: "duration", ours, nearest });
        }
        if let Some(limit) = limits.bytes.filter(|limit| bytes > limit.0) {
            let (ours, nearest) = (ErrorCode::of_bytes(limit), ErrorCode::SERVER_TERMINATED);
            return Some(Exceeded { what: "bytes", ours, nearest });
        }
        let limit = limits.rate.filter(|limit| meter.is_ahead(bytes, elapsed, *limit))?;
        Some(Exceeded { what: "rate", ours: ErrorCode::of_rate(limit), nearest: ErrorCode::TOTAL_RATE })
    }
}

/// A limit that a test has exceeded.
struct Exceeded {
    what: &'static str,
    /// What a plumb client is told.
    ours: (ErrorCode, i32),
    /// What others are told: the nearest that iperf3 knows.
    nearest: ErrorCode,
}

/// How far a test is ahead of the rate that it may have.
#[derive(Debug, Default)]
struct Meter {
    bytes: u64,
    elapsed: Nanos,
    /// Bits.
    ahead: f64,
}

impl Meter {
    /// Counts what has passed until now; whether that is too far ahead.
    fn is_ahead(&mut self, bytes: u64, elapsed: Nanos, limit: BitRate) -> bool {
        let bits = bytes.saturating_sub(self.bytes) as f64 * 8.0;
        let seconds = elapsed.0.saturating_sub(self.elapsed.0) as f64 / 1e9;
        self.ahead = (self.ahead + bits - limit.0 * TOLERANCE * seconds).max(0.0);
        (self.bytes, self.elapsed) = (bytes, elapsed);
        self.ahead > limit.0 * AHEAD
    }
}

/// The engine is over however it ends, by a panic too: nothing waits for it then.
pub(super) struct EngineEndGuard<'a, 'b>(pub(super) &'a CountingObserver<'b>);

impl Drop for EngineEndGuard<'_, '_> {
    fn drop(&mut self) {
        if !self.0.counts.is_over() {
            self.0.is_over(false, true);
        }
    }
}

/// A test of exactly the time that is allowed ends a little later.
const GRACE: Nanos = Nanos::from_secs(2);
/// A paced stream may be ahead of its rate by what it sends at once.
const TOLERANCE: f64 = 1.05;

#[cfg(test)]
mod tests {
    use workload::Until;

    use super::*;

    #[test]
    fn a_test_has_to_make_progress_and_one_that_asked_for_little_has_to_make_little() {
        let (any, patience) = (StreamSettings::new(Until::Sent(Bytes(1))), Nanos::from_secs(30));
        for (rate, streams, expected) in [
            (None, 1, LEAST),
            (Some(1e9), 1, LEAST),
            (Some(8000.0), 1, 3000),
            (Some(8000.0), 4, 12_000),
            (Some(1.0), 1, 1),
        ] {
            let load = StreamSettings { rate: rate.map(BitRate), streams, ..any.clone() };
            assert_eq!(least_progress(&load, patience), expected, "{rate:?}");
        }
    }

    /// Whether a limit of 8 Mbit/s ends a test that carries so many kB in each tenth of a second.
    fn ends(tenths: impl IntoIterator<Item = u64>) -> bool {
        let (mut meter, mut bytes) = (Meter::default(), 0);
        (1..).zip(tenths).any(|(tenth, kilobytes)| {
            bytes += kilobytes * 1000;
            meter.is_ahead(bytes, Nanos::from_millis(tenth * 100), BitRate(8e6))
        })
    }

    #[test]
    fn a_rate_is_judged_over_a_second() {
        assert!(!ends([100; 600]), "as fast as it may be");
        assert!(!ends([[0; 9], [1000, 100, 100, 100, 100, 100, 100, 100, 100]].concat()), "it catches up");
        assert!(ends([200; 12]), "twice as fast, for little more than a second");
        assert!(!ends([200; 8]), "and for less than one");
        assert!(ends([[10; 600].as_slice(), &[300; 10]].concat()), "slow before");
    }

    #[test]
    fn bytes_count_as_they_pass_and_not_when_an_interval_ends() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let socket = TcpStream::connect(address).expect("it listens");
        let counting = CountingObserver::new((socket, Vec::new()), &());
        counting.progress(Progress { received: Bytes(3), sent: Bytes(4), ..Progress::default() });
        assert_eq!(counting.counts().bytes.load(Ordering::Relaxed), 7);
    }

    #[test]
    fn an_engine_that_panics_is_over() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let socket = TcpStream::connect(address).expect("it listens");
        let counting = CountingObserver::new((socket, Vec::new()), &());
        let counts = counting.counts();
        drop(EngineEndGuard(&counting));
        assert!(counts.is_over() && counts.is_over_too_soon());
    }
}
