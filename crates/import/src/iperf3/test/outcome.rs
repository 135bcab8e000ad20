//! Completes a test at the end of its log: determines the end that wrote it and its direction, and notes missing data.

use workload::{Interval, Transport};

use super::{Gaps, ROUNDED, Test, connection::Connection};
use crate::{
    imported_test::{End, ImportedTest},
    iperf3::{
        agreement::Agreement,
        command::Protocol,
        log::{Log, Stream},
        row::Side,
        time,
    },
    places,
};

/// Because of rounding, a sum may exceed its connections by up to this fraction.
const MORE: f64 = 0.03;

#[derive(Debug)]
pub(in crate::iperf3) struct Outcome {
    pub(in crate::iperf3) found: Option<ImportedTest>,
    pub(in crate::iperf3) notes: Vec<String>,
    pub(in crate::iperf3) is_complete: bool,
}

impl Test {
    pub(in crate::iperf3) fn finish(self) -> Outcome {
        let place = places::lines(&self.lines());
        let outcome = self.outcome();
        let notes = outcome.notes.into_iter().map(|note| format!("{place}: {note}")).collect();
        Outcome { notes, ..outcome }
    }

    fn outcome(mut self) -> Outcome {
        let mut notes = Vec::new();
        if !self.has_sides {
            self.trim();
        }
        let listed = u32::try_from(self.streams.len()).ok().filter(|listed| *listed > 0);
        self.streams.retain(Connection::has_anything);
        let only_sums = self.streams.is_empty() && self.sums.iter().any(Connection::has_anything);
        let by_sums = only_sums || self.sums_exceed_parts();
        if by_sums {
            let what = if only_sums {
                "the log has only the sums of all connections"
            } else {
                "some connections are missing"
            };
            notes.push(format!("{what}, so the sum is read as one connection"));
            self.streams =
                std::mem::take(&mut self.sums).into_iter().filter(Connection::has_anything).collect();
        }
        if self.damaged.count > 0 {
            let Gaps { first, count } = self.damaged;
            notes.push(format!("skipped {count} damaged or contradictory lines, the first at line {first}"));
        }
        let failure = self.failure.as_ref().map(|why| format!(", iperf3 says \"{why}\"")).unwrap_or_default();
        if self.streams.is_empty() {
            notes.push(format!("skipped an iperf3 test without intervals{failure}"));
            return Outcome { found: None, notes, is_complete: false };
        }
        notes.extend(self.incomplete(&failure));
        let asked = self.asked.streams.filter(|_| by_sums).or_else(|| listed.filter(|_| only_sums));
        let is_whole = self.has_sides && self.damaged.count == 0;
        let (log, agreements) = self.into_log();
        notes.extend(Agreement::note(&agreements));
        notes.extend(log.impossible());
        let mut found = log.into_found();
        if found.settings.transport.is_none() {
            notes.push("this test uses SCTP; its transport is unknown".to_owned());
        }
        if by_sums {
            found.settings.streams = asked;
        }
        let is_complete = is_whole && !agreements.iter().any(Agreement::is_broken);
        Outcome { found: Some(found), notes, is_complete }
    }

