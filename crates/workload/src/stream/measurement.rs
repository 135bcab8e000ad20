//! What a stream recorded: every connection, at both ends, interval by interval.

use super::settings::Direction;
use crate::{histogram::LatencyHistogram, socket::SocketFacts};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use units::{BitRate, Bytes, Nanos};

/// The connections of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamData {
    /// Every connection, forward ones first.
    pub flows: Vec<Flow>,
}

/// One connection, seen from both ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Its number among those of its direction, from 0.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// The sender's record: counts what the socket took.
    pub sender: EndSeries,
    /// The receiver's record: counts what the application got. This is the rate that counts.
    pub receiver: EndSeries,
}

/// What one end recorded of a stream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// Every connection of this end, forward ones first.
    pub flows: Vec<FlowEnd>,
}

/// One end of one connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FlowEnd {
    /// Its number among those of its direction.
    pub id: u32,
    /// Which way it flows: never `both`.
    pub direction: Direction,
    /// This end's record of it.
    pub series: EndSeries,
}

impl StreamData {
    /// Both ends' records together.
    ///
    /// # Errors
    /// When the server tells nothing of one of the client's connections.
    pub fn of_ends(client: &StreamEnd, server: &StreamEnd) -> Result<Self, String> {
        match client.flows.iter().find(|flow| server.same(flow).is_none()) {
            Some(FlowEnd { id, direction, .. }) => {
                Err(format!("the server does not know connection {id} ({direction:?})"))
            }
            None => Ok(Self::as_far_as_told(client, server)),
        }
    }

    /// The same where the server need not have told of every connection: an end that told nothing has no intervals.
    #[must_use]
    pub fn as_far_as_told(client: &StreamEnd, server: &StreamEnd) -> Self {
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
    /// The other end's record of the same connection.
    fn same(&self, other: &FlowEnd) -> Option<&FlowEnd> {
        self.flows.iter().find(|flow| (flow.id, flow.direction) == (other.id, other.direction))
    }
}

impl Flow {
    /// A connection from the records of both its ends: the client sends, but in reverse it receives.
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
    /// Samples in order of time, without gaps, the warm-up's included.
    #[serde(deserialize_with = "read_without_room")]
    pub intervals: Vec<Interval>,
    /// What the kernel really gave this socket.
    pub socket: SocketFacts,
    /// How late messages left, of a sender with a rate: after the time that its schedule had for them.
    #[serde(default, deserialize_with = "crate::histogram::read_packed_if_any")]
    pub lateness: Option<LatencyHistogram>,
    /// How much of its schedule a sender with a rate gave up after the warm-up: after a stall it makes up for
    /// what fell due in the last second of it, and the time before that is skipped.
    pub skipped: Option<Nanos>,
    /// Whether its times count from when the connections of its end began, and not from its own first byte.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_common_start: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A list that takes no more memory than it needs: of many short ones the room to grow would be half of all.
fn read_without_room<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Interval>, D::Error> {
    let mut intervals = Vec::deserialize(from)?;
    intervals.shrink_to_fit();
    Ok(intervals)
}

impl EndSeries {
    /// The intervals after the warm-up.
    pub fn measured(&self) -> impl Iterator<Item = &Interval> {
        self.intervals.iter().filter(|interval| !interval.warmup)
    }

    /// Bytes after the warm-up.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        self.measured().map(|interval| interval.bytes).sum()
    }

    /// Time after the warm-up.
    #[must_use]
    pub fn elapsed(&self) -> Nanos {
        self.measured().map(|interval| interval.end - interval.start).sum()
    }

    /// The rate after the warm-up.
    #[must_use]
    pub fn rate(&self) -> BitRate {
        BitRate::of(self.bytes(), self.elapsed())
    }

    /// The time of several ends together after the warm-up: from when the first began to when the last ended, or where
    /// nobody tells when each began, the longest of their times.
    #[must_use]
    pub fn time_together<'a>(ends: impl Iterator<Item = &'a Self> + Clone) -> Nanos {
        if !ends.clone().all(|end| end.has_common_start) {
            return ends.map(Self::elapsed).max().unwrap_or_default();
        }
        let start = ends.clone().flat_map(Self::measured).map(|interval| interval.start).min();
        let end = ends.flat_map(Self::measured).map(|interval| interval.end).max();
        start.zip(end).map_or(Nanos(0), |(start, end)| end - start)
    }

    /// The rate of several ends together after the warm-up: all their bytes over the time of all, so that a
    /// connection that began late or ended early does not count as if it had gone on.
    #[must_use]
    pub fn rate_together<'a>(ends: impl Iterator<Item = &'a Self> + Clone) -> BitRate {
        BitRate::of(ends.clone().map(Self::bytes).sum(), Self::time_together(ends))
    }

    /// Segments sent again after the warm-up.
    #[must_use]
    pub fn retransmits(&self) -> u64 {
        self.measured().filter_map(|interval| interval.tcp).map(|tcp| u64::from(tcp.retransmits)).sum()
    }

    /// Datagrams after the warm-up, of UDP: counts added up, the jitter that of the last interval.
    #[must_use]
    pub fn datagrams(&self) -> Option<DatagramSample> {
        self.measured().filter_map(|interval| interval.datagrams).reduce(|before, after| before.and(&after))
    }
}

