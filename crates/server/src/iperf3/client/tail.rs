//! Counts datagrams lost at the end of a stream. iperf3 receivers cannot detect these losses.

use codecs::iperf3::{PlannedStream, Results};
use traffic::StreamOutcome;
use workload::{DatagramSample, Direction, EndSeries, StreamEnd, Transport};

use super::Report;

impl Report {
    #[must_use]
    pub fn settled(&self) -> StreamEnd {
        let mut flows = self.here.measured.flows.clone();
        if self.load.transport == Transport::Udp {
            for (planned, flow) in self.params.streams().iter().zip(&mut flows) {
                let sent = packets(&self.there, planned);
                if let (Direction::Reverse, Some(sent)) = (planned.direction, sent) {
                    let highest = highest(&flow.series);
                    settle_at(&mut flow.series, highest, sent);
                }
            }
        }
        StreamEnd { flows }
    }
}

pub(super) fn settle(
    peer: &mut StreamOutcome,
    there: &Results,
    plan: &[PlannedStream],
    here: &StreamOutcome,
) {
    for (planned, ours) in plan.iter().zip(&here.measured.flows) {
        let id = (ours.id, ours.direction);
        let theirs = peer.measured.flows.iter_mut().find(|flow| (flow.id, flow.direction) == id);
        let (Some(theirs), Some(highest_seen)) = (theirs, packets(there, planned)) else { continue };
        if planned.direction == Direction::Forward {
            settle_at(&mut theirs.series, highest_seen, highest(&ours.series));
        }
    }
}

fn packets(there: &Results, planned: &PlannedStream) -> Option<i64> {
    let stream = there.streams.iter().find(|stream| stream.id == i64::from(planned.id))?;
    Some(stream.packets)
}

fn highest(series: &EndSeries) -> i64 {
    let samples = series.intervals.iter().filter_map(|interval| interval.datagrams);
    let all = samples.reduce(|before, after| before.and(&after)).unwrap_or_default();
    i64::try_from(all.count).unwrap_or(i64::MAX).saturating_add(all.lost)
}

/// Counts datagrams sent after the highest received number as lost. A number above the sent count is invalid.
fn settle_at(series: &mut EndSeries, highest: i64, sent: i64) {
    let missing = sent.saturating_sub(highest);
    let all = series.datagrams().unwrap_or_default();
    // Every datagram that arrived must have been sent, even if the peer reports otherwise.
    let known = i64::try_from(all.count).is_ok_and(|count| count <= sent);
    let not_followed = missing < 0 && all.lost > 0 && known;
    let mut samples = series.intervals.iter_mut().rev().filter_map(|interval| interval.datagrams.as_mut());
    if let Some(DatagramSample { lost, strays, .. }) = samples.next().filter(|_| missing > 0 || not_followed)
    {
        *lost = lost.saturating_add(missing.max(all.lost.saturating_neg()));
        *strays = strays.saturating_add(u64::from(not_followed));
    }
}

#[cfg(test)]
mod tests {
    use codecs::iperf3::StreamResults;
    use units::{Bytes, Nanos};
    use workload::{FlowEnd, Interval, StreamEnd};

    use super::*;

    fn outcome(direction: Direction, seconds: [(u64, i64); 3]) -> StreamOutcome {
        let interval = |(second, (count, lost)): (u64, (u64, i64))| Interval {
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            bytes: Bytes(count),
            warmup: second == 0,
            tcp: None,
            datagrams: Some(DatagramSample { count, lost, ..DatagramSample::default() }),
        };
        let intervals = (0..).zip(seconds).map(interval).collect();
        let series = EndSeries { intervals, ..EndSeries::default() };
        StreamOutcome {
            measured: StreamEnd { flows: vec![FlowEnd { id: 0, direction, series }] },
            ..StreamOutcome::default()
        }
    }

    fn results(packets: i64) -> Results {
        let stream = StreamResults { id: 1, packets, ..StreamResults::default() };
        Results { sender_has_retransmits: -1, streams: vec![stream], ..Results::default() }
    }

    #[test]
    fn counts_loss_at_the_end_of_a_stream() {
        let plan = [PlannedStream { id: 1, direction: Direction::Forward }];
        let sent = outcome(Direction::Forward, [(100, 0), (100, 0), (100, 0)]);
        for (seen, [count, lost], expected, strays) in [
            (300, [97, 3], 3, 0),
            (290, [88, 2], 12, 0),
            (0, [0, 0], 300, 0),
            (400, [100, 0], 0, 0),
            (1 << 17, [297, (1 << 17) - 297], 3, 1),
            (1 << 17, [301, (1 << 17) - 301], (1 << 17) - 301, 0),
            (i64::MAX, [0, i64::MAX], 300, 1),
        ] {
            let mut peer = outcome(Direction::Forward, [(0, 0), (count as u64, lost), (0, 0)]);
            settle(&mut peer, &results(seen), &plan, &sent);
            let found = peer.measured.flows[0].series.datagrams().expect("a UDP flow");
            assert_eq!((found.lost, found.strays), (expected, strays), "the highest number was {seen}");
        }
    }

    #[test]
    fn settled_loss_includes_the_tail_without_changing_iperf3_figures() {
        let here = outcome(Direction::Reverse, [(100, 0), (90, 5), (80, 5)]);
        let params = codecs::iperf3::Params { udp: true, reverse: true, ..Default::default() };
        let report = Report {
            load: params.load(),
            here,
            there: results(300),
            peer: StreamOutcome::default(),
            peer_is_plumb: false,
            disbelieved: Vec::new(),
            params,
            connections: Vec::new(),
            cookie: String::new(),
            control_mss: None,
            started: samples::UnixMillis(0),
            cpu: [0.0; 3],
            server_output: None,
        };
        assert_eq!(report.settled().flows[0].series.datagrams().map(|sample| sample.lost), Some(30));
        // The last interval contains an invalid sequence number.
        let here = outcome(Direction::Reverse, [(100, 0), (90, 5), (80, 1 << 17)]);
        let altered =
            Report { here, ..report.clone() }.settled().flows[0].series.datagrams().expect("a UDP flow");
        assert_eq!((altered.lost, altered.strays), (30, 1));
        assert_eq!(report.here.measured.flows[0].series.datagrams().map(|sample| sample.lost), Some(10));
    }
}
