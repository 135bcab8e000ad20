//! Runs a client's thread, and reports when the client starts and ends.

use std::{
    net::{SocketAddr, TcpStream, UdpSocket},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, mpsc::Receiver},
};

use sys::clock::monotonic;
use traffic::{
    Error, FlowId, Observer, Outcome, Result, Stop,
    bounds::{Bounds, EndReason},
    handshake::Handshake,
    ping_pong,
};
use units::Nanos;
use workload::{EndMeasurement, Interval, Transport};

use super::{
    config::{Config, Limits},
    event::{Client, Event, Report, ServedProtocol, Watcher, Work},
    holdings::Holdings,
    ingress::{Conversation, DatagramProtocol},
    ledger::Meter,
    requests,
};
use crate::{
    iperf3::server::{self, AdmittedTest},
    sockperf,
};

pub(super) const DATAGRAM_IDLE: Nanos = Nanos::from_secs(10);

#[derive(Clone, Copy)]
pub(super) struct ServerContext<'env> {
    pub(super) config: &'env Config,
    pub(super) closing: &'env Stop,
    pub(super) stop: &'env Stop,
    pub(super) watcher: &'env dyn Watcher,
}

pub(super) struct SessionId {
    pub(super) number: u64,
    pub(super) peer: SocketAddr,
    pub(super) local: SocketAddr,
    pub(super) holdings: Holdings,
}

impl ServerContext<'_> {
    fn serve(
        &self,
        session: &SessionId,
        protocol: ServedProtocol,
        work: Work,
        serve: impl FnOnce(&dyn Observer) -> Report,
    ) {
        let client =
            Client { number: session.number, peer: session.peer, local: session.local, protocol, work };
        self.watcher.event(Event::Begins { client: &client });
        let begun = monotonic();
        let observer = ForwardingObserver { client: &client, watcher: self.watcher };
        // The panic hook has already logged the bug, but the watcher still needs the end event.
        let mut report = catch_unwind(AssertUnwindSafe(|| serve(&observer))).unwrap_or_else(|_| Report {
            failure: Some(Error::Panicked { thread: format!("client {}", session.number) }),
            ..Report::default()
        });
        report.lasted = Nanos(monotonic() - begun);
        // The slot must be free before the end is reported.
        self.stop.ask();
        let had_place = session.holdings.release();
        if matches!(report.failure, Some(Error::Stopped)) && !self.closing.is_asked() {
            report.failure = Some(Error::Limit(if had_place { "duration" } else { "clients per address" }));
        }
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

pub(super) fn iperf3(context: ServerContext<'_>, session: &SessionId, test: AdmittedTest) {
    let work = Work::Stream(Box::new(test.load.clone()));
    context.serve(session, ServedProtocol::Iperf3, work, |observer| {
        server::serve(test, &context.config.limits, context.stop, observer)
    });
}

pub(super) fn ping_pong(context: ServerContext<'_>, session: &SessionId, socket: TcpStream) {
    context.serve(session, ServedProtocol::Native, Work::PingPong(Transport::Tcp), |_| {
        served(ping_pong::serve_tcp(socket, context.bounds(context.patience()), context.stop))
    });
}

pub(super) fn connect(
    context: ServerContext<'_>,
    session: &SessionId,
    control: &TcpStream,
    arriving: Receiver<(TcpStream, Handshake)>,
) {
    context.serve(session, ServedProtocol::Native, Work::Connect, |_| {
        served(requests::serve(control, arriving, context.bounds(context.patience()), context.stop))
    });
}

pub(super) fn datagrams(
    context: ServerContext<'_>,
    session: &SessionId,
    socket: UdpSocket,
    conversation: &Conversation,
    rate: &[Arc<Meter>],
) {
    let idle = context.patience().min(DATAGRAM_IDLE);
    let work = Work::PingPong(Transport::Udp);
    match conversation.protocol {
        DatagramProtocol::Native(greeting) => context.serve(session, ServedProtocol::Native, work, |_| {
            served(ping_pong::serve_udp(socket, greeting, context.bounds(idle), context.stop))
        }),
        DatagramProtocol::Sockperf => context.serve(session, ServedProtocol::Sockperf, work, |_| {
            let (counts, bounds) = (&conversation.counts, context.bounds(idle));
            answered(sockperf::serve_udp(counts, &socket, (&[], rate), bounds, context.stop))
        }),
    }
}

pub(super) fn sockperf(context: ServerContext<'_>, session: &SessionId, socket: &TcpStream, first: &[u8]) {
    context.serve(session, ServedProtocol::Sockperf, Work::PingPong(Transport::Tcp), |_| {
        answered(sockperf::serve_tcp(socket, first, context.bounds(context.patience()), context.stop))
    });
}

fn answered(served: Result<sockperf::SessionOutcome>) -> Report {
    let served = match served {
        Ok(served) => served,
        Err(error) => return Report { failure: Some(error), ..Report::default() },
    };
    let failure = match served.ended {
        EndReason::Limit(limit) => Some(Error::Limit(limit)),
        EndReason::Left | EndReason::Silent => None,
    };
    Report {
        here: Some(served.outcome.of_any_kind()),
        messages: Some(served.counts),
        failure,
        ..Report::default()
    }
}

fn served<M: Into<EndMeasurement>>(outcome: Result<Outcome<M>>) -> Report {
    match outcome {
        Ok(outcome) => Report { here: Some(outcome.of_any_kind()), ..Report::default() },
        Err(error) => Report { failure: Some(error), ..Report::default() },
    }
}

struct ForwardingObserver<'a> {
    client: &'a Client,
    watcher: &'a dyn Watcher,
}

impl Observer for ForwardingObserver<'_> {
    fn interval(&self, flow: FlowId, interval: &Interval) {
        self.watcher.event(Event::Interval { client: self.client, flow, interval });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct EventRecorder(Mutex<Vec<String>>);

    impl Watcher for EventRecorder {
        fn event(&self, event: Event<'_>) {
            let received = match event {
                Event::Begins { .. } => "begins".to_owned(),
                Event::Ends { report, .. } => format!("{}", report.failure.as_ref().expect("it panicked")),
                other => panic!("{other:?}"),
            };
            self.0.lock().expect("one thread").push(received);
        }
    }

    #[test]
    fn reports_end_after_panic() {
        let (config, recorder, closing, stop) =
            (Config::new(Vec::new()), EventRecorder::default(), Stop::new(), Stop::new());
        let context = ServerContext { config: &config, closing: &closing, stop: &stop, watcher: &recorder };
        let [peer, local] = ["127.0.0.1:1", "127.0.0.1:2"].map(|text| text.parse().expect("an address"));
        let session = SessionId { number: 7, peer, local, holdings: Holdings::new(None, None) };
        context.serve(&session, ServedProtocol::Native, Work::Connect, |_| panic!("a defect, for this test"));
        let received = recorder.0.into_inner().expect("one thread");
        assert_eq!(received.len(), 2);
        assert!(received[1].contains("client 7 panicked"), "{received:?}");
        assert!(stop.is_asked(), "its slot is free");
    }
}
