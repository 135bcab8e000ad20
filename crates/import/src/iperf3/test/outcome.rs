//! What a test comes to when its log has ended: whose it is, who sends, and what is missing.
//! Must not know rows.

use units::Bytes;
use workload::{Interval, Transport};

use super::{Gaps, ROUNDED, Test, connection::Connection};
use crate::{
    imported_test::{End, ImportedTest},
    iperf3::{log::Log, time},
};

/// Intervals and summary of a test may differ by this share: both are rounded, and the summary's time is exact.
const DIFFER: f64 = 0.03;

/// What came of a test.
pub(in crate::iperf3) struct Outcome {
    /// The test, if anything of it was whole.
    pub(in crate::iperf3) found: Option<ImportedTest>,
    /// What is missing.
    pub(in crate::iperf3) notes: Vec<String>,
}

impl Test {
    /// What it comes to.
    pub(in crate::iperf3) fn finish(mut self) -> Outcome {
        let mut notes = Vec::new();
        let place = place(self.first, self.last);
        if !self.has_sides {
            self.trim();
        }
        self.streams.retain(Connection::has_anything);
        let only_sums = self.streams.is_empty() && self.sums.iter().any(Connection::has_anything);
        if only_sums {
            notes.push(format!("{place}: only sums over all connections are there, read as one connection"));
            self.streams =
                std::mem::take(&mut self.sums).into_iter().filter(Connection::has_anything).collect();
        }
        if self.damaged.count > 0 {
            let Gaps { first, count } = self.damaged;
            notes.push(format!("{place}: {count} lines that are damaged, or that contradict others, were left out; the first is line {first}"));
        }
        let failure = self.failure.as_ref().map(|why| format!(", iperf3 says \"{why}\"")).unwrap_or_default();
        if self.streams.is_empty() {
            notes.push(format!("{place}: a test of iperf3 without any interval was left out{failure}"));
            return Outcome { found: None, notes };
        }
        if !self.has_sides {
            notes.push(format!(
                "{place}: this test has no summary, it was cut off; what is there is kept{failure}"
            ));
        }
        let strides = self.streams.iter().map(|connection| connection.series.stride()).max();
        if let Some(stride) = strides.filter(|stride| *stride > 1) {
            notes.push(format!("{place}: the series is long; {stride} intervals each were added up to one"));
        }
        let log = self.into_log(only_sums);
        notes.extend(disagreement(&log.1).map(|what| format!("{place}: {what}")));
        let mut found = log.0.into_found();
        if only_sums {
            found.told.streams = None;
        }
        Outcome { found: Some(found), notes }
    }

    /// Without the intervals that some connections have and others have no more: the log was cut in their midst.
    fn trim(&mut self) {
        self.streams.iter_mut().for_each(Connection::drop_cut_number);
        let ends = || self.streams.iter().filter_map(|connection| connection.series.end());
        let Some(least) = ends().min() else { return };
        self.streams.iter_mut().for_each(|connection| connection.series.trim(least + ROUNDED));
    }

    fn into_log(self, only_sums: bool) -> (Log, Vec<(f64, f64)>) {
        let end = self.whose();
        let local = |connection: &Connection| connection.local.as_deref().map(address);
        let own = self.streams.first().and_then(local).flatten();
        let peer = self.streams.first().and_then(|it| it.remote.as_deref().map(address)).flatten();
        let hosts = own.zip(peer);
        let hosts = hosts.map(|(own, peer)| if end == Some(End::Server) { (peer, own) } else { (own, peer) });
        let udp = self.udp || self.asked.transport == Some(Transport::Udp);
        let reverses: Vec<bool> = self.streams.iter().map(|it| self.sends(it, end)).collect();
        let mut sums = Vec::new();
        let mut streams = Vec::with_capacity(self.streams.len());
        for (connection, sends) in self.streams.into_iter().zip(reverses) {
            let (stream, sum) = connection.into_stream(sends, end != Some(End::Server), &self.congestion);
            sums.extend(sum.filter(|_| !only_sums));
            streams.push(stream);
        }
        let log = Log {
            format: "iperf3 text",
            lines: self.first..=self.last,
            end,
            version: self.version,
            transport: Some(if udp { Transport::Udp } else { Transport::Tcp }),
            message: self.asked.message,
            congestion: self.congestion.or(self.asked.congestion),
            rate: self.asked.rate,
            hosts,
            peer: self.peer,
            cpu: self.cpu,
            started: self.time.as_deref().and_then(time::of_version_line),
            streams,
        };
        (log, sums)
    }

    /// Whose log it is: its first line says so, or its tags, or its summary: only a client knows both ends.
    fn whose(&self) -> Option<End> {
        let tagged = || self.streams.iter().find_map(|it| it.tag).map(|tag| tag.end);
        let both = || self.streams.iter().any(|it| it.of_sender.is_some() && it.of_receiver.is_some());
        let receives =
            |it: &Connection| it.of_sender.is_none() && it.of_receiver.is_some() && it.sends != Some(true);
        self.end.or_else(tagged).or_else(|| both().then_some(End::Client)).or_else(|| {
            (!self.streams.is_empty() && self.streams.iter().all(receives)).then_some(End::Server)
        })
    }

    /// Whether this end sends: its tag says so, or its columns. Else a client sends unless the test is reversed, and
    /// a server receives unless its summary tells of sending alone.
    fn sends(&self, connection: &Connection, end: Option<End>) -> bool {
        let told = connection.tag.map(|tag| tag.sends).or(connection.sends);
        told.unwrap_or_else(|| match end {
            Some(End::Server) => connection.of_sender.is_some() && connection.of_receiver.is_none(),
            _ => {
                // Linux shows retransmits to whoever sends; a summary alone has them from the other end.
                let counted = |interval: &Interval| interval.tcp.is_some();
                let from_afar =
                    self.interval_heads.is_some() && connection.of_sender.as_ref().is_some_and(counted);
                !(self.reverse || self.asked.reverse || from_afar)
            }
        })
    }
}

/// Says where intervals and summary do not agree: lines are missing, or were changed.
fn disagreement(sums: &[(f64, f64)]) -> Option<String> {
    let (intervals, summaries) = sums.iter().fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    let differ = summaries > 0.0 && (intervals / summaries - 1.0).abs() > DIFFER;
    let bytes = |value: f64| Bytes(value as u64);
    differ.then(|| {
        format!(
            "the intervals add up to {} and the summary says {}: lines are missing or were changed",
            bytes(intervals),
            bytes(summaries)
        )
    })
}

/// `lines 5 to 20`.
pub(in crate::iperf3) fn place(first: u64, last: u64) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

fn address(with_port: &str) -> Option<String> {
    with_port.rsplit_once(':').map(|(address, _)| address.to_owned())
}
