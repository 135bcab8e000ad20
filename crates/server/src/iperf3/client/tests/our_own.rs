//! Client tests against a plumb server.

use std::sync::mpsc;
use workload::{Mode, StreamSettings};

use super::*;
use crate::{Config, Event, Watcher, serve};

struct Ear(Mutex<mpsc::Sender<SocketAddr>>);

impl Watcher for Ear {
    fn event(&self, event: Event<'_>) {
        if let Event::Listening { addresses, .. } = event {
            self.0.lock().unwrap().send(addresses[0]).unwrap();
        }
    }
}

fn run(load: StreamSettings, options: Options) -> Option<Report> {
    on_loopback(|| {
        let config = Config::new(vec![SocketAddr::from(([127, 0, 0, 1], 0))]);
        let (sender, addresses) = mpsc::channel();
        let (ear, stop) = (Ear(Mutex::new(sender)), Stop::new());
        thread::scope(|scope| {
            let serving = scope.spawn(|| serve(&config, &stop, &ear));
            let server = addresses.recv_timeout(Duration::from_secs(10)).expect("the server listens");
            let spec = ClientSpec { server, options, ..spec(load) };
            let report = run_client(&spec, &Stop::new(), &());
            stop.ask();
            serving.join().unwrap().expect("the server stops cleanly");
            report.expect("the test completes")
        })
    })
}

#[test]
fn reports_full_series_and_both_ends_agree() {
    for direction in [Direction::Forward, Direction::Reverse, Direction::Both] {
        let load = StreamSettings { direction, streams: 2, mode: Mode::Limit, ..tcp() };
        let Some(report) = run(load, Options::default()) else { return };
        assert!(report.peer_is_plumb);
        assert_eq!(report.here.measured.flows.len(), report.peer.measured.flows.len());
        for (here, there) in report.here.measured.flows.iter().zip(&report.peer.measured.flows) {
            assert_eq!((here.id, here.direction), (there.id, there.direction));
            assert!(there.series.intervals.len() >= 2, "{}", there.series.intervals.len());
            assert!(there.series.intervals.iter().all(|interval| interval.tcp.is_some()));
            assert_eq!(here.series.bytes(), there.series.bytes(), "{:?}", here.direction);
        }
        assert_eq!(report.peer.threads.len(), report.here.threads.len());
    }
}

#[test]
fn accepts_fractional_seconds_and_datagrams() {
    in_one_of_five(fractions);
}

fn fractions() {
    let until = Until::Elapsed(Nanos::from_millis(300));
    for direction in [Direction::Forward, Direction::Reverse] {
        let Some(report) = run(StreamSettings { until, direction, ..udp() }, Options::default()) else {
            return;
        };
        let (sent, received) = match direction {
            Direction::Forward => (&report.here, &report.peer),
            _ => (&report.peer, &report.here),
        };
        let lost = received.measured.flows[0].series.datagrams().unwrap().lost;
        assert_eq!(bytes(sent, direction), bytes(received, direction) + lost.unsigned_abs() * 1000);
        let elapsed = sent.measured.flows[0].series.elapsed();
        assert!(elapsed < SECOND, "{elapsed}");
    }
}

#[test]
fn returns_server_output_on_request() {
    let options = Options { server_output: true, ..Options::default() };
    let Some(report) = run(tcp(), options) else { return };
    assert!(matches!(report.server_output, Some(ServerOutput::Text(text)) if text.contains("bits/sec")));
}
