//! The measurement of a stream: the intervals of all connections at both ends.

use super::settings::Direction;
use crate::{histogram::LatencyHistogram, socket::SocketFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{BitRate, Bytes, Nanos};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamData {
    /// The connections. Forward ones come first.
    pub flows: Vec<Flow>,
}

/// A connection, as seen by both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Number of the connection within its direction, starting at 0.
    pub id: u32,
    /// Never `both`.
    pub direction: Direction,
    /// The sender's record. Counts the bytes accepted by the socket.
    pub sender: EndSeries,
    /// The receiver's record. Counts the bytes delivered to the application. They determine the result.
    pub receiver: EndSeries,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// The connections. Forward ones come first.
    pub flows: Vec<FlowEnd>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowEnd {
    pub id: u32,
    /// Never `both`.
    pub direction: Direction,
    pub series: EndSeries,
}

impl StreamData {
    /// Fails if the server has no record of a client's connection.
    pub fn of_ends(client: &StreamEnd, server: &StreamEnd) -> Result<Self, String> {
        match client.flows.iter().find(|flow| server.same(flow).is_none()) {
            Some(FlowEnd { id, direction, .. }) => {
                Err(format!("the server has no record of connection {id} ({direction:?})"))
            }
            None => Ok(Self::of_available_ends(client, server)),
        }
    }

    /// Leaves the server's series empty for connections without a server record.
    #[must_use]
    pub fn of_available_ends(client: &StreamEnd, server: &StreamEnd) -> Self {
        let pair = |flow: &FlowEnd| {
            let other = server.same(flow).map(|other| other.series.clone()).unwrap_or_default();
            Flow::of_ends(flow.id, flow.direction, flow.series.clone(), other)
        };
        let mut flows: Vec<Flow> = client.flows.iter().map(pair).collect();
        flows.sort_by_key(|flow| (flow.direction, flow.id));
        Self { flows }
    }
}

impl StreamEnd {
    fn same(&self, other: &FlowEnd) -> Option<&FlowEnd> {
        self.flows.iter().find(|flow| (flow.id, flow.direction) == (other.id, other.direction))
    }
}

impl Flow {
    /// The client is the sender unless the direction is reverse.
    #[must_use]
    pub fn of_ends(id: u32, direction: Direction, client: EndSeries, server: EndSeries) -> Self {
        let (sender, receiver) =
            if direction == Direction::Reverse { (server, client) } else { (client, server) };
        Self { id, direction, sender, receiver }
    }
}

/// One end's record of a connection.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndSeries {
    /// Samples in order, without gaps, including the warm-up.
    #[serde(deserialize_with = "read_without_room")]
    pub intervals: Vec<Interval>,
    /// The socket's options as set by the kernel.
    pub socket: SocketFacts,
    /// How late a rate-limited sender sent its messages.
    #[serde(default, deserialize_with = "crate::histogram::read_packed_if_any")]
    pub lateness: Option<LatencyHistogram>,
    /// Scheduled time that a rate-limited sender skipped after the warm-up. After a stall, the sender catches up by at
    /// most one second.
    pub skipped: Option<Nanos>,
    /// Whether timestamps are relative to the first connection at this end, rather than to the first byte
    /// of each connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_common_start: bool,
}

/// Reads a list and frees its spare capacity, because many short lists would otherwise take twice the memory.
fn read_without_room<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Interval>, D::Error> {
    let mut intervals = Vec::deserialize(from)?;
    intervals.shrink_to_fit();
    Ok(intervals)
}

