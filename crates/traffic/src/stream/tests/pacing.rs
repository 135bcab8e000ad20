//! A rate is kept by the schedule, whatever the machine does meanwhile.

use load::{Direction, Mode, StreamLoad, Until};
use samples::EndSeries;
use units::{BitRate, Bytes, Nanos};

use super::{datagrams, flow, settings, total};

const MESSAGE: u64 = 1000;
/// From one message to the next, in ns: faster and slower than a thread wakes up.
const PERIODS: [u64; 2] = [10_000, 500_000];

fn loads(period: u64, until: Until) -> Vec<StreamLoad> {
    let paced = |load| StreamLoad {
        warmup: Nanos(0),
        message: Bytes(MESSAGE),
        rate: Some(BitRate(MESSAGE as f64 * 8e9 / period as f64)),
        ..load
    };
    let mut loads = vec![settings(Direction::Forward, 1, until)];
    loads.extend([Mode::App, Mode::Limit].map(|mode| datagrams(Direction::Forward, 1, until, mode)));
    loads.push(StreamLoad { mode: Mode::Limit, ..loads[0].clone() });
    loads.into_iter().map(paced).collect()
}

fn sender(load: &StreamLoad) -> Option<EndSeries> {
    Some(flow(load, |_| ())?.0.flows.remove(0).series)
}

#[test]
fn as_much_is_sent_as_was_due_and_every_message_has_its_lateness() {
    for period in PERIODS {
        for load in loads(period, Until::Elapsed(Nanos::from_millis(500))) {
            let Some(series) = sender(&load) else { return };
            let (sent, elapsed) = (total(&series) / MESSAGE, series.elapsed().0);
            let due = elapsed / period + 1;
            // A machine with other work may keep the thread waiting over the end, when it stops sending.
            assert!(sent <= due && sent >= due / 2, "{load:?}: {sent} of {due}");
            let lateness = series.lateness.expect("of a rate");
            assert!(lateness.count().abs_diff(sent) <= 1, "{} {sent}", lateness.count());
        }
    }
}

#[test]
fn nothing_is_sent_before_its_time() {
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
fn without_a_rate_there_is_no_lateness() {
    let load = settings(Direction::Forward, 1, Until::Sent(Bytes(1 << 20)));
    let Some(series) = sender(&load) else { return };
    assert_eq!(series.lateness, None);
}
