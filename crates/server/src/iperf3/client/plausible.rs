//! Checks the server's results against local measurements. Impossible claims about sent data are removed. Those about
//! received data fail the test, because only the server counts received data.

use codecs::iperf3::{Failure, PlannedStream, Results};
use traffic::{Error, Result, StreamOutcome};
use units::Bytes;
use workload::{Direction, EndSeries};

/// The maximum number of bytes in flight. No socket has larger buffers.
const UNDER_WAY: u64 = 4 << 30;
/// The maximum plausible rate in bytes per second, far above the speed of any device.
const FASTEST: u64 = 10_000_000_000_000 / 8;
/// The maximum ratio of received to sent datagrams, since the network may duplicate datagrams.
const COPIES: u64 = 2;
/// The plausible CPU usage, in percent of one CPU. Linux supports up to 8192 CPUs. Rounding to ticks can make a value
/// slightly negative.
const CPU: std::ops::RangeInclusive<f64> = -1.0..=100.0 * 8192.0;
/// A server may measure for at most this many seconds longer than its client.
const LONGER: f64 = 600.0;

struct Claim {
    bytes: i128,
    packets: i64,
    seconds: f64,
}

/// Describes each impossible value of a stream or of the CPU usage. Fails if the server claims more received bytes
/// than were sent, or more streams than the test has.
pub(super) fn check_results(
    there: &mut Results,
    plan: &[PlannedStream],
    here: &StreamOutcome,
) -> Result<Vec<String>> {
    if there.streams.len() > plan.len() {
        let claim = format!("it reports {} streams, but the test has {}", there.streams.len(), plan.len());
        return Err(Error::Iperf3(Failure::Impossible { claim }));
    }
    let mut disbelieved = check_cpu(there);
    for (planned, ours) in plan.iter().zip(&here.measured.flows) {
        let its = |id: i64| id == i64::from(planned.id);
        let Some(reported) = there.streams.iter().find(|stream| its(stream.id)) else { continue };
        let claim = Claim {
            bytes: reported.bytes.into(),
            packets: reported.packets,
            seconds: reported.seconds().unwrap_or(0.0),
        };
        if let Some(claim) = claim.is_impossible(planned.direction, &ours.series) {
            reject_receiver_claim(planned.direction, &claim)?;
            there.streams.retain(|stream| !its(stream.id));
            disbelieved.push(claim);
        }
    }
    Ok(disbelieved)
}

fn check_cpu(there: &mut Results) -> Vec<String> {
    let all = [&mut there.cpu_util_total, &mut there.cpu_util_user, &mut there.cpu_util_system];
    let impossible = |cpu: &&mut f64| !CPU.contains(*cpu);
    let check = |cpu: &mut f64| format!("it reports {:.3e} % CPU", std::mem::take(cpu));
    all.into_iter().filter(impossible).map(check).collect()
}

pub(super) fn check_record(peer: &mut StreamOutcome, here: &StreamOutcome) -> Result<Vec<String>> {
    let mut disbelieved = Vec::new();
    for theirs in &mut peer.measured.flows {
        let id = (theirs.id, theirs.direction);
        let ours = here.measured.flows.iter().find(|flow| (flow.id, flow.direction) == id);
        let Some(ours) = ours else { continue };
        let seconds = theirs.series.intervals.last().map_or(0.0, |last| last.end.seconds());
        let claim = Claim { bytes: all(&theirs.series).into(), packets: 0, seconds };
        if let Some(claim) = claim.is_impossible(theirs.direction, &ours.series) {
            reject_receiver_claim(theirs.direction, &claim)?;
            theirs.series = EndSeries::default();
            disbelieved.push(claim);
        }
    }
    Ok(disbelieved)
}

fn reject_receiver_claim(direction: Direction, claim: &str) -> Result<()> {
    match direction {
        Direction::Reverse => Ok(()),
        _ => Err(Error::Iperf3(Failure::Impossible { claim: claim.to_owned() })),
    }
}

impl Claim {
    fn is_impossible(&self, direction: Direction, ours: &EndSeries) -> Option<String> {
        let lasted = ours.intervals.last().map_or(0.0, |last| last.end.seconds());
        let (known, udp) = (all(ours), ours.datagrams().is_some());
        let verb = if direction == Direction::Reverse { "sent" } else { "received" };
        if !(0.0..=lasted + LONGER).contains(&self.seconds) {
            return Some(format!("it {verb} for {} s in a test of {lasted:.1} s", self.seconds));
        }
        if self.packets < 0 {
            return Some(format!("it {verb} {} datagrams", self.packets));
        }
        let Ok(bytes) = u64::try_from(self.bytes) else {
            return Some(format!("it {verb} {} bytes", self.bytes));
        };
        let most = match (direction, udp) {
            (Direction::Reverse, false) => known.saturating_add(UNDER_WAY),
            (Direction::Reverse, true) => ((lasted + 1.0) * FASTEST as f64) as u64,
            (_, false) => known,
            (_, true) => known.saturating_mul(COPIES),
        };
        let of = if direction == Direction::Reverse { "arrived" } else { "were sent" };
        (bytes > most).then(|| format!("it {verb} {}, but {} {of}", Bytes(bytes), Bytes(known)))
    }
}

/// Includes the warm-up, because the two ends may disagree about when it ended.
fn all(series: &EndSeries) -> u64 {
    series.intervals.iter().fold(0, |sum, interval| sum.saturating_add(interval.bytes.0))
}

