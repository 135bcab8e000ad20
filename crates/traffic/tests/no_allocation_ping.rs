//! Tests that round trips allocate nothing: a much longer run must not allocate more than a short one.

mod both_ends;
mod counting;

use units::Nanos;
use workload::{Measurement, PingPongSettings, Schedule, Transport, Waiting, WorkloadSettings};

/// Tolerance for unrelated allocations, such as a thread on another CPU or another block of a channel.
const CHANCE: u64 = 40;
const MORE: u64 = 2_000;
/// Durations in seconds, tried in this order. On a busy machine, a spinning thread needs a time slice per message.
const LONG: [u64; 5] = [1, 2, 4, 16, 64];

fn run(load: &PingPongSettings, duration: Nanos) -> (u64, u64) {
    let (taken, outcome) =
        both_ends::run(WorkloadSettings::PingPong(PingPongSettings { duration, ..load.clone() }));
    let Measurement::PingPong(data) = outcome.measured.alone() else { panic!("a ping-pong") };
    (taken, data.round_trips.count())
}

fn loads() -> Vec<PingPongSettings> {
    let mut loads = Vec::new();
    for transport in [Transport::Tcp, Transport::Udp] {
        for waiting in [Waiting::Block, Waiting::Spin] {
            for schedule in [Schedule::Closed, Schedule::Open { period: Nanos(100_000) }] {
                loads.push(PingPongSettings {
                    transport,
                    waiting,
                    schedule,
                    interval: Nanos::from_secs(60),
                    ..PingPongSettings::new(Nanos(0))
                });
            }
        }
    }
    loads
}

#[test]
fn thousands_of_further_messages_use_the_same_memory() {
    plumb_tests::on_loopback(|| {
        for load in loads() {
            // This run is short, so that the long run exchanges many more messages even if threads wake up ten times as
            // slowly.
            let (taken, few) = run(&load, Nanos::from_millis(20));
            let is_fine = |taken_by_many, many| taken_by_many <= taken + CHANCE && many > few + MORE;
            let (mut taken_by_many, mut many) = (0, 0);
            for seconds in LONG {
                // Waiting for the other end allocates once per poll, regardless of the number of messages.
                (taken_by_many, many) = run(&load, Nanos::from_secs(seconds));
                if is_fine(taken_by_many, many) {
                    break;
                }
            }
            assert!(many > few + MORE, "{few} and then {many}: {load:?}");
            let bound = taken + CHANCE;
            assert!(taken > 0 && taken_by_many <= bound, "{taken} and then {taken_by_many}: {load:?}");
        }
    });
}
