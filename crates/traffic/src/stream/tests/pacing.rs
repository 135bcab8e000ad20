//! Tests that rates follow the schedule, even on a busy machine.

use units::{BitRate, Bytes, Nanos};
use workload::{Direction, EndSeries, Mode, StreamSettings, Until};

use super::{datagrams, flow, settings, total};

const MESSAGE: u64 = 1000;
/// Message periods in nanoseconds: one shorter and one longer than the minimum time between wake-ups.
const PERIODS: [u64; 2] = [10_000, 500_000];

fn loads(period: u64, until: Until) -> Vec<StreamSettings> {
    let paced = |load| StreamSettings {
        warmup: Nanos(0),
        message: Bytes(MESSAGE),
        rate: Some(BitRate(MESSAGE as f64 * 8e9 / period as f64)),
        ..load
    };
    let mut loads = vec![settings(Direction::Forward, 1, until)];
    loads.extend([Mode::App, Mode::Limit].map(|mode| datagrams(Direction::Forward, 1, until, mode)));
    loads.push(StreamSettings { mode: Mode::Limit, ..loads[0].clone() });
    loads.into_iter().map(paced).collect()
}

fn sender(load: &StreamSettings) -> Option<EndSeries> {
    Some(flow(load, |_| ())?.0.measured.flows.remove(0).series)
}

#[test]
fn sends_everything_due_and_records_lateness() {
    for period in PERIODS {
        for load in loads(period, Until::Elapsed(Nanos::from_millis(500))) {
            // On a busy machine, the thread may be delayed beyond the end and then stop sending.
            assert!((0..5).any(|_| most_is_sent(&load, period)), "{load:?}");
        }
    }
}

/// Checks that no more was sent than was due. Returns true if most of it was sent, or if the sender lacked CPU time.
fn most_is_sent(load: &StreamSettings, period: u64) -> bool {
    let Some(series) = sender(load) else { return true };
    let (sent, elapsed) = (total(&series) / MESSAGE, series.elapsed().0);
    let due = elapsed / period + 1;
    assert!(sent <= due, "{load:?}: {sent} of {due}");
    let lateness = series.lateness.expect("of a rate");
    assert!(lateness.count().abs_diff(sent) <= 1, "{} {sent}", lateness.count());
    sent >= due / 2 || lateness.max().is_some_and(|late| late.0 >= elapsed / 4)
}

#[test]
fn sends_nothing_early() {
    for period in PERIODS {
        let count = 200_000_000 / period;
        for load in loads(period, Until::Sent(Bytes(count * MESSAGE))) {
            let Some(series) = sender(&load) else { return };
            assert_eq!(total(&series), count * MESSAGE);
            let planned = (count - 1) * period;
            assert!(series.elapsed().0 >= planned, "{load:?}: {} of {planned}", series.elapsed());
        }
    }
}

#[test]
fn no_lateness_without_rate() {
    let load = settings(Direction::Forward, 1, Until::Sent(Bytes(1 << 20)));
    let Some(series) = sender(&load) else { return };
    assert_eq!(series.lateness, None);
}
