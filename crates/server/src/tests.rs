//! The door against stock clients and against strangers, on a loopback of its own.

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

/// What a door told.
#[derive(Debug)]
enum Heard {
    Listening(Vec<SocketAddr>),
    Waits,
    Begins(Client),
    Interval,
    Ends(Client, Box<Ended>),
    Refused(Refusal),
    MoreRefused,
}

/// A report whose parts can be kept.
#[derive(Debug)]
struct Ended {
    here: Option<traffic::Outcome>,
    results: Option<codecs::iperf3::Results>,
    output: Option<codecs::iperf3::output::Output>,
    failure: Option<String>,
}

/// Hears of everything.
struct Ear(Mutex<mpsc::Sender<Heard>>);

impl Watcher for Ear {
    fn event(&self, event: Event<'_>) {
        let heard = match event {
            Event::Listening { addresses, .. } => Heard::Listening(addresses.to_vec()),
            Event::Waits { .. } => Heard::Waits,
            Event::Begins { client } => Heard::Begins(client.clone()),
            Event::Interval { .. } => Heard::Interval,
            Event::Ends { client, report } => Heard::Ends(client.clone(), Box::new(Ended::of(report))),
            Event::Refused { because, .. } => Heard::Refused(because),
            Event::MoreRefused { .. } => Heard::MoreRefused,
            Event::Trouble { error } => panic!("{error}"),
        };
        // A test that has seen enough does not listen any more.
        let _ = self.0.lock().expect("no panic").send(heard);
    }
}

impl Ended {
    fn of(report: &Report) -> Self {
        Self {
            here: report.here.clone(),
            results: report.results.clone(),
            output: report.output.as_deref().cloned(),
            failure: report.failure.as_ref().map(Error::to_string),
        }
    }
}

/// A door that stands, as a test sees it.
struct Door {
    address: SocketAddr,
    heard: mpsc::Receiver<Heard>,
    stop: Stop,
}

impl Door {
    /// The next event of this kind, which comes within a time; others are thrown away.
    fn wait<T>(&self, mut wanted: impl FnMut(Heard) -> Option<T>) -> T {
        let until = std::time::Instant::now() + Duration::from_secs(30);
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let heard = self.heard.recv_timeout(left).expect("an event of this kind within 30 s");
            if let Some(found) = wanted(heard) {
                return found;
            }
        }
    }

    /// The end of the next client.
    fn ended(&self) -> (Client, Box<Ended>) {
        self.wait(|heard| match heard {
            Heard::Ends(client, ended) => Some((client, ended)),
            _ => None,
        })
    }

    /// The next refusal.
    fn refused(&self) -> Refusal {
        self.wait(|heard| match heard {
            Heard::Refused(because) => Some(because),
            _ => None,
        })
    }
}

fn config(ip: &str) -> Config {
    Config::new(vec![SocketAddr::new(ip.parse::<IpAddr>().expect("an address"), 0)])
}

/// Runs `work` beside a door in a namespace of its own.
fn beside_door(config: &Config, work: impl FnOnce(&Door) + Send) {
    on_loopback(|| beside_door_here(config, work));
}

fn beside_door_here(config: &Config, work: impl FnOnce(&Door)) {
    let (ear, heard) = mpsc::channel();
    let (ear, stop) = (Ear(Mutex::new(ear)), Stop::new());
    thread::scope(|scope| {
        let serving = scope.spawn(|| serve(config, &stop, &ear));
        let asked = Asks(stop.clone());
        let address = match heard.recv_timeout(Duration::from_secs(10)).expect("a door opens or fails") {
            Heard::Listening(addresses) => addresses[0],
            other => panic!("{other:?}"),
        };
        work(&Door { address, heard, stop: stop.clone() });
        drop(asked);
        serving.join().expect("no panic").expect("nothing but clients may fail");
    });
}

/// Closes the door, also when a test fails.
struct Asks(Stop);

impl Drop for Asks {
    fn drop(&mut self) {
        self.0.ask();
    }
}