impl EndSeries {
    pub fn measured(&self) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(|interval| !interval.warmup)
    }

    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.measured().map(|interval| interval.bytes).sum()
    }

    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.measured().map(|interval| interval.end - interval.start).sum()
    }

    #[must_use]
    pub fn rate(&self) -> BitRate {
        BitRate::of(self.bytes(), self.elapsed())
    }

    /// Returns the time from the first start to the last end, or the longest duration if the starts are not comparable.
    #[must_use]
    pub fn time_together<'a>(ends: impl Iterator<Item = &'a Self> + Clone) -> Nanos {
        if !ends.clone().all(|end| end.has_common_start) {
            return ends.map(Self::elapsed).max().unwrap_or_default();
        }
        let start = ends.clone().flat_map(Self::measured).map(|interval| interval.start).min();
        let end = ends.flat_map(Self::measured).map(|interval| interval.end).max();
        start.zip(end).map_or(Nanos(0), |(start, end)| end - start)
    }

    /// Divides all bytes by [`Self::time_together`]. Adding up rates would overrate connections that start late or end
    /// early.
    #[must_use]
    pub fn rate_together<'a>(ends: impl Iterator<Item = &'a Self> + Clone) -> BitRate {
        BitRate::of(ends.clone().map(Self::bytes).sum(), Self::time_together(ends))
    }

    #[must_use]
    pub fn retransmits(&self) -> u64 {
        self.measured().filter_map(|interval| interval.tcp).map(|tcp| u64::from(tcp.retransmits)).sum()
    }

    #[must_use]
    pub fn datagrams(&self) -> Option<DatagramSample> {
        self.measured().filter_map(|interval| interval.datagrams).reduce(|before, after| before.and(&after))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Start, relative to the first connection at this end (see `has_common_start`).
    pub start: Nanos,
    pub end: Nanos,
    /// Payload written or read by this end.
    pub bytes: Bytes,
    pub warmup: bool,
    pub tcp: Option<TcpSample>,
    pub datagrams: Option<DatagramSample>,
}

impl Interval {
    #[must_use]
    pub fn rate(&self) -> BitRate {
        BitRate::of(self.bytes, self.end - self.start)
    }

    /// The result is part of the warm-up only if both intervals are.
    #[must_use]
    pub fn and(&self, after: &Self) -> Self {
        Self {
            start: self.start,
            end: after.end,
            bytes: self.bytes + after.bytes,
            warmup: self.warmup && after.warmup,
            tcp: self.tcp.zip(after.tcp).map(|(before, tcp)| before.and(&tcp)).or(after.tcp),
            datagrams: match (self.datagrams, after.datagrams) {
                (Some(before), Some(datagrams)) => Some(before.and(&datagrams)),
                (before, datagrams) => datagrams.or(before),
            },
        }
    }
}

/// TCP_INFO at the end of an interval (linux/tcp.h, `struct tcp_info`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// Segments retransmitted in the interval.
    pub retransmits: u32,
    /// Congestion window, in bytes (segments times the sending MSS).
    pub cwnd: Bytes,
    pub rtt: Nanos,
    pub rtt_variation: Nanos,
    /// Pacing rate, or `None` if the socket does not pace.
    pub pacing: Option<BitRate>,
    /// Time in the interval in which the peer's window limited the sender.
    pub receive_window_limited: Nanos,
    /// Time in the interval in which the send buffer limited the sender.
    pub send_buffer_limited: Nanos,
    /// Reorderings detected by the sender in the interval (reord_seen). If there are any, a retransmit need not mean a
    /// loss.
    pub reorderings: u32,
    /// Out-of-order segments received in the interval (rcv_ooopack).
    pub out_of_order: u32,
    /// Recent minimum round-trip time; `None` before the first sample.
    pub least_rtt: Option<Nanos>,
    /// Latest delivery rate estimated by the sender.
    pub delivery: Option<BitRate>,
    /// Window offered by this end, in bytes (rcv_wnd); 0 on kernels without this field.
    pub offered_window: Bytes,
    /// Segments sent by this end in the interval, including retransmits and pure acknowledgements (segs_out); 0 if
    /// not recorded.
    #[serde(default)]
    pub segments: u32,
}

impl TcpSample {
    /// Whether all fields are known. Other tools report only some fields and leave the others at zero.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.least_rtt.is_some() || self.delivery.is_some() || self.offered_window.0 > 0 || self.segments > 0
    }

    #[must_use]
    pub fn and(&self, after: &Self) -> Self {
        Self {
            retransmits: self.retransmits.saturating_add(after.retransmits),
            receive_window_limited: self.receive_window_limited + after.receive_window_limited,
            send_buffer_limited: self.send_buffer_limited + after.send_buffer_limited,
            reorderings: self.reorderings.saturating_add(after.reorderings),
            out_of_order: self.out_of_order.saturating_add(after.out_of_order),
            segments: self.segments.saturating_add(after.segments),
            ..*after
        }
    }
}

