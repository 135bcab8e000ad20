//! Parses the summary printed by sockperf after a test and above a full log.

use std::ops::RangeInclusive;

use samples::{ImportedKind, ImportedSettings};
use units::Bytes;
use workload::{Direction, Measurement, Quantity, ReportedData, ReportedValue, Transport};

use crate::{
    format::{Line, Out},
    imported_test::{End, ImportedTest},
    quantity::{leading_number, whole},
    statistic,
};

const FORMAT: &str = "sockperf text";

/// The first lines of the statistics, in case the lines above them are missing.
const STATISTICS: [&str; 3] = ["[Valid Duration]", "[Total Run]", "========= Printing statistics"];

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineOutcome {
    No,
    More,
    All,
}

#[derive(Debug, Default)]
pub(super) struct Summary {
    first: u64,
    last: u64,
    version: Option<String>,
    transport: Option<Transport>,
    peer: Option<String>,
    message: Option<Bytes>,
    requested: Option<u64>,
    of_log: bool,
    server: bool,
    whole: Option<bool>,
    times: Vec<(String, f64)>,
    valid: Option<(f64, u64, u64)>,
    dropped: Option<u64>,
    rate: Option<f64>,
    bandwidth: Option<f64>,
    unread: Option<u64>,
}

impl Summary {
    pub(super) fn new(line: u64) -> Self {
        Self { first: line, last: line, ..Self::default() }
    }

    /// The statistics start a test only if no test is in progress.
    pub(super) fn begins(text: &str, under_way: bool) -> bool {
        let message = message(text);
        message.starts_with("== version #")
            || text.starts_with("test was performed using the following parameters:")
            || (!under_way && STATISTICS.iter().any(|words| message.starts_with(words)))
    }

    pub(super) fn line(&mut self, line: &Line<'_>, out: &mut Out) -> LineOutcome {
        let text = message(line.text);
        let named = line.text.contains(NAME) || line.text.trim_start().starts_with("sockperf");
        if !named && !self.plain(text) {
            return LineOutcome::No;
        }
        self.last = line.number;
        if !line.whole {
            self.unread.get_or_insert(line.number);
            return LineOutcome::More;
        }
        if let Some(error) = text.strip_prefix("ERROR: ") {
            out.note(format!("line {}: sockperf failed: {error}", line.number));
        }
        if text.starts_with("No messages were received") {
            out.note(format!("sockperf's test at line {} received no reply.", self.first));
            return LineOutcome::All;
        }
        match self.take(text) {
            Some(taken) => taken,
            None => {
                self.unread.get_or_insert(line.number);
                LineOutcome::More
            }
        }
    }

    fn plain(&mut self, text: &str) -> bool {
        if let Some(parameters) = text.strip_prefix("test was performed using the following parameters:") {
            self.of_log = true;
            let of = |name: &str| {
                parameters.split_whitespace().find_map(|flag| flag.strip_prefix(name)).and_then(whole)
            };
            self.message = of("--msg-size=").map(Bytes);
            self.requested = of("--mps=");
            return true;
        }
        if text.starts_with('[') && text.contains("PORT =") {
            let transport = text.rsplit_once("# ").map(|(_, transport)| transport.trim());
            self.transport = match transport {
                Some("TCP") => Some(Transport::Tcp),
                Some("UDP") => Some(Transport::Udp),
                _ => None,
            };
            let address = after(text, "IP =").and_then(|rest| rest.split_whitespace().next());
            self.peer = address.map(str::to_owned);
            return true;
        }
        text.is_empty() || text.starts_with("-----")
    }

    fn take(&mut self, text: &str) -> Option<LineOutcome> {
        if let Some(version) = text.strip_prefix("== version #") {
            self.version = version
                .split_whitespace()
                .next()
                .map(|version| version.trim_end_matches("-no.git").to_owned());
        } else if text.starts_with("[SERVER]") {
            self.server = true;
        } else if let Some(valid) = text.strip_prefix("[Valid Duration]") {
            let seconds = leading_number(after(valid, "RunTime=")?)?.0;
            let sent = count(valid, "SentMessages=")?;
            self.valid = Some((seconds, sent, count(valid, "ReceivedMessages=")?));
        } else if let Some(average) = text.strip_prefix("====> avg-") {
            self.whole = Some(average.starts_with("rtt"));
            self.times.push(("mean".to_owned(), leading_number(after(average, "=")?)?.0));
            if let Some(deviation) = after(average, "std-dev=") {
                // Since 3.8, other measures of spread follow.
                let deviation = deviation.split([',', ')']).next().unwrap_or_default();
                self.times.push(("standard deviation".to_owned(), leading_number(deviation)?.0));
            }
        } else if let Some(percentile) = text.strip_prefix("---> ") {
            return self.percentile(percentile);
        } else if text.starts_with("# dropped messages =") {
            self.dropped = Some(count(text, "dropped messages =")?);
        } else if let Some(rate) = text.strip_prefix("Summary: Message Rate is ") {
            self.rate = Some(leading_number(rate)?.0);
        } else if let Some(bandwidth) = text.strip_prefix("Summary: BandWidth is ") {
            self.bandwidth = Some(leading_number(bandwidth)?.0 * MEGABYTE);
            return Some(LineOutcome::All);
        } else if let Some(size) = after(text, "using msg-size=") {
            self.message = leading_number(size.trim_end_matches('.')).map(|(size, _)| Bytes(size as u64));
        }
        Some(LineOutcome::More)
    }

