//! Tests the server with stock and invalid clients, on a private loopback.

mod budgets;
mod clients;
mod iperf3;
mod logins;
mod protocols;
mod unknown_protocols;

use std::{
    net::{IpAddr, SocketAddr},
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use plumb_tests::on_loopback;
use traffic::{Error, Stop};

use super::{Client, Config, Event, Refusal, Report, Watcher, serve};

#[derive(Debug)]
enum TestEvent {
    Listening(Vec<SocketAddr>),
    Waits,
    Begins(Client),
    Interval,
    Ends(Client, Box<ClientEnd>),
    Refused(Refusal),
    MoreRefused,
}

#[derive(Debug)]
struct ClientEnd {
    here: Option<traffic::Outcome>,
    results: Option<codecs::iperf3::Results>,
    output: Option<codecs::iperf3::output::Output>,
    failure: Option<String>,
}

struct EventSender(Mutex<mpsc::Sender<TestEvent>>);

impl Watcher for EventSender {
    fn event(&self, event: Event<'_>) {
        let received = match event {
            Event::Listening { addresses, .. } => TestEvent::Listening(addresses.to_vec()),
            Event::Waits { .. } => TestEvent::Waits,
            Event::Begins { client } => TestEvent::Begins(client.clone()),
            Event::Interval { .. } => TestEvent::Interval,
            Event::Ends { client, report } => {
                TestEvent::Ends(client.clone(), Box::new(ClientEnd::of(report)))
            }
            Event::Refused { reason, .. } => TestEvent::Refused(reason),
            Event::MoreRefused { .. } => TestEvent::MoreRefused,
            Event::Trouble { error } => panic!("{error}"),
        };
        let _ = self.0.lock().expect("no panic").send(received);
    }
}

impl ClientEnd {
    fn of(report: &Report) -> Self {
        Self {
            here: report.here.clone(),
            results: report.results.clone(),
            output: report.output.as_deref().cloned(),
            failure: report.failure.as_ref().map(Error::to_string),
        }
    }
}

struct TestServer {
    address: SocketAddr,
    received: mpsc::Receiver<TestEvent>,
    stop: Stop,
}

impl TestServer {
    fn wait<T>(&self, mut wanted: impl FnMut(TestEvent) -> Option<T>) -> T {
        let until = std::time::Instant::now() + Duration::from_secs(30);
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let received = self.received.recv_timeout(left).expect("an event of this kind within 30 s");
            if let Some(found) = wanted(received) {
                return found;
            }
        }
    }

    fn ended(&self) -> (Client, Box<ClientEnd>) {
        self.wait(|received| match received {
            TestEvent::Ends(client, ended) => Some((client, ended)),
            _ => None,
        })
    }

    fn refused(&self) -> Refusal {
        self.wait(|received| match received {
            TestEvent::Refused(reason) => Some(reason),
            _ => None,
        })
    }
}

fn config(ip: &str) -> Config {
    Config::new(vec![SocketAddr::new(ip.parse::<IpAddr>().expect("an address"), 0)])
}

fn with_server(config: &Config, work: impl FnOnce(&TestServer) + Send) {
    on_loopback(|| with_server_here(config, work));
}

fn with_server_here(config: &Config, work: impl FnOnce(&TestServer)) {
    let (sender, received) = mpsc::channel();
    let (sender, stop) = (EventSender(Mutex::new(sender)), Stop::new());
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(config, &stop, &sender));
        let stopper = StopOnDrop(stop.clone());
        let address =
            match received.recv_timeout(Duration::from_secs(10)).expect("the server listens or fails") {
                TestEvent::Listening(addresses) => addresses[0],
                other => panic!("{other:?}"),
            };
        work(&TestServer { address, received, stop: stop.clone() });
        drop(stopper);
        serving.join().expect("no panic").expect("the server stops cleanly");
    });
}

struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.ask();
    }
}
