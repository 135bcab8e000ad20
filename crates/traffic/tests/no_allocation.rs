//! Tests that sending more messages does not allocate more memory.

mod both_ends;
mod counting;

use units::{BitRate, Bytes, Nanos};
use workload::{Direction, Mode, StreamSettings, Transport, Until, WorkloadSettings};

/// Tolerance for unrelated allocations, such as another reported interval or a longer thread name.
const CHANCE: u64 = 40;

fn run(load: &StreamSettings, messages: u64) -> (u64, u64) {
    let message = load.message.0;
    let load = StreamSettings { until: Until::Sent(Bytes(messages * message)), ..load.clone() };
    let (taken, outcome) = both_ends::run(WorkloadSettings::Stream(load));
    (taken, outcome.measured.flows()[0].series.bytes().0 / message)
}

fn loads() -> Vec<StreamSettings> {
    let mut loads = Vec::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        for mode in [Mode::App, Mode::Limit] {
            for rate in [None, Some(BitRate(400e6))] {
                loads.push(StreamSettings {
                    transport,
                    mode,
                    direction: Direction::Forward,
                    message: Bytes(1000),
                    rate,
                    interval: Nanos::from_secs(60),
                    ..StreamSettings::new(Until::Sent(Bytes(1)))
                });
            }
        }
    }
    loads
}

#[test]
fn ten_times_as_many_messages_use_the_same_memory() {
    plumb_tests::on_loopback(|| {
        for load in loads() {
            let few = run(&load, 1000);
            let many = run(&load, 10_000);
            assert_eq!((few.1, many.1), (1000, 10_000), "{load:?}");
            assert!(few.0 > 0 && many.0 <= few.0 + CHANCE, "{} and then {}: {load:?}", few.0, many.0);
        }
    });
}
