//! Histograms of intervals.

use std::{cell::RefCell, thread};

use plumb_tests::{in_one_of_five, on_loopback};
use units::Nanos;
use workload::{LatencyHistogram, PingPongInterval, PingPongSettings, Schedule, Transport};

use super::{client_spec, data, server_spec, settings};
use crate::{
    Observer, Stop,
    ping_pong::{Server, run_client},
};

#[test]
fn intervals_have_every_round_trip_once_and_are_reported_as_they_end() {
    in_one_of_five(intervals_hold_everything);
}

fn intervals_hold_everything() {
    #[derive(Default)]
    struct Reported(RefCell<Vec<PingPongInterval>>);
    impl Observer for Reported {
        fn ping_interval(&self, interval: &PingPongInterval) {
            self.0.borrow_mut().push(interval.clone());
        }
    }
    for schedule in [Schedule::Closed, Schedule::Open { period: Nanos::from_millis(1) }] {
        let load =
            PingPongSettings { interval: Nanos::from_millis(30), schedule, ..settings(Transport::Udp, 64) };
        let Some((client, reported)) = on_loopback(|| {
            let (stop, reported) = (Stop::new(), Reported::default());
            let server = Server::open(server_spec(&load)).expect("loopback");
            let client = client_spec(&load, server.port());
            thread::scope(|scope| {
                scope.spawn(|| server.run(&stop, &()));
                let client = run_client(&client, &stop, &reported).expect("runs");
                (client, reported.0.into_inner())
            })
        }) else {
            return;
        };
        let data = data(&client);
        assert_eq!(data.intervals, reported);
        let (warm, measured): (Vec<_>, Vec<_>) = data.intervals.iter().partition(|i| i.warmup);
        assert!((1..=2).contains(&warm.len()) && (3..=8).contains(&measured.len()), "{:?}", data.intervals);
        assert!(data.intervals.windows(2).all(|pair| pair[0].end == pair[1].start));
        assert_eq!(warm.last().expect("one").end, Nanos::from_millis(50));
        let mut all = LatencyHistogram::new();
        measured.iter().for_each(|interval| all.merge(&interval.round_trips));
        let whole = data.open_loop.as_ref().map_or(&data.round_trips, |open| &open.since_intended);
        assert_eq!(&all, whole);
    }
}
