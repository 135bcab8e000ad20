//! What a log says of one connection, row by row. Must not know which rows are its own.

use units::{Bytes, Nanos};
use workload::{DatagramSample, Interval, SocketFacts, TcpSample};

use crate::{
    iperf3::{
        agreement::{self, Agreement},
        bytes,
        log::Stream,
        row::{Figure, Rest, Row, Tag},
    },
    series::Series,
};

/// What a log says of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Connection {
    pub(super) id: u32,
    pub(super) tag: Option<Tag>,
    pub(super) local: Option<String>,
    pub(super) remote: Option<String>,
    pub(super) series: Series,
    /// Where the clock was set back to zero, after what `-O` leaves out.
    pub(super) zero: Nanos,
    /// Whether this end sends, where its columns tell.
    pub(super) sends: Option<bool>,
    pub(super) of_sender: Option<Interval>,
    pub(super) of_receiver: Option<Interval>,
    /// Whether the summary had these rows, also where they tell of nothing.
    pub(super) has_sender_row: bool,
    pub(super) has_receiver_row: bool,
    /// A row of a summary without a word.
    pub(super) plain: Option<Interval>,
    /// Bytes a datagram of the last interval but one, and of the last, at a UDP sender.
    pub(super) sizes: [Option<f64>; 2],
}

impl Connection {
    pub(super) fn has_anything(&self) -> bool {
        self.series.len() > 0 || self.of_sender.is_some() || self.of_receiver.is_some()
    }

    /// A count of datagrams is the last number of a line, so that nothing shows when its end is missing, but that
    /// datagrams are all of one size.
    pub(super) fn drop_cut_number(&mut self) {
        let [before, last] = self.sizes;
        let Some(last) = last else { return };
        let alike = before.is_some_and(|before| (last / before - 1.0).abs() < 0.1);
        if let Some(end) = self.series.end().filter(|_| !alike) {
            self.series.trim(end - Nanos(1));
        }
    }

    /// What this end's summary says, and the other's.
    fn summaries(&self, sends: bool) -> (Option<Interval>, Option<Interval>) {
        if sends { (self.of_sender, self.of_receiver) } else { (self.of_receiver, self.of_sender) }
    }

    /// How this end's intervals agree with its summary, of a test that has intervals; `None` without a summary.
    pub(super) fn agreement(&self, sends: bool) -> Option<Agreement> {
        let summary = self.summaries(sends).0?;
        Agreement::of(&self.series, &summary).or_else(|| Some(Agreement::of_summary_alone(&summary)))
    }

    /// The time within the series of which no interval tells.
    pub(super) fn gaps(&self) -> Nanos {
        agreement::gaps(&self.series)
    }

    /// The stream; with `by_summary` its intervals give way to the summary.
    pub(super) fn into_stream(
        self,
        sends: bool,
        knows_other: bool,
        by_summary: bool,
        congestion: &Option<String>,
    ) -> Stream {
        let (summary, other) = self.summaries(sends);
        let mut own = self.series.into_intervals();
        match summary {
            Some(summary) if own.is_empty() || by_summary => own = vec![summary],
            Some(summary) => agreement::add_what_the_summary_counts_alone(&mut own, &summary),
            None => {}
        }
        let congestion = if sends { congestion.clone() } else { None };
        let socket = SocketFacts { congestion, ..SocketFacts::default() };
        let other = other.filter(|_| knows_other);
        Stream { sends, local: self.local, remote: self.remote, own, other, socket }
    }
}

/// The interval of a row; `None` where its numbers contradict each other.
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

/// The first interval after what `-O` leaves out, at an end that took its time from before that and its bytes from
/// after it (3.12): it goes from zero to its end, and its rate is meaningless.
pub(super) fn since_zero(row: &Row, rest: Rest) -> Option<Interval> {
    let elapsed = row.end.seconds();
    let rate = Figure { value: row.transfer.value * 8.0 / elapsed.max(0.01), within: 0.0 };
    interval(&Row { start: Nanos(0), rate, ..row.clone() }, rest)
}

/// Bytes a datagram of a sender's interval.
pub(super) fn size(interval: &Interval, rest: Rest) -> Option<f64> {
    let Rest::Sent { datagrams } = rest else { return None };
    (interval.bytes.0 > 0).then(|| interval.bytes.0 as f64 / datagrams as f64)
}

/// What arrived of what was sent: datagrams are of one size.
pub(super) fn without_the_lost(sent: Interval) -> Interval {
    let Some(datagrams) = sent.datagrams else { return sent };
    let all = datagrams.count as f64 + datagrams.lost.max(0) as f64;
    let share = if all > 0.0 { datagrams.count as f64 / all } else { 0.0 };
    Interval { bytes: Bytes((sent.bytes.0 as f64 * share).round() as u64), ..sent }
}
