//! Reads flent's data files, which contain the samples of every series as JSON (flent 0.x to 2.x, file versions 1
//! to 4, <https://flent.org>).
//!
//! All streams form one test, and each round-trip series is a test of its own. Skips computed sums and averages.

mod file;
mod pings;
mod series;
mod streams;
mod transform;

use std::ops::RangeInclusive;

use samples::{ImportedKind, ImportedSettings, UnixMillis};
use workload::{Measurement, StreamData};

use self::{file::File, series::Kind, streams::Span};
use crate::{
    document::Document,
    format::{Claim, Out},
    imported_test::{End, ImportedTest},
};

const FORMAT: &str = "flent";

/// Maximum number of stream intervals to copy into the round-trip series of a file.
const MOST_COPIED: usize = 1 << 18;
const MOST_SERIES: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Flent;

impl Document for Flent {
    fn read(&mut self, text: &str, lines: RangeInclusive<u64>, out: &mut Out) -> Claim {
        if !text.contains("\"x_values\"") || !text.contains("\"results\"") {
            return Claim::Declined;
        }
        match File::read(text) {
            Ok(file) => Test { file: &file, lines }.hand_on(out),
            Err(error) => out.note(format!("cannot parse flent data at line {}: {error}", lines.start())),
        }
        Claim::Claimed
    }

    fn end(&mut self, _out: &mut Out) {}
}

struct Test<'a> {
    file: &'a File,
    lines: RangeInclusive<u64>,
}

impl Test<'_> {
    fn hand_on(&self, out: &mut Out) {
        let skipped = |out: &mut Out, what: &str| {
            out.note(format!("flent data at line {}: skipped {what}.", self.lines.start()));
        };
        let (flows, unread) = streams::flows(self.file);
        if !unread.is_empty() {
            skipped(out, &format!("unreadable series {}", unread.join(", ")));
        }
        let span = streams::span(self.file);
        let streams = (!flows.is_empty()).then_some(StreamData { flows });
        if let Some(data) = &streams {
            out.found(self.streams(data, out));
        }
        let mut pings = self.file.series.iter().filter(|series| series.kind == Kind::RoundTrips);
        for series in pings.by_ref().take(most_pings(streams.as_ref())) {
            let outside = self.ping(series, span, streams.as_ref(), out);
            if outside > 0 {
                let name = &series.name;
                skipped(
                    out,
                    &format!(
                        "{outside} round trips of `{name}` that were measured while no stream was running"
                    ),
                );
            }
        }
        let more = pings.count();
        if more > 0 {
            skipped(out, &format!("{more} series of round trips beyond the limit per file"));
        }
        for (what, means) in pings::means(self.file, span) {
            out.found(self.found(what, Measurement::Reported(means), ImportedKind::PingPong, out));
        }
        let other = self.file.series.iter().filter(|series| series.kind == Kind::Other);
        let unread: Vec<String> = other.map(|series| format!("`{}`", series.name)).collect();
        if !unread.is_empty() {
            skipped(out, &format!("unsupported series: {}", unread.join(", ")));
        }
        if self.file.series.is_empty() {
            skipped(out, "all data: no series has samples");
        }
    }

    fn streams(&self, data: &StreamData, out: &Out) -> ImportedTest {
        let mut found = self.found("", Measurement::Stream(data.clone()), ImportedKind::Stream, out);
        let series = || self.file.series.iter().filter(|series| matches!(series.kind, Kind::Stream { .. }));
        let mut directions = data.flows.iter().map(|flow| flow.direction);
        let one = directions.next().filter(|first| directions.all(|other| other == *first));
        let forward = data.flows.iter().filter(|flow| flow.direction == workload::Direction::Forward).count();
        found.settings.streams = u32::try_from(forward.max(data.flows.len() - forward)).ok();
        found.settings.direction = Some(one.unwrap_or(workload::Direction::Both));
        found.settings.transport = shared(series().map(|series| series.transport)).flatten();
        found.settings.congestion = shared(series().map(|series| series.congestion.clone())).flatten();
        found
    }

    fn ping(
        &self,
        series: &series::Series,
        span: Option<Span>,
        under: Option<&StreamData>,
        out: &mut Out,
    ) -> u64 {
        let (data, outside) = pings::round_trips(series, span);
        if data.round_trips.count() > 0 {
            let data = workload::PingPongData { under: under.cloned(), ..data };
            let found = self.found(&series.name, Measurement::PingPong(data), ImportedKind::PingPong, out);
            out.found(found);
        }
        outside
    }

    fn found(&self, what: &str, measurement: Measurement, kind: ImportedKind, out: &Out) -> ImportedTest {
        let version = self.file.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        let settings = ImportedSettings::of(format!("flent{version}"), kind);
        let mut found = ImportedTest::new(FORMAT, self.lines.clone(), settings, measurement);
        found.title.clone_from(&out.title);
        found.title.extend(self.file.title.clone());
        found.title.push(format!("{} {what}", self.file.name).trim().to_owned());
        found.end = Some(End::Client);
        found.hosts.clone_from(&self.file.hosts);
        found.started = self.file.started().map(|seconds| UnixMillis((seconds * 1e3) as i64));
        found
    }
}

fn most_pings(streams: Option<&StreamData>) -> usize {
    let flows = streams.map_or(&[][..], |streams| &streams.flows);
    let intervals: usize =
        flows.iter().map(|flow| flow.sender.intervals.len() + flow.receiver.intervals.len()).sum();
    (MOST_COPIED / intervals.max(1)).clamp(1, MOST_SERIES)
}

fn shared<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

#[cfg(test)]
mod tests;
