//! Watches a running test and ends it.

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

const ENDING: Nanos = Nanos::from_secs(3);
/// The wait for the client's reason after a stream has failed. If the client closed its streams, the idle timeout
/// applies instead, because the end message may be late on a lossy path.
const REASON: Nanos = Nanos::from_millis(500);
/// The minimum number of bytes per idle timeout, or a tenth of the requested rate if that is lower.
const LEAST: u64 = 64 << 10;
/// The tolerated excess over the rate limit, in seconds of traffic, since a stalled stream may catch up.
const AHEAD: f64 = 1.0;

pub(super) enum TestEnd {
    Asked,
    Engine,
    Failed(Error),
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    bytes: AtomicU64,
    begun: AtomicU64,
    over: AtomicBool,
    expected: AtomicBool,
    failed: AtomicBool,
}

pub(super) struct CountingObserver<'a> {
    go: (TcpStream, Vec<u8>),
    counts: Arc<Counts>,
    observer: &'a dyn Observer,
}

impl<'a> CountingObserver<'a> {
    pub(super) fn new(go: (TcpStream, Vec<u8>), observer: &'a dyn Observer) -> Self {
        Self { go, counts: Arc::default(), observer }
    }

    pub(super) fn counts(&self) -> Arc<Counts> {
        Arc::clone(&self.counts)
    }

    pub(super) fn is_over(&self, expected: bool, failed: bool) {
        self.counts.expected.store(expected && !failed, Ordering::Relaxed);
        self.counts.failed.store(failed, Ordering::Relaxed);
        self.counts.over.store(true, Ordering::Release);
    }
}

impl Observer for CountingObserver<'_> {
    /// The client's clock starts when this message arrives, slightly later than the local clock.
    fn started(&self) {
        self.counts.begun.store(monotonic(), Ordering::Relaxed);
        // If this write fails, the control connection reports the failure.
        let _ = (&self.go.0).write_all(&self.go.1);
        self.observer.started();
    }

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

pub(super) struct TestBounds<'a> {
    pub(super) limits: &'a Limits,
    pub(super) patience: Nanos,
    pub(super) least: u64,
    pub(super) stop: &'a Stop,
    pub(super) plumb: bool,
}

/// Returns the minimum number of bytes to transfer per `patience`. Otherwise, a peer could keep its slot with an
/// occasional byte.
pub(super) fn least_progress(load: &StreamSettings, patience: Nanos) -> u64 {
    let flows = f64::from(load.streams) * load.direction.flows().len() as f64;
    let asked = load.rate.map(|rate| rate.0 / 8.0 * flows * patience.0 as f64 / 1e9);
    asked.map_or(LEAST, |asked| LEAST.min((asked / 10.0) as u64)).max(1)
}

pub(super) fn watch(
    control: &mut Control,
    bounds: &TestBounds<'_>,
    counts: &Counts,
    end: &EndFlag,
    own: &Stop,
) -> TestEnd {
    let ended = await_end(control, bounds, counts);
    end.set();
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
            return TestEnd::Failed(control.end(codes, Error::Limit(exceeded.limit)));
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
            let object = "the iperf3 test".into();
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

    fn exceeded(&self, limits: &Limits, meter: &mut Meter) -> Option<Exceeded> {
        let started = self.begun.load(Ordering::Relaxed);
        if started == 0 {
            return None;
        }
        let elapsed = Nanos(monotonic().saturating_sub(started));
        let bytes = self.bytes.load(Ordering::Relaxed);
        if elapsed > limits.duration + GRACE {
            let (ours, nearest) = (ErrorCode::of_time(limits.duration), ErrorCode::DURATION_EXPIRED);
            return Some(Exceeded { limit: "duration", ours, nearest });
        }
        if let Some(limit) = limits.bytes.filter(|limit| bytes > limit.0) {
            let (ours, nearest) = (ErrorCode::of_bytes(limit), ErrorCode::SERVER_TERMINATED);
            return Some(Exceeded { limit: "bytes", ours, nearest });
        }
        let limit = limits.rate.filter(|limit| meter.is_ahead(bytes, elapsed, *limit))?;
        Some(Exceeded { limit: "rate", ours: ErrorCode::of_rate(limit), nearest: ErrorCode::TOTAL_RATE })
    }
}

struct Exceeded {
    limit: &'static str,
    ours: (ErrorCode, i32),
    nearest: ErrorCode,
}

#[derive(Debug, Default)]
struct Meter {
    bytes: u64,
    elapsed: Nanos,
    /// In bits.
    ahead: f64,
}

impl Meter {
    fn is_ahead(&mut self, bytes: u64, elapsed: Nanos, limit: BitRate) -> bool {
        let bits = bytes.saturating_sub(self.bytes) as f64 * 8.0;
        let seconds = elapsed.0.saturating_sub(self.elapsed.0) as f64 / 1e9;
        self.ahead = (self.ahead + bits - limit.0 * TOLERANCE * seconds).max(0.0);
        (self.bytes, self.elapsed) = (bytes, elapsed);
        self.ahead > limit.0 * AHEAD
    }
}

pub(super) struct EngineEndGuard<'a, 'b>(pub(super) &'a CountingObserver<'b>);

impl Drop for EngineEndGuard<'_, '_> {
    fn drop(&mut self) {
        if !self.0.counts.is_over() {
            self.0.is_over(false, true);
        }
    }
}

/// A test of exactly the maximum duration ends slightly after this limit.
const GRACE: Nanos = Nanos::from_secs(2);
/// A paced stream may exceed its rate by one burst.
const TOLERANCE: f64 = 1.05;

#[cfg(test)]
mod tests {
    use workload::Until;

    use super::*;

    #[test]
    fn required_progress_depends_on_requested_rate() {
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

    /// Runs with a limit of 8 Mbit/s. `tenths` lists the kilobytes for each tenth of a second.
    fn ends(tenths: impl IntoIterator<Item = u64>) -> bool {
        let (mut meter, mut bytes) = (Meter::default(), 0);
        (1..).zip(tenths).any(|(tenth, kilobytes)| {
            bytes += kilobytes * 1000;
            meter.is_ahead(bytes, Nanos::from_millis(tenth * 100), BitRate(8e6))
        })
    }

    #[test]
    fn averages_rate_over_a_second() {
        assert!(!ends([100; 600]), "exactly at the limit");
        assert!(
            !ends([[0; 9], [1000, 100, 100, 100, 100, 100, 100, 100, 100]].concat()),
            "catching up after a stall"
        );
        assert!(ends([200; 12]), "twice the limit for over a second");
        assert!(!ends([200; 8]), "twice the limit for less than a second");
        assert!(ends([[10; 600].as_slice(), &[300; 10]].concat()), "credit from slow periods is limited");
    }

    #[test]
    fn counts_bytes_before_an_interval_ends() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let socket = TcpStream::connect(address).expect("the listener accepts");
        let counting = CountingObserver::new((socket, Vec::new()), &());
        counting.progress(Progress { received: Bytes(3), sent: Bytes(4), ..Progress::default() });
        assert_eq!(counting.counts().bytes.load(Ordering::Relaxed), 7);
    }

    #[test]
    fn marks_engine_as_ended_after_panic() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let socket = TcpStream::connect(address).expect("the listener accepts");
        let counting = CountingObserver::new((socket, Vec::new()), &());
        let counts = counting.counts();
        drop(EngineEndGuard(&counting));
        assert!(counts.is_over() && counts.is_over_too_soon());
    }
}
