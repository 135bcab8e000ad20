//! The message list of a full log: `0, 2.414827454, 2.414929459, 51.003` under
//! `packet, txTime(sec), rxTime(sec), latency(usec)`.
//!
//! A round trip is the receive time minus the send time, with a resolution of 1 ns. The last column is the round trip,
//! or half of it, rounded.

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

const FORMAT: &str = "sockperf full log";

/// Longest round trip in nanoseconds, limited by the histogram.
const LONGEST: u64 = 60_000_000_000;

/// Longest gap between messages, in nanoseconds.
const LONGEST_GAP: u64 = 3_600_000_000_000;

#[derive(Debug)]
pub(super) struct SamplesLog {
    first: u64,
    last: u64,
    summary: Option<Summary>,
    round_trips: LatencyHistogram,
    intervals: Intervals,
    times: Option<(u64, u64)>,
    wrong: Places,
}

impl SamplesLog {
    pub(super) fn begins(text: &str) -> bool {
        text.starts_with("packet, txTime(sec), rxTime(sec)")
    }

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

    pub(super) fn row(&mut self, line: &Line<'_>) {
        let Some((sent, received)) = message(line.text).filter(|_| line.whole) else {
            self.wrong.add(line.number);
            return;
        };
        let (first, last) = self.times.unwrap_or((sent, received));
        // A corrupt time would make the test seem much longer.
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

    pub(super) fn finish(self, whole: bool, out: &mut Out) {
        if !self.wrong.is_empty() {
            out.note(format!(
                "sockperf's log at line {}: skipped invalid messages: {}.",
                self.first, self.wrong
            ));
        }
        if !whole {
            out.note(format!("sockperf's log at line {} is truncated after line {}.", self.first, self.last));
        }
        let Some((first, last)) = self.times else { return };
        let summary = self.summary.unwrap_or_else(|| Summary::new(self.first));
        if summary.lost().is_none() {
            out.note(format!(
                "sockperf's log at line {} does not give the number of lost messages; treated as unknown.",
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
        let printed = summary.settings(ImportedKind::PingPong);
        let mut found =
            ImportedTest::new(FORMAT, self.first..=self.last, printed, Measurement::PingPong(data));
        found.end = Some(End::Client);
        out.found(found);
    }
}

/// Send time of the message and receive time of the reply, in nanoseconds of sockperf's clock.
fn message(text: &str) -> Option<(u64, u64)> {
    let mut columns = text.split(',').map(str::trim);
    let _packet: u64 = columns.next()?.parse().ok()?;
    let (sent, received) = (nanos(columns.next()?)?, nanos(columns.next()?)?);
    let printed: f64 = columns.next()?.parse().ok()?;
    let micros = received.checked_sub(sent).filter(|took| *took <= LONGEST)? as f64 / 1e3;
    // The last column, the round trip or half of it, confirms the times.
    let fits = [0.5, 1.0].iter().any(|part| (micros * part - printed).abs() <= 0.002 + micros * 1e-6);
    (fits && columns.next().is_none()).then_some((sent, received))
}

fn nanos(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() != 9 || !digits(fraction) || !digits(seconds) {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(fraction.parse().ok()?)
}