/// Datagrams in an interval. Only the receiver counts losses, reordering and duplicates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramSample {
    /// Datagrams sent, or received without duplicates.
    pub count: u64,
    /// Change in the number of missing datagrams since the previous interval. It is negative if late datagrams
    /// arrive. The sum over all intervals is the total loss.
    pub lost: i64,
    /// Datagrams received after a datagram with a higher number.
    pub reordered: u64,
    pub duplicates: u64,
    /// Datagrams received with a number that was never sent, or without a number. Strays that are detected only at the
    /// end are included in `count`.
    #[serde(default)]
    pub strays: u64,
    /// Interarrival jitter at the end of the interval (RFC 3550, section 6.4.1).
    pub jitter: Nanos,
}

impl DatagramSample {
    #[must_use]
    pub const fn and(&self, after: &Self) -> Self {
        Self {
            count: self.count.saturating_add(after.count),
            lost: self.lost.saturating_add(after.lost),
            reordered: self.reordered.saturating_add(after.reordered),
            duplicates: self.duplicates.saturating_add(after.duplicates),
            strays: self.strays.saturating_add(after.strays),
            jitter: after.jitter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(id: u32, direction: Direction, bytes: u64) -> FlowEnd {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos::from_secs(1),
            bytes: Bytes(bytes),
            warmup: false,
            tcp: None,
            datagrams: None,
        };
        FlowEnd { id, direction, series: EndSeries { intervals: vec![interval], ..EndSeries::default() } }
    }

    #[test]
    fn client_sends_forward_and_receives_in_reverse() {
        let client = StreamEnd {
            flows: vec![
                end(0, Direction::Reverse, 1),
                end(0, Direction::Forward, 2),
                end(1, Direction::Forward, 3),
            ],
        };
        let server = StreamEnd { flows: vec![end(0, Direction::Forward, 4), end(0, Direction::Reverse, 5)] };
        let data = StreamData::of_available_ends(&client, &server);
        let flows: Vec<_> =
            data.flows.iter().map(|flow| (flow.id, flow.sender.bytes().0, flow.receiver.bytes().0)).collect();
        assert_eq!(
            flows,
            [(0, 2, 4), (1, 3, 0), (0, 5, 1)],
            "the server has no record of the second forward connection"
        );
        let error = StreamData::of_ends(&client, &server).expect_err("no record of one connection");
        assert!(error.contains("no record of connection 1"), "{error}");
    }

    #[test]
    fn merging_intervals_adds_counts_and_keeps_later_state() {
        let half = |start: u64, cwnd: u64, retransmits: u32| Interval {
            start: Nanos::from_millis(start),
            end: Nanos::from_millis(start + 500),
            bytes: Bytes(1000),
            warmup: start == 0,
            tcp: Some(TcpSample { retransmits, cwnd: Bytes(cwnd), ..TcpSample::default() }),
            datagrams: None,
        };
        let whole = half(0, 10, 2).and(&half(500, 20, 3));
        assert_eq!((whole.start, whole.end), (Nanos(0), Nanos::from_millis(1000)));
        assert_eq!((whole.bytes, whole.warmup), (Bytes(2000), false));
        let tcp = whole.tcp.expect("a TCP sample");
        assert_eq!((tcp.retransmits, tcp.cwnd), (5, Bytes(20)));
    }

    #[test]
    fn combined_rate_uses_combined_time() {
        let end = |start: u64, end: u64, bytes: u64| {
            let (start, end) = (Nanos::from_millis(start), Nanos::from_millis(end));
            let interval =
                Interval { start, end, bytes: Bytes(bytes), warmup: false, tcp: None, datagrams: None };
            EndSeries { intervals: vec![interval], has_common_start: true, ..EndSeries::default() }
        };
        for (ends, expected) in [
            (vec![end(0, 1000, 500), end(0, 1000, 500)], 8000.0),
            (vec![end(0, 100, 500), end(0, 1000, 500)], 8000.0),
            (vec![EndSeries::default(), end(0, 1000, 500)], 4000.0),
            // The starts are not comparable.
            (vec![EndSeries::default(), end(500, 1000, 500), end(1500, 2000, 500)], 16000.0),
            // The connections are sequential, so their rates do not add up.
            (vec![end(0, 500, 500), end(500, 1000, 500)], 8000.0),
            (vec![end(500, 1500, 500), end(1500, 2500, 500)], 4000.0),
        ] {
            assert_eq!(EndSeries::rate_together(ends.iter()), BitRate(expected));
        }
    }
}
