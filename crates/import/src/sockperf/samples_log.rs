//! The list of messages in a full log: `0, 2.414827454, 2.414929459, 51.003` under
//! `packet, txTime(sec), rxTime(sec), latency(usec)`. Must not know the summary's form.
//!
//! A round trip is the time of receiving less the time of sending, which are told to the nanosecond; the last column
//! is half of it or the whole, rounded.

use samples::ImportedKind;
use units::Nanos;
use workload::{LatencyHistogram, Measurement, PingPongData, SocketFacts};

use super::summary::Summary;
use crate::{
    format::{Line, Out},
    imported_test::{End, ImportedTest},
    places::Places,
    round_trips::Intervals,
};

/// How the records call it.
const FORMAT: &str = "sockperf full log";

/// No round trip is longer: a histogram holds no more.
const LONGEST: u64 = 60_000_000_000;

/// No message follows the one before it later than this.
const LONGEST_GAP: u64 = 3_600_000_000_000;

/// A list that is being read: what it comes to, not the list.
#[derive(Debug)]
pub(super) struct SamplesLog {
    first: u64,
    last: u64,
    summary: Option<Summary>,
    round_trips: LatencyHistogram,
    intervals: Intervals,
    /// The first message was sent then; the last answer came then.
    times: Option<(u64, u64)>,
    wrong: Places,
}

impl SamplesLog {
    /// Whether this is the heading of a list.
    pub(super) fn begins(text: &str) -> bool {
        text.starts_with("packet, txTime(sec), rxTime(sec)")
    }

    /// A list whose heading is at `line`, under a summary of it.
    pub(super) fn new(line: u64, summary: Option<Summary>) -> Self {
        Self {
            first: summary.as_ref().map_or(line, Summary::first_line),
            last: line,
            summary,
            round_trips: LatencyHistogram::new(),
            intervals: Intervals::default(),
            times: None,
            wrong: Places::NONE,
        }
    }

    /// Takes a message.
    pub(super) fn row(&mut self, line: &Line<'_>) {
        let Some((sent, received)) = message(line.text).filter(|_| line.whole) else {
            self.wrong.add(line.number);
            return;
        };
        let (first, last) = self.times.unwrap_or((sent, received));
        // A message that claims to be of another time altogether would stretch the test to it.
        if sent.saturating_add(LONGEST) < first || received > last.saturating_add(LONGEST_GAP) {
            self.wrong.add(line.number);
            return;
        }
        let first = first.min(sent);
        self.times = Some((first, last.max(received)));
        let took = Nanos(received - sent);
        self.round_trips.record(took);
        self.intervals.record(Nanos(received - first), took);
        self.last = line.number;
    }

    /// The list has ended: by its rule, or else it breaks off.
    pub(super) fn finish(self, whole: bool, out: &mut Out) {
        if !self.wrong.is_empty() {
            out.note(format!(
                "sockperf's log at line {} has no message at {}: left out.",
                self.first, self.wrong
            ));
        }
        if !whole {
            out.note(format!("sockperf's log at line {} breaks off after line {}.", self.first, self.last));
        }
        let Some((first, last)) = self.times else { return };
        let summary = self.summary.unwrap_or(Summary::new(self.first));
        if summary.lost().is_none() {
            out.note(format!(
                "sockperf's log at line {} does not tell how many messages were lost: unknown.",
                self.first
            ));
        }
        let data = PingPongData {
            round_trips: self.round_trips.packed(),
            open_loop: None,
            intervals: self.intervals.finish(Nanos(last - first)),
            elapsed: Nanos(last - first),
            lost: summary.lost(),
            strays: None,
            duplicates: None,
            client: SocketFacts::default(),
            server: SocketFacts::default(),
            under: None,
        };
        let told = summary.told(ImportedKind::PingPong);
        let mut found = ImportedTest::new(FORMAT, self.first..=self.last, told, Measurement::PingPong(data));
        found.end = Some(End::Client);
        out.found(found);
    }
}

/// When a message was sent and when its answer came, in nanoseconds of the tool's clock.
fn message(text: &str) -> Option<(u64, u64)> {
    let mut columns = text.split(',').map(str::trim);
    let _packet: u64 = columns.next()?.parse().ok()?;
    let (sent, received) = (nanos(columns.next()?)?, nanos(columns.next()?)?);
    let told: f64 = columns.next()?.parse().ok()?;
    let micros = received.checked_sub(sent).filter(|took| *took <= LONGEST)? as f64 / 1e3;
    // The last column shows whether the times before it are whole: half of them, or all.
    let fits = [0.5, 1.0].iter().any(|part| (micros * part - told).abs() <= 0.002 + micros * 1e-6);
    (fits && columns.next().is_none()).then_some((sent, received))
}

/// Nanoseconds of seconds with nine digits after the point.
fn nanos(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() != 9 || !digits(fraction) || !digits(seconds) {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}