/// A sample of one end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// From this time, since the connections of this end began (see `has_common_start`).
    pub start: Nanos,
    /// To this time.
    pub end: Nanos,
    /// Payload that this end wrote or read in it.
    pub bytes: Bytes,
    /// Whether it lies in the warm-up.
    pub warmup: bool,
    /// TCP_INFO at its end, of TCP.
    pub tcp: Option<TcpSample>,
    /// The datagrams of it, of UDP.
    pub datagrams: Option<DatagramSample>,
}

impl Interval {
    #[must_use]
    pub fn rate(&self) -> BitRate {
        BitRate::of(self.bytes, self.end - self.start)
    }

    /// This one and the one that followed it, as one; in the warm-up only if both were.
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

/// What TCP_INFO said at the end of an interval (linux/tcp.h, `struct tcp_info`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpSample {
    /// Segments sent again in the interval.
    pub retransmits: u32,
    /// Congestion window, in bytes (segments times the sending MSS).
    pub cwnd: Bytes,
    /// Smoothed round-trip time.
    pub rtt: Nanos,
    pub rtt_variation: Nanos,
    /// The rate at which the socket paces; `None` when it does not.
    pub pacing: Option<BitRate>,
    /// Time in the interval for which the peer's window held the sender back.
    pub receive_window_limited: Nanos,
    /// Time in the interval for which the send buffer held the sender back.
    pub send_buffer_limited: Nanos,
    /// Reorderings that the sender saw in the interval (reord_seen): then a retransmit may not mean a loss.
    pub reorderings: u32,
    /// Segments that came out of order in the interval, at the receiver (rcv_ooopack).
    pub out_of_order: u32,
    /// Least round-trip time of the recent past; `None` before the first.
    pub least_rtt: Option<Nanos>,
    /// Latest rate of delivery that the sender estimated.
    pub delivery: Option<BitRate>,
    /// The window that this end offers, in bytes (rcv_wnd); 0 on kernels that do not tell.
    pub offered_window: Bytes,
    /// Segments that this end sent in the interval, those sent again and bare acknowledgements among them (segs_out);
    /// 0 where nobody recorded it.
    #[serde(default)]
    pub segments: u32,
}

impl TcpSample {
    /// Whether a kernel's whole TCP_INFO was read. What another tool tells of it is a part, and a zero elsewhere is none.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.least_rtt.is_some() || self.delivery.is_some() || self.offered_window.0 > 0 || self.segments > 0
    }

    /// This one and the one that followed it, as one: counts and times added up, states those of the end.
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

/// The datagrams of an interval. Lost, reordered and duplicate ones are the receiver's alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DatagramSample {
    /// Sent, or received (duplicates not counted).
    pub count: u64,
    /// Missing so far, as a difference to the interval before: a late one makes it less. Together they are
    /// what never came.
    pub lost: i64,
    /// Came after one with a higher number.
    pub reordered: u64,
    /// Came once more.
    pub duplicates: u64,
    /// Came with a number that was never sent, or with none. Only one of which that was found at the end is in `count`
    /// too.
    #[serde(default)]
    pub strays: u64,
    /// Interarrival jitter at its end (RFC 3550, section 6.4.1).
    pub jitter: Nanos,
}

impl DatagramSample {
    /// This one and the one that followed it, as one.
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
    fn the_client_sends_forward_and_receives_in_reverse() {
        let client = StreamEnd {
            flows: vec![
                end(0, Direction::Reverse, 1),
                end(0, Direction::Forward, 2),
                end(1, Direction::Forward, 3),
            ],
        };
        let server = StreamEnd { flows: vec![end(0, Direction::Forward, 4), end(0, Direction::Reverse, 5)] };
        let data = StreamData::as_far_as_told(&client, &server);
        let seen: Vec<_> =
            data.flows.iter().map(|flow| (flow.id, flow.sender.bytes().0, flow.receiver.bytes().0)).collect();
        assert_eq!(
            seen,
            [(0, 2, 4), (1, 3, 0), (0, 5, 1)],
            "of the second forward one the server told nothing"
        );
        let error = StreamData::of_ends(&client, &server).expect_err("one is not known");
        assert!(error.contains("does not know connection 1"), "{error}");
    }

    #[test]
    fn two_intervals_make_one_whose_counts_add_up_and_whose_state_is_the_later_one() {
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
        let tcp = whole.tcp.expect("of TCP");
        assert_eq!((tcp.retransmits, tcp.cwnd), (5, Bytes(20)));
    }

    #[test]
    fn a_connection_that_ran_for_less_does_not_count_as_if_it_had_run_for_all_of_the_time() {
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
            // Nobody knows when each of them began.
            (vec![EndSeries::default(), end(500, 1000, 500), end(1500, 2000, 500)], 16000.0),
            // One after the other: what each got was not to be had at once.
            (vec![end(0, 500, 500), end(500, 1000, 500)], 8000.0),
            (vec![end(500, 1500, 500), end(1500, 2500, 500)], 4000.0),
        ] {
            assert_eq!(EndSeries::rate_together(ends.iter()), BitRate(expected));
        }
    }
}