    fn percentile(&mut self, text: &str) -> Option<LineOutcome> {
        let (name, value) = text.split_once('=')?;
        let name = name.trim().trim_end_matches(" observation");
        let name = statistic::statistic(name)?;
        let last = name == "min";
        self.times.push((name, leading_number(value.trim())?.0));
        Some(if last && !self.of_log { LineOutcome::All } else { LineOutcome::More })
    }

    pub(super) fn finish(self, noted_halves: bool, out: &mut Out) -> bool {
        if self.server {
            return false;
        }
        let lines = self.first..=self.last;
        if let Some(first) = self.unread {
            out.note(format!(
                "sockperf's summary (line {}): skipped an invalid number in line {first}.",
                self.first
            ));
        }
        if let Some(bandwidth) = self.bandwidth.filter(|bandwidth| bandwidth.is_finite()) {
            out.found(self.throughput(bandwidth, lines));
            return false;
        }
        let (Some(whole), false) = (self.whole, self.times.is_empty()) else {
            if self.valid.is_some() || self.of_log {
                out.note(format!("sockperf's test at line {}: skipped: it has no times.", self.first));
            }
            return false;
        };
        let note = !whole && !noted_halves;
        if note {
            out.note(format!(
                "sockperf printed half round trips at lines {} to {}; its times are doubled (use --full-rtt to print whole ones).",
                self.first, self.last
            ));
        }
        out.found(self.ping_pong(whole, lines));
        note
    }

    pub(super) fn settings(&self, kind: ImportedKind) -> ImportedSettings {
        let version = self.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let tool = format!("sockperf{version}{}", if self.is_under_load() { UNDER_LOAD } else { "" });
        ImportedSettings {
            transport: self.transport,
            direction: (kind == ImportedKind::Stream).then_some(Direction::Forward),
            message: self.message,
            ..ImportedSettings::of(tool, kind)
        }
    }

    /// Returns whether messages were sent at a fixed rate rather than one after the other. Without a full log, checks
    /// the number of messages in flight, which is one in a ping-pong without losses.
    fn is_under_load(&self) -> bool {
        if let Some(requested) = self.requested {
            return requested != UNBOUNDED;
        }
        let mean = self.times.iter().find(|(name, _)| name == "mean").map(|(_, mean)| *mean);
        let (Some(mean), Some(whole), Some((seconds, _, received))) = (mean, self.whole, self.valid) else {
            return false;
        };
        let under_way = received as f64 / seconds * mean * if whole { 1e-6 } else { 2e-6 };
        self.dropped == Some(0) && seconds > 0.0 && !(0.8..1.2).contains(&under_way)
    }

    pub(super) const fn first_line(&self) -> u64 {
        self.first
    }

    pub(super) const fn lost(&self) -> Option<u64> {
        self.dropped
    }

    /// A `throughput` test reports the sender's numbers, because its log lacks the receiver's.
    fn throughput(&self, bandwidth: f64, lines: RangeInclusive<u64>) -> ImportedTest {
        let mut values = vec![value("sent", Quantity::BitRate, bandwidth)];
        values.extend(self.rate.map(|rate| value("messages", Quantity::PerSecond, rate)));
        self.found(ImportedKind::Stream, lines, values)
    }

    fn ping_pong(mut self, whole: bool, lines: RangeInclusive<u64>) -> ImportedTest {
        let nanos = if whole { 1e3 } else { 2e3 };
        self.times.sort_by_key(|(name, _)| statistic::rank(name));
        let mut values: Vec<ReportedValue> = self
            .times
            .iter()
            .filter(|(_, time)| (0.0..1e12).contains(time))
            .map(|(name, time)| value(name, Quantity::Time, time * nanos))
            .collect();
        if let Some((seconds, sent, received)) = self.valid.filter(|(seconds, ..)| *seconds > 0.0) {
            values.push(value("answers", Quantity::PerSecond, received as f64 / seconds));
            values.push(value("sent messages", Quantity::Count, sent as f64));
        }
        values.extend(self.dropped.map(|dropped| value("dropped messages", Quantity::Count, dropped as f64)));
        self.found(ImportedKind::PingPong, lines, values)
    }

    fn found(
        &self,
        kind: ImportedKind,
        lines: RangeInclusive<u64>,
        values: Vec<ReportedValue>,
    ) -> ImportedTest {
        let measurement = Measurement::Reported(ReportedData { values });
        let mut found = ImportedTest::new(FORMAT, lines, self.settings(kind), measurement);
        found.end = Some(End::Client);
        found.peer.clone_from(&self.peer);
        found
    }
}

const UNDER_LOAD: &str = " under-load";

/// A full log shows this rate for a ping-pong.
const UNBOUNDED: u64 = 600_000;

/// Bits in one of sockperf's megabytes, which are 2^20 bytes.
const MEGABYTE: f64 = 8.0 * 1_048_576.0;

fn value(name: &str, quantity: Quantity, value: f64) -> ReportedValue {
    ReportedValue { name: name.to_owned(), quantity, value: crate::quantity::as_written(value) }
}

/// The prefix of sockperf's lines. Another prefix may precede it.
const NAME: &str = "sockperf: ";

fn message(text: &str) -> &str {
    let text = text.trim();
    text.split_once(NAME).map_or(text, |(_, message)| message.trim_start())
}

fn after<'a>(text: &'a str, mark: &str) -> Option<&'a str> {
    text.split_once(mark).map(|(_, rest)| rest.trim_start())
}

fn count(text: &str, mark: &str) -> Option<u64> {
    let rest = after(text, mark)?;
    whole(&rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())])
}
