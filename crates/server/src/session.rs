//! What a client's own thread does: it tells that the client begins, serves it, and tells how it ended.

use std::{
    net::{SocketAddr, TcpStream, UdpSocket},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::Receiver,
};

use sys::clock::monotonic;
use traffic::{
    Error, FlowId, Observer, Outcome, Result, Stop,
    bounds::{Bounds, Ended},
    handshake::Handshake,
    ping_pong,
};
use units::Nanos;
use workload::{EndMeasurement, Interval, Transport};

use super::{
    config::{Config, Limits},
    event::{Client, Event, Report, ServedProtocol, Watcher, Work},
    requests,
    sessions::{Conversation, Spoken},
};
use crate::{
    iperf3::server::{self, Served, Visit},
    sockperf,
};

/// The longest that a peer may be silent which nothing but a datagram vouches for.
pub(super) const DATAGRAM_IDLE: Nanos = Nanos::from_secs(10);

/// What every client's thread knows.
#[derive(Clone, Copy)]
pub(super) struct House<'env> {
    pub(super) config: &'env Config,
    /// Asked when the door closes.
    pub(super) closing: &'env Stop,
    /// Asked when this client has to end; of a client, its own.
    pub(super) stop: &'env Stop,
    pub(super) watcher: &'env dyn Watcher,
}

/// A connection with a client that is to be served, and from where to where it goes.
pub(super) struct Place {
    pub(super) number: u64,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
}

impl House<'_> {
    /// Tells of a client around what is done for it.
    fn serve(
        &self,
        place: &Place,
        protocol: ServedProtocol,
        work: Work,
        serve: impl FnOnce(&dyn Observer) -> Served,
    ) {
        let client = Client { number: place.number, peer: place.peer, local: place.local, protocol, work };
        self.watcher.event(Event::Begins { client: &client });
        let begun = monotonic();
        let teller = Teller { client: &client, watcher: self.watcher };
        // The panic hook has told of a defect; whoever was told that the client begins is told that it ends, too.
        let served = catch_unwind(AssertUnwindSafe(|| serve(&teller))).unwrap_or_else(|_| Served {
            failure: Some(Error::Panicked { thread: format!("client {}", place.number) }),
            ..Served::default()
        });
        let lasted = Nanos(monotonic() - begun);
        let Served { here, there, results, output, messages, failure } = served;
        // Its place is free before anybody hears that it is.
        self.stop.ask();
        let failure = match failure {
            Some(Error::Stopped) if !self.closing.is_asked() => Some(Error::Limit("duration")),
            other => other,
        };
        let report = Report { lasted, here, there, results, output, messages, failure };
        self.watcher.event(Event::Ends { client: &client, report: &report });
    }

    fn patience(&self) -> Nanos {
        self.config.patience()
    }

    fn bounds(&self, idle: Nanos) -> Bounds {
        let Limits { rate, duration, bytes, .. } = self.config.limits;
        Bounds { idle, duration: Some(duration), bytes, rate }
    }
}

/// A test of iperf3.
pub(super) fn iperf3(house: House<'_>, place: &Place, visit: Visit) {
    let work = Work::Stream(Box::new(visit.load.clone()));
    house.serve(place, ServedProtocol::Iperf3, work, |observer| {
        server::serve(visit, &house.config.limits, house.stop, observer)
    });
}

/// A connection of our own: messages returned, or the one that stands for many.
pub(super) fn ping_pong(house: House<'_>, place: &Place, socket: TcpStream) {
    house.serve(place, ServedProtocol::Native, Work::PingPong(Transport::Tcp), |_| {
        served(ping_pong::serve_tcp(socket, house.bounds(house.patience()), house.stop))
    });
}

/// The connection that stands for many, each for one request.
pub(super) fn connect(
    house: House<'_>,
    place: &Place,
    control: &TcpStream,
    arriving: Receiver<(TcpStream, Handshake)>,
) {
    house.serve(place, ServedProtocol::Native, Work::Connect, |_| {
        served(requests::serve(control, arriving, house.bounds(house.patience()), house.stop))
    });
}

/// Datagrams, of which some have come before.
pub(super) fn datagrams(house: House<'_>, place: &Place, socket: UdpSocket, conversation: &Conversation) {
    let idle = house.patience().min(DATAGRAM_IDLE);
    let work = Work::PingPong(Transport::Udp);
    match conversation.spoken {
        Spoken::Native(said) => house.serve(place, ServedProtocol::Native, work, |_| {
            served(ping_pong::serve_udp(socket, said, house.bounds(idle), house.stop))
        }),
        Spoken::Sockperf => house.serve(place, ServedProtocol::Sockperf, work, |_| {
            let (tally, bounds) = (&conversation.tally, house.bounds(idle));
            answered(sockperf::serve_udp_beside(tally, &socket, &[], bounds, house.stop))
        }),
    }
}

/// A connection of sockperf's, whose first bytes have been read.
pub(super) fn sockperf(house: House<'_>, place: &Place, socket: &TcpStream, first: &[u8]) {
    house.serve(place, ServedProtocol::Sockperf, Work::PingPong(Transport::Tcp), |_| {
        answered(sockperf::serve_tcp(socket, first, house.bounds(house.patience()), house.stop))
    });
}

fn answered(served: Result<sockperf::Served>) -> Served {
    let served = match served {
        Ok(served) => served,
        Err(error) => return Served { failure: Some(error), ..Served::default() },
    };
    let failure = match served.ended {
        Ended::Limit(what) => Some(Error::Limit(what)),
        Ended::Left | Ended::Silent => None,
    };
    Served {
        here: Some(served.outcome.of_any_kind()),
        messages: Some(served.counts),
        failure,
        ..Served::default()
    }
}

fn served<M: Into<EndMeasurement>>(outcome: Result<Outcome<M>>) -> Served {
    match outcome {
        Ok(outcome) => Served { here: Some(outcome.of_any_kind()), ..Served::default() },
        Err(error) => Served { failure: Some(error), ..Served::default() },
    }
}

/// Tells the watcher of a client's intervals.
struct Teller<'a> {
    client: &'a Client,
    watcher: &'a dyn Watcher,
}

impl Observer for Teller<'_> {
    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.watcher.event(Event::Interval { client: self.client, flow, interval });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Ear(Mutex<Vec<String>>);

    impl Watcher for Ear {
        fn event(&self, event: Event<'_>) {
            let heard = match event {
                Event::Begins { .. } => "begins".to_owned(),
                Event::Ends { report, .. } => format!("{}", report.failure.as_ref().expect("it panicked")),
                other => panic!("{other:?}"),
            };
            self.0.lock().expect("one thread").push(heard);
        }
    }

    #[test]
    fn a_session_that_panics_ends_all_the_same() {
        let (config, ear, closing, stop) =
            (Config::new(Vec::new()), Ear::default(), Stop::new(), Stop::new());
        let house = House { config: &config, closing: &closing, stop: &stop, watcher: &ear };
        let [peer, local] = ["127.0.0.1:1", "127.0.0.1:2"].map(|text| text.parse().expect("an address"));
        let place = Place { number: 7, peer, local };
        house.serve(&place, ServedProtocol::Native, Work::Connect, |_| panic!("a defect, for this test"));
        let heard = ear.0.into_inner().expect("one thread");
        assert_eq!(heard.len(), 2);
        assert!(heard[1].contains("client 7 panicked"), "{heard:?}");
        assert!(stop.is_asked(), "its place is free");
    }
}
