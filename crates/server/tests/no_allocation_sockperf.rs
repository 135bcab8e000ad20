//! Checks that a run five times as long causes no additional allocations.

mod counting;

use std::{net::SocketAddr, sync::OnceLock, thread, time::Duration};

use server::{
    Config, Event, Watcher, serve,
    sockperf::{ClientSpec, run_client},
};
use traffic::Stop;
use units::{Bytes, Nanos};
use workload::{PingPongSettings, Schedule, Transport};

/// Tolerance for the server's periodic work, ten times per second.
const CHANCE: u64 = 60;

#[derive(Default)]
struct Place(OnceLock<SocketAddr>);

impl Watcher for Place {
    fn event(&self, event: Event<'_>) {
        if let Event::Listening { addresses, .. } = event {
            self.0.get_or_init(|| addresses[0]);
        }
    }
}

fn run(load: &PingPongSettings, duration: Nanos) -> (u64, u64) {
    let load = PingPongSettings { duration, ..load.clone() };
    let (stop, place) = (Stop::new(), Place::default());
    let config = Config::new(vec![SocketAddr::from(([127, 0, 0, 1], 0))]);
    thread::scope(|scope| {
        let server = scope.spawn(|| serve(&config, &stop, &place));
        let server_at = loop {
            match place.0.get() {
                Some(address) => break *address,
                None => thread::sleep(Duration::from_millis(1)),
            }
        };
        let before = counting::taken();
        let spec = ClientSpec { server: server_at, bind: None, load, cpus: None };
        let outcome = run_client(&spec, &Stop::new(), &());
        let taken = counting::taken() - before;
        stop.ask();
        server.join().expect("no panic").expect("the server listens");
        let data = outcome.expect("the exchange completes").measured.alone();
        (taken, data.round_trips.count() + data.lost.expect("we count them"))
    })
}

#[test]
fn more_messages_need_no_more_allocations() {
    plumb_tests::on_loopback(|| {
        for transport in [Transport::Tcp, Transport::Udp] {
            for schedule in [Schedule::Closed, Schedule::Open { period: Nanos(200_000) }] {
                let (message, interval) = (Bytes(200), Nanos::from_secs(60));
                let load = PingPongSettings {
                    transport,
                    schedule,
                    message,
                    interval,
                    ..PingPongSettings::new(Nanos(1))
                };
                let few = run(&load, Nanos::from_millis(20));
                let many = run(&load, Nanos::from_secs(1));
                assert!(many.1 > few.1 + 1000, "{few:?}, {many:?}: {load:?}");
                assert!(few.0 > 0 && many.0 <= few.0 + CHANCE, "{few:?}, {many:?}: {load:?}");
            }
        }
    });
}