    fn incomplete(&self, failure: &str) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.has_sides {
            notes.push(format!(
                "this test has no summary: it was cut off; the intervals before that are used{failure}"
            ));
        }
        let strides = self.streams.iter().map(|connection| connection.series.stride()).max();
        if let Some(stride) = strides.filter(|stride| *stride > 1) {
            notes.push(format!("the series is long; groups of {stride} intervals were merged"));
        }
        if !self.has_sides
            && let Some(gap) = self.streams.iter().map(Connection::gaps).max().filter(|gap| gap.0 > 0)
        {
            notes.push(format!("rows are missing, {gap} in total; the rate is that of the remaining rows"));
        }
        if self.streams.iter().any(|it| it.late_report) {
            let text =
                "the server's datagram count does not match the number sent, so received bytes are unknown";
            notes.push(text.to_owned());
        }
        if self.streams.iter().any(|it| it.overflowed) {
            let lost: i64 = self.streams.iter().map(Connection::datagrams_lost).sum();
            notes.push(format!(
                "the summary's datagram counter overflowed, so the total loss is unknown; the rows show {lost} lost datagrams"
            ));
        }
        notes
    }

    fn sums_exceed_parts(&self) -> bool {
        self.sums.iter().enumerate().any(|(at, sum)| {
            let parts = || self.streams.iter().filter(move |it| super::sum_of(it.tag) == at);
            let more = |of: fn(&Connection) -> Option<f64>| {
                let all: f64 = parts().filter_map(of).sum();
                of(sum).map(|sum| sum > all * (1.0 + MORE))
            };
            more(|it| it.of_sender.map(|it| it.bytes.0 as f64))
                .or_else(|| more(|it| it.of_receiver.map(|it| it.bytes.0 as f64)))
                .or_else(|| more(|it| it.series.end().map(|_| it.series.bytes())))
                .unwrap_or(false)
        })
    }

    /// Drops trailing intervals that only some of the connections have, because the log may have been cut off.
    fn trim(&mut self) {
        self.streams.iter_mut().for_each(Connection::drop_cut_number);
        let ends = || self.streams.iter().filter_map(|connection| connection.series.end());
        let Some(least) = ends().min() else { return };
        // A sum that ends after its connections includes their missing rows, so it is not trimmed.
        let ends_with_them = |sum: &&mut Connection| {
            sum.series.end().is_some_and(|end| end.0 <= least.0 + 3 * sum.series.last_length().0 / 2)
        };
        let sums = self.sums.iter_mut().filter(ends_with_them);
        self.streams.iter_mut().chain(sums).for_each(|connection| connection.series.trim(least + ROUNDED));
    }

    fn into_log(mut self) -> (Log, Vec<Agreement>) {
        let end = self.writer();
        let observed = [("port", self.port.take()), ("mss", self.segment_size.take())];
        // SCTP has the same columns as TCP.
        let known = self.asked.transport != Some(Protocol::Other);
        let transport = known.then(|| if self.is_udp() { Transport::Udp } else { Transport::Tcp });
        let sends = self.sends(end);
        let of = |connection: &Connection| connection.tag.map(|tag| tag.sends).or(sends);
        // A receiver is the server of a forward test or the client of a reverse test.
        let is_ambiguous = end.is_none() && sends == Some(false) && !self.reverse && !self.asked.reverse;
        let knows_direction = !is_ambiguous && self.streams.iter().all(|connection| of(connection).is_some());
        let way = |connection: &Connection| of(connection).unwrap_or(end != Some(End::Server));
        let warm_up = |it: &Connection| {
            let warm = it.series.intervals().filter(|interval| interval.warmup);
            warm.map(|interval| (interval.end - interval.start).seconds()).sum::<f64>().round()
        };
        let omitted = self.streams.iter().map(warm_up).fold(0.0, f64::max);
        if omitted > 0.0 {
            self.asked.options.entry("omit".to_owned()).or_insert_with(|| format!("{omitted:.0}"));
        }
        let has_rows = self.streams.iter().any(|connection| connection.series.len() > 0);
        let agreements: Vec<Agreement> = match has_rows {
            true => self.streams.iter().filter_map(|it| it.agreement(way(it))).collect(),
            false => Vec::new(),
        };
        let by_summary = agreements.iter().any(Agreement::is_broken);
        let knows_other = end != Some(End::Server);
        let streams = self.streams.into_iter().map(|connection| {
            let sends = way(&connection);
            connection.into_stream(sends, knows_other, by_summary, &self.congestion)
        });
        let mut streams: Vec<Stream> = streams.collect();
        self.sums.iter().for_each(|sum| add_up_to(sum, &mut streams));
        let log = Log {
            format: "iperf3 text",
            lines: self.first..=self.last,
            end,
            version: self.version,
            transport,
            knows_direction,
            message: self.asked.message,
            streams,
            congestion: self.congestion.or(self.asked.congestion),
            rate: self.asked.rate,
            options: self.asked.options,
            observed: observed.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            peer: self.peer,
            cpu: self.cpu,
            started: self.time.as_deref().and_then(time::of_version_line),
        };
        (log, agreements)
    }

    fn is_udp(&self) -> bool {
        let asked = self.asked.transport == Some(Protocol::Known(Transport::Udp));
        self.udp || (asked && !self.counts_segments)
    }

    /// Returns the end that wrote the log, judging by its first line, tags, command, error or summary. Only a
    /// client has both summaries. If the columns contradict the command, the command is the other end's.
    fn writer(&self) -> Option<End> {
        let receives_only = || self.streams.iter().any(|it| it.sends == Some(false));
        let by_command = || match (self.asked.client, self.asked.server) {
            (true, _) if self.asked.reverse || self.asked.bidirectional || !receives_only() => {
                Some(End::Client)
            }
            (false, true) => Some(End::Server),
            _ => None,
        };
        let by_error = || match self.failure.as_deref() {
            Some(error) if error.contains("the client has terminated") && self.asked.client => {
                Some(End::Client)
            }
            _ => None,
        };
        let tagged = || self.streams.iter().find_map(|it| it.tag).map(|tag| tag.end);
        let both = || self.streams.iter().any(|it| it.of_sender.is_some() && it.of_receiver.is_some());
        let receives =
            |it: &Connection| it.of_sender.is_none() && it.of_receiver.is_some() && it.sends != Some(true);
        self.end
            .or_else(tagged)
            .or_else(by_command)
            .or_else(by_error)
            .or_else(|| both().then_some(End::Client))
            .or_else(|| {
                (!self.streams.is_empty() && !self.asked.client && self.streams.iter().all(receives))
                    .then_some(End::Server)
            })
    }

    /// Returns whether this end sends its untagged connections, which all have the same direction. If the columns do
    /// not show the direction, a client sends unless the test is reversed, and a server receives unless its summary has
    /// only sent data. `None` if the relevant lines are missing.
    fn sends(&self, end: Option<End>) -> Option<bool> {
        let all = || self.streams.iter().filter(|it| it.tag.is_none());
        if let Some(sends) = all().chain(&self.sums).find_map(|it| it.sends) {
            return Some(sends);
        }
        if end == Some(End::Server) {
            return Some(all().any(|it| it.of_sender.is_some() && it.of_receiver.is_none()));
        }
        // On Linux, the sender prints retransmits. A summary alone may contain those of the other end.
        let counted = |interval: &Interval| interval.tcp.is_some();
        let from_other_end = self.interval_heads.is_some_and(|heads| !heads.segments)
            && all().any(|it| it.of_sender.as_ref().is_some_and(counted));
        let began = self.peer.is_some() || self.asked.client;
        if self.reverse || self.asked.reverse || from_other_end { Some(false) } else { began.then_some(true) }
    }
}

/// Keeps the totals of a sum, which may differ from the rounded totals of its connections.
fn add_up_to(sum: &Connection, streams: &mut [Stream]) {
    for side in [Side::Sender, Side::Receiver] {
        let Some(totals) = sum.totals(side) else { continue };
        let is_part = |stream: &&mut Stream| sum.tag.is_none_or(|tag| tag.sends == stream.sends);
        let ends = streams.iter_mut().filter(is_part).map(|stream| match Side::of(stream.sends) == side {
            true => stream.own.as_mut_slice(),
            false => stream.other.as_mut_slice(),
        });
        totals.apply(&mut ends.collect::<Vec<_>>());
    }
}
