//! Collects the rows of a connection.

use units::{Bytes, Nanos};
use workload::{DatagramSample, Interval, SocketFacts, TcpSample};

use crate::{
    iperf3::{
        agreement::{self, Agreement, Totals},
        bytes,
        figure::Figure,
        log::Stream,
        row::{Rest, Row, Side, Tag},
    },
    series::Series,
};

#[derive(Debug, Clone, Default)]
pub(super) struct Connection {
    pub(super) id: u32,
    pub(super) tag: Option<Tag>,
    pub(super) local: Option<String>,
    pub(super) remote: Option<String>,
    pub(super) series: Series,
    /// When the clock was reset after the `-O` period.
    pub(super) zero: Nanos,
    pub(super) sends: Option<bool>,
    pub(super) of_sender: Option<Interval>,
    pub(super) of_receiver: Option<Interval>,
    pub(super) totals_of_sender: Option<Totals>,
    pub(super) totals_of_receiver: Option<Totals>,
    pub(super) has_sender_row: bool,
    pub(super) has_receiver_row: bool,
    pub(super) plain: Option<Interval>,
    /// Whether the server sent its report before most of the datagrams arrived.
    pub(super) late_report: bool,
    pub(super) overflowed: bool,
    pub(super) sizes: [Option<f64>; 2],
}

impl Connection {
    pub(super) fn has_anything(&self) -> bool {
        self.series.len() > 0 || self.of_sender.is_some() || self.of_receiver.is_some()
    }

    /// Drops the last interval if its number of datagrams was cut off. Only a different datagram size shows this.
    pub(super) fn drop_cut_number(&mut self) {
        let [before, last] = self.sizes;
        let Some(last) = last else { return };
        let alike = before.is_some_and(|before| (last / before - 1.0).abs() < 0.1);
        if let Some(end) = self.series.end().filter(|_| !alike) {
            self.series.trim(end - Nanos(1));
        }
    }

    fn summaries(&self, sends: bool) -> (Option<Interval>, Option<Interval>) {
        if sends { (self.of_sender, self.of_receiver) } else { (self.of_receiver, self.of_sender) }
    }

    pub(super) const fn summary(&mut self, side: Side, interval: Option<Interval>, row: &Row) {
        let totals = Some(Totals::of(row));
        match side {
            Side::Sender => {
                (self.of_sender, self.totals_of_sender, self.has_sender_row) = (interval, totals, true);
            }
            Side::Receiver => {
                (self.of_receiver, self.totals_of_receiver, self.has_receiver_row) = (interval, totals, true);
            }
        }
    }

    pub(super) const fn totals(&self, side: Side) -> Option<Totals> {
        match side {
            Side::Sender => self.totals_of_sender,
            Side::Receiver => self.totals_of_receiver,
        }
    }

    pub(super) fn agreement(&self, sends: bool) -> Option<Agreement> {
        let summary = self.summaries(sends).0?;
        Agreement::of(&self.series, &summary).or_else(|| Some(Agreement::of_summary_alone(&summary)))
    }

    pub(super) fn datagrams_counted(&self) -> u64 {
        let counted = self.series.intervals().filter_map(|interval| interval.datagrams);
        counted.fold(0, |sum, datagrams| sum.saturating_add(datagrams.count))
    }

    pub(super) fn datagrams_lost(&self) -> i64 {
        let counted = self.series.intervals().filter_map(|interval| interval.datagrams);
        counted.fold(0, |sum, datagrams| sum.saturating_add(datagrams.lost.max(0)))
    }

    pub(super) fn gaps(&self) -> Nanos {
        agreement::gaps(&self.series)
    }

