//! Tests streams of other protocols, which are started and ended from outside on given sockets.

use std::{
    net::{TcpListener, TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use plumb_tests::on_loopback;
use units::{Bytes, Nanos};
use workload::{Direction, Mode, StreamSettings, Transport, Until};

use super::{datagrams, settings, total};
use crate::{
    Observer, Progress, Stop, StreamOutcome,
    stream::{self, CLIENT, DatagramFormat, EndFlag, Finish, Flow, FlowSocket, SERVER, Start},
    testing::HERE,
};

fn connected(load: &StreamSettings, format: DatagramFormat) -> (FlowSocket, FlowSocket) {
    match load.transport {
        Transport::Tcp => {
            let listener = TcpListener::bind((HERE, 0)).expect("loopback");
            let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
            (FlowSocket::Tcp(client), FlowSocket::Tcp(listener.accept().expect("connected").0))
        }
        Transport::Udp => {
            let sockets = [(); 2].map(|()| UdpSocket::bind((HERE, 0)).expect("loopback"));
            sockets[0].connect(sockets[1].local_addr().expect("bound")).expect("loopback");
            sockets[1].connect(sockets[0].local_addr().expect("bound")).expect("loopback");
            let [client, server] = sockets.map(|socket| FlowSocket::Udp(socket, format));
            (client, server)
        }
    }
}

struct Arrived<'a>(&'a AtomicBool);

impl Observer for Arrived<'_> {
    fn progress(&self, progress: Progress) {
        self.0.fetch_or(progress.received > Bytes(0), Ordering::Relaxed);
    }
}

fn is_read_out(receiver: Option<&TcpStream>) -> bool {
    receiver.is_none_or(|socket| matches!(socket.peek(&mut [0]), Ok(0)))
}

fn wait(is_time: impl Fn() -> bool) {
    (0..2000).take_while(|_| !is_time()).for_each(|_| thread::sleep(Duration::from_millis(10)));
}

fn run(
    load: &StreamSettings,
    direction: Direction,
    format: DatagramFormat,
) -> Option<(StreamOutcome, StreamOutcome)> {
    on_loopback(|| {
        let (client, server) = connected(load, format);
        let receiver = if direction == Direction::Forward { &server } else { &client };
        let receiver = match receiver {
            FlowSocket::Tcp(socket) => Some(socket.try_clone().expect("a descriptor")),
            FlowSocket::Udp(..) => None,
        };
        let (ours, theirs) = (EndFlag::default(), EndFlag::default());
        let flow = |end, socket, finish| Flow {
            id: 0,
            direction,
            end,
            name: format!("the {end}'s"),
            socket,
            load,
            cpu: None,
            share: None,
            start: Start::Now,
            finish,
        };
        let client = flow(CLIENT, client, Finish::External(&ours));
        let server = flow(SERVER, server, Finish::External(&theirs));
        let (stop, arrived) = (Stop::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            let client = scope.spawn(|| stream::run(vec![client], &stop, &Arrived(&arrived)).expect("runs"));
            let server = scope.spawn(|| stream::run(vec![server], &stop, &Arrived(&arrived)).expect("runs"));
            let sender = if direction == Direction::Forward { &client } else { &server };
            let is_time = || match load.until {
                Until::Elapsed(_) => arrived.load(Ordering::Relaxed),
                Until::Sent(_) => sender.is_finished(),
            };
            wait(is_time);
            let [first, second] =
                if direction == Direction::Forward { [&ours, &theirs] } else { [&theirs, &ours] };
            first.set();
            wait(|| sender.is_finished() && is_read_out(receiver.as_ref()));
            second.set();
            (client.join().expect("no panic"), server.join().expect("no panic"))
        })
    })
}

#[test]
fn external_end_works_and_both_ends_agree() {
    const LONG: Nanos = Nanos::from_secs(600);
    let long = Until::Elapsed(LONG);
    for direction in [Direction::Forward, Direction::Reverse] {
        for mode in [Mode::App, Mode::Limit] {
            let load = StreamSettings { mode, ..settings(direction, 1, long) };
            let Some((client, server)) = run(&load, direction, DatagramFormat::Counter32) else { return };
            let (ours, theirs) = (&client.measured.flows[0].series, &server.measured.flows[0].series);
            assert_eq!(total(ours), total(theirs));
            assert!(total(ours) > 0 && ours.elapsed() < LONG);
            let load = datagrams(direction, 1, long, mode);
            for format in [DatagramFormat::Counter32, DatagramFormat::Counter64] {
                let Some((client, server)) = run(&load, direction, format) else { return };
                let (sender, receiver) =
                    if direction == Direction::Forward { (client, server) } else { (server, client) };
                let sum = |outcome: &StreamOutcome| {
                    let intervals = outcome.measured.flows[0].series.intervals.iter();
                    intervals
                        .filter_map(|interval| interval.datagrams)
                        .reduce(|a, b| a.and(&b))
                        .expect("some")
                };
                let (sent, arrived) = (sum(&sender), sum(&receiver));
                assert!(arrived.count > 0 && arrived.count + arrived.lost.unsigned_abs() <= sent.count);
                assert_eq!((arrived.reordered, arrived.duplicates), (0, 0));
            }
        }
    }
}

#[test]
fn sender_with_byte_limit_ends_by_itself() {
    let load = settings(Direction::Forward, 1, Until::Sent(Bytes(5_000_000)));
    let Some((client, server)) = run(&load, Direction::Forward, DatagramFormat::Counter32) else { return };
    assert_eq!(total(&client.measured.flows[0].series), 5_000_000);
    assert_eq!(total(&server.measured.flows[0].series), 5_000_000);
}
