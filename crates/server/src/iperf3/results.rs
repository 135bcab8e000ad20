//! Converts local measurements to the format of iperf3's results exchange.

use codecs::iperf3::{PlannedStream, Results, StreamResults};
use traffic::StreamOutcome;
use workload::{DatagramSample, Direction, EndSeries, Interval};

pub(super) fn results(
    outcome: &StreamOutcome,
    plan: &[PlannedStream],
    sent: Direction,
    [cpu_util_total, cpu_util_user, cpu_util_system]: [f64; 3],
) -> Results {
    let ends = || plan.iter().zip(&outcome.measured.flows);
    let sends = |planned: &PlannedStream| planned.direction == sent;
    let congestion = outcome.measured.flows.iter().find_map(|flow| flow.series.socket.congestion.clone());
    let sender_has_retransmits = match (ends().any(|(planned, _)| sends(planned)), &congestion) {
        (false, _) => -1,
        (true, Some(_)) => 1,
        (true, None) => 0,
    };
    Results {
        cpu_util_total,
        cpu_util_user,
        cpu_util_system,
        sender_has_retransmits,
        congestion_used: congestion,
        server_output_text: None,
        server_output_json: None,
        streams: ends().map(|(planned, flow)| stream(planned.id, sends(planned), &flow.series)).collect(),
        plumb: None,
    }
}

fn stream(id: u32, sends: bool, series: &EndSeries) -> StreamResults {
    let tcp = series.intervals.iter().any(|interval| interval.tcp.is_some());
    let all = datagrams(series.intervals.iter());
    let omitted = datagrams(series.intervals.iter().filter(|interval| interval.warmup));
    StreamResults {
        id: i64::from(id),
        bytes: whole(series.bytes().0),
        retransmits: if sends && tcp { whole(series.retransmits()) } else { -1 },
        jitter: if sends { 0.0 } else { all.jitter.0 as f64 / 1e9 },
        errors: all.lost,
        omitted_errors: Some(omitted.lost),
        packets: highest(&all),
        omitted_packets: Some(highest(&omitted)),
        start_time: Some(0.0),
        end_time: Some(series.elapsed().0 as f64 / 1e9),
    }
}

fn datagrams<'a>(intervals: impl Iterator<Item = &'a Interval>) -> DatagramSample {
    let samples = intervals.filter_map(|interval| interval.datagrams);
    samples.reduce(|before, after| before.and(&after)).unwrap_or_default()
}

fn highest(sample: &DatagramSample) -> i64 {
    whole(sample.count).saturating_add(sample.lost).max(0)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Nanos};
    use workload::{FlowEnd, StreamEnd, TcpSample};

    use super::*;

    fn interval(second: u64, warmup: bool, tcp: Option<u32>, datagrams: Option<(u64, i64)>) -> Interval {
        Interval {
            start: Nanos::from_secs(second),
            end: Nanos::from_secs(second + 1),
            bytes: Bytes(1000),
            warmup,
            tcp: tcp.map(|retransmits| TcpSample { retransmits, ..TcpSample::default() }),
            datagrams: datagrams.map(|(count, lost)| DatagramSample {
                count,
                lost,
                jitter: Nanos(1_500_000),
                ..DatagramSample::default()
            }),
        }
    }

    fn results_of(direction: Direction, intervals: Vec<Interval>) -> StreamResults {
        let series = EndSeries { intervals, ..EndSeries::default() };
        let flows = vec![FlowEnd { id: 0, direction, series }];
        let outcome = StreamOutcome { measured: StreamEnd { flows }, ..StreamOutcome::default() };
        let plan = [PlannedStream { id: 3, direction }];
        results(&outcome, &plan, Direction::Reverse, [1.0, 0.5, 0.5]).streams[0]
    }

    #[test]
    fn warm_up_counts_for_datagram_numbers_only() {
        let lossy = vec![interval(0, true, None, Some((90, 10))), interval(1, false, None, Some((97, 3)))];
        let found = results_of(Direction::Forward, lossy);
        assert_eq!((found.id, found.bytes, found.retransmits), (3, 1000, -1));
        assert_eq!((found.packets, found.omitted_packets), (200, Some(100)));
        assert_eq!((found.errors, found.omitted_errors), (13, Some(10)));
        assert_eq!((found.jitter, found.seconds()), (0.0015, Some(1.0)));
    }

    #[test]
    fn only_tcp_senders_report_retransmits() {
        let tcp = || vec![interval(0, false, Some(4), None), interval(1, false, Some(3), None)];
        for (direction, expected) in [(Direction::Reverse, 7), (Direction::Forward, -1)] {
            assert_eq!(results_of(direction, tcp()).retransmits, expected);
        }
        assert_eq!(
            results_of(Direction::Reverse, vec![interval(0, false, None, Some((5, 0)))]).retransmits,
            -1
        );
    }
}