#[cfg(test)]
mod tests {
    use codecs::iperf3::StreamResults;
    use units::Nanos;
    use workload::{DatagramSample, FlowEnd, Interval, StreamEnd};

    use super::*;

    fn here(direction: Direction, udp: bool) -> StreamOutcome {
        let interval = Interval {
            start: Nanos(0),
            end: Nanos::from_secs(1),
            bytes: Bytes(1_000_000),
            warmup: false,
            tcp: None,
            datagrams: udp.then(|| DatagramSample { count: 1000, ..DatagramSample::default() }),
        };
        let series = EndSeries { intervals: vec![interval], ..EndSeries::default() };
        let flows = vec![FlowEnd { id: 0, direction, series }];
        StreamOutcome { measured: StreamEnd { flows }, ..StreamOutcome::default() }
    }

    fn results(bytes: i64, packets: i64, seconds: f64) -> Results {
        let stream =
            StreamResults { id: 1, bytes, packets, end_time: Some(seconds), ..StreamResults::default() };
        Results { sender_has_retransmits: -1, streams: vec![stream], ..Results::default() }
    }

    #[test]
    fn impossible_received_data_fails_the_test_and_impossible_sent_data_is_removed() {
        let (max, fine) = (i64::MAX, 1_000_000);
        for (udp, bytes, packets, seconds, impossible_received, impossible_sent) in [
            (false, fine, 0, 1.0, false, false),
            (false, 0, 0, 0.0, false, false),
            (false, fine + 1, 0, 1.0, true, false),
            (false, max, 0, 1.0, true, true),
            (false, -1, 0, 1.0, true, true),
            (false, i64::MIN, 0, 1.0, true, true),
            (false, fine, 0, -1.0, true, true),
            (false, fine, 0, f64::NAN, true, true),
            (false, fine, 0, 1e9, true, true),
            (true, 2 * fine, 2000, 1.0, false, false),
            (true, 2 * fine + 1, 2000, 1.0, true, false),
            (true, max, 1000, 1.0, true, true),
            (true, fine, -1, 1.0, true, true),
        ] {
            for (direction, impossible) in
                [(Direction::Forward, impossible_received), (Direction::Reverse, impossible_sent)]
            {
                let plan = [PlannedStream { id: 1, direction }];
                let mut there = results(bytes, packets, seconds);
                let checked = check_results(&mut there, &plan, &here(direction, udp));
                let case = format!("{direction:?} {bytes} {packets} {seconds}: {checked:?}");
                match direction {
                    Direction::Forward => assert_eq!(checked.is_err(), impossible, "{case}"),
                    _ => {
                        assert_eq!(
                            checked.expect("the client measured the received data").len(),
                            usize::from(impossible),
                            "{case}"
                        );
                        assert_eq!(there.streams.is_empty(), impossible, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn impossible_cpu_figures_are_removed_and_described() {
        let huge = 1e308;
        for (cpu, impossible) in [
            ([0.0, 0.0, 0.0], 0),
            ([1900.0, -0.01, 1900.0], 0),
            ([huge, 0.0, 0.0], 1),
            ([50.0, huge, -huge], 2),
            ([f64::NAN, f64::INFINITY, -50.0], 3),
        ] {
            for direction in [Direction::Forward, Direction::Reverse] {
                let mut there = results(1_000_000, 0, 1.0);
                [there.cpu_util_total, there.cpu_util_user, there.cpu_util_system] = cpu;
                let plan = [PlannedStream { id: 1, direction }];
                let found =
                    check_results(&mut there, &plan, &here(direction, false)).expect("bytes are possible");
                assert_eq!(found.len(), impossible, "{cpu:?}: {found:?}");
                let left = [there.cpu_util_total, there.cpu_util_user, there.cpu_util_system];
                assert!(left.iter().all(|cpu| CPU.contains(cpu)), "{left:?}");
            }
        }
    }

    #[test]
    fn refuses_more_streams_than_the_test_has() {
        let plan = [PlannedStream { id: 1, direction: Direction::Forward }];
        for (ids, refused) in [(vec![1], false), (vec![1, 1], true), ((0..2000).collect(), true)] {
            let mut there = results(1_000_000, 0, 1.0);
            let one = there.streams[0];
            there.streams = ids.iter().map(|id| StreamResults { id: *id, ..one }).collect();
            let checked = check_results(&mut there, &plan, &here(Direction::Forward, false));
            assert_eq!(checked.is_err(), refused, "{} streams", ids.len());
        }
    }

    #[test]
    fn checks_records_of_plumb_servers_too() {
        for (factor, impossible) in [(1, false), (1 << 40, true)] {
            let mut peer = here(Direction::Reverse, false);
            peer.measured.flows[0].series.intervals[0].bytes = Bytes(1000 * factor);
            let removed = check_record(&mut peer, &here(Direction::Reverse, false))
                .expect("the client measured the received data");
            assert_eq!(removed.len(), usize::from(impossible), "{removed:?}");
            assert_eq!(peer.measured.flows[0].series.intervals.is_empty(), impossible);
        }
        let mut peer = here(Direction::Forward, false);
        peer.measured.flows[0].series.intervals[0].bytes = Bytes(1_000_001);
        let error = check_record(&mut peer, &here(Direction::Forward, false)).expect_err("never sent");
        assert!(error.to_string().contains("results are impossible"), "{error}");
    }
}