    pub(super) fn into_stream(
        self,
        sends: bool,
        knows_other: bool,
        by_summary: bool,
        congestion: &Option<String>,
    ) -> Stream {
        let (mut summary, other) = self.summaries(sends);
        let mut other = other.filter(|_| knows_other);
        if self.overflowed {
            // Only the rows have valid numbers of datagrams.
            let rows = DatagramSample {
                count: self.datagrams_counted(),
                lost: self.datagrams_lost(),
                ..DatagramSample::default()
            };
            let known = Some(rows).filter(|rows| rows.count > 0);
            summary.iter_mut().for_each(|summary| summary.datagrams = known.filter(|_| !sends));
            other.iter_mut().for_each(|other| other.datagrams = None);
        } else if let Some(datagrams) =
            summary.as_mut().and_then(|summary| summary.datagrams.as_mut()).filter(|_| !sends)
        {
            datagrams.lost = datagrams.lost.max(self.datagrams_lost());
        }
        let totals = self.totals(Side::of(sends));
        let mut own = self.series.into_intervals();
        match summary {
            Some(summary) if own.is_empty() || by_summary => own = vec![summary],
            Some(summary) => agreement::add_counts_of_summary(&mut own, &summary),
            None => {}
        }
        if let Some(totals) = totals {
            totals.apply(&mut [&mut own]);
        }
        let congestion = if sends { congestion.clone() } else { None };
        let socket = SocketFacts { congestion, ..SocketFacts::default() };
        Stream { sends, local: self.local, remote: self.remote, own, other, socket }
    }
}

pub(super) fn interval(row: &Row, rest: Rest) -> Option<Interval> {
    let carried = bytes::of(row)?;
    let tcp = match rest {
        Rest::Segments { retransmits, cwnd } => {
            Some(TcpSample { retransmits, cwnd: cwnd.unwrap_or_default(), ..TcpSample::default() })
        }
        _ => None,
    };
    let datagrams = match rest {
        Rest::Sent { datagrams } => Some(DatagramSample { count: datagrams, ..DatagramSample::default() }),
        Rest::Received { jitter, lost, total } => {
            let count = i64::try_from(total).ok()?.checked_sub(lost)?.max(0).cast_unsigned();
            Some(DatagramSample { count, lost, jitter, ..DatagramSample::default() })
        }
        _ => None,
    };
    let end = row.start + carried.elapsed;
    Some(Interval { start: row.start, end, bytes: carried.bytes, warmup: row.omitted, tcp, datagrams })
}

/// Returns the first interval after the `-O` period. Version 3.12 prints a start before the clock reset, but counts
/// only the bytes after it.
pub(super) fn since_zero(row: &Row, rest: Rest) -> Option<Interval> {
    let elapsed = row.end.seconds();
    let rate = Figure { value: row.transfer.value * 8.0 / elapsed.max(0.01), within: 0.0 };
    interval(&Row { start: Nanos(0), rate, ..row.clone() }, rest)
}

pub(super) fn size(interval: &Interval, rest: Rest) -> Option<f64> {
    let Rest::Sent { datagrams } = rest else { return None };
    (interval.bytes.0 > 0).then(|| interval.bytes.0 as f64 / datagrams as f64)
}

pub(super) fn bytes_per_datagram(interval: &Interval, datagrams: u64) -> f64 {
    interval.bytes.0 as f64 / datagrams.max(1) as f64
}

/// Scales a summary of sent bytes to the received bytes, based on datagram counts. Returns `None` if the server
/// reported too early, or if more datagrams were lost than sent.
pub(super) fn received(summary: Interval, sent: u64) -> Option<Interval> {
    let Some(datagrams) = summary.datagrams else { return Some(summary) };
    let counted = datagrams.count as f64 + datagrams.lost.max(0) as f64;
    let lost_too_many = datagrams.count == 0 && datagrams.lost > i64::try_from(sent).unwrap_or(i64::MAX);
    if counted < sent as f64 * COUNTED || lost_too_many {
        return None;
    }
    let share = if counted > 0.0 { datagrams.count as f64 / counted } else { 0.0 };
    Some(Interval { bytes: Bytes((summary.bytes.0 as f64 * share).round() as u64), ..summary })
}

/// The server reported too early if it counted less than this fraction of the datagrams.
const COUNTED: f64 = 0.9;
