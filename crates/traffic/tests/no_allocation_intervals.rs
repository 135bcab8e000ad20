//! Tests that a ping-pong allocates little per interval, and nothing on the measuring thread.

mod both_ends;
mod counting;

use units::Nanos;
use workload::{Measurement, PingPongSettings, Schedule, Transport, WorkloadSettings};

/// Tolerance for unrelated allocations, such as a thread on another CPU or a list that grows.
const CHANCE: u64 = 40;
const AN_INTERVAL: u64 = 4;

fn run(schedule: Schedule, duration: Nanos) -> (u64, u64) {
    let interval = Nanos::from_millis(10);
    let load =
        PingPongSettings { transport: Transport::Udp, schedule, interval, ..PingPongSettings::new(duration) };
    let (taken, outcome) = both_ends::run(WorkloadSettings::PingPong(load));
    let Measurement::PingPong(data) = outcome.measured.alone() else { panic!("a ping-pong") };
    (taken, data.intervals.len() as u64)
}

#[test]
fn interval_uses_little_memory() {
    plumb_tests::on_loopback(|| {
        for schedule in [Schedule::Closed, Schedule::Open { period: Nanos(100_000) }] {
            let few = run(schedule, Nanos::from_millis(100));
            let many = run(schedule, Nanos::from_millis(1100));
            assert!(many.1 > few.1 + 20, "{few:?} and then {many:?}");
            let bound = few.0 + CHANCE + (many.1 - few.1) * AN_INTERVAL;
            assert!(many.0 <= bound, "{few:?} and then {many:?}: {schedule:?}");
        }
    });
}
