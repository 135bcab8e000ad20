//! Tests that a client terminates even if the server stops, or keeps sending, at the wrong time.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::mpsc::channel,
    thread,
    time::Duration,
};

use plumb_tests::on_loopback;
use units::{Bytes, Nanos};
use workload::{
    ConnectSettings, Direction, PingPongSettings, Schedule, StreamSettings, Transport, Until,
    WorkloadSettings,
};

use crate::{
    ClientSpec, Stop,
    dial::give_go,
    handshake::LENGTH,
    ping_pong::{Greeting, GreetingKind},
    run_client,
    testing::{HERE, TOKEN},
};

const WATCHED: Duration = Duration::from_secs(120);
const SHORT: Nanos = Nanos::from_millis(300);
const LONG: Nanos = Nanos::from_secs(8);
const DRIP: Duration = Duration::from_millis(10);

struct Case {
    load: WorkloadSettings,
    server: SocketAddr,
    says: &'static str,
}

fn over_tcp(serve: fn(TcpStream)) -> SocketAddr {
    let listener = TcpListener::bind((HERE, 0)).expect("loopback");
    let address = listener.local_addr().expect("bound");
    thread::spawn(move || {
        while let Ok((socket, _)) = listener.accept() {
            thread::spawn(move || serve(socket));
        }
    });
    address
}

fn over_udp(mut serve: impl FnMut(&UdpSocket, &[u8], SocketAddr) + Send + 'static) -> SocketAddr {
    let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
    let address = socket.local_addr().expect("bound");
    thread::spawn(move || {
        let mut bytes = [0; 2048];
        while let Ok((length, client)) = socket.recv_from(&mut bytes) {
            serve(&socket, &bytes[..length], client);
        }
    });
    address
}

fn keep(_socket: TcpStream) {
    loop {
        thread::park();
    }
}

fn go(mut socket: &TcpStream) {
    socket.read_exact(&mut [0; LENGTH]).expect("a handshake");
    give_go(socket, "the client").expect("the client waits");
}

fn go_and_keep(socket: TcpStream) {
    go(&socket);
    keep(socket);
}

fn go_and_stop(mut socket: TcpStream) {
    go(&socket);
    socket.write_all(&[0; 1 << 16]).expect("the client reads");
    keep(socket);
}

fn go_and_drip(socket: TcpStream) {
    go(&socket);
    drip(socket);
}

fn drip(mut socket: TcpStream) {
    while socket.write_all(&[0]).is_ok() {
        thread::sleep(DRIP);
    }
}

fn connections(socket: TcpStream) {
    let mut handshake = [0; LENGTH];
    (&socket).read_exact(&mut handshake).expect("a handshake");
    if handshake[24..28] == [0; 4] {
        give_go(&socket, "the client").expect("the client waits");
        return keep(socket);
    }
    drip(socket);
}

fn go_and_read(mut socket: TcpStream) {
    go(&socket);
    while socket.read(&mut [0; 1 << 16]).is_ok_and(|length| length > 0) {}
    keep(socket);
}

fn go_and_sip(mut socket: TcpStream) {
    go(&socket);
    while socket.read(&mut [0; 1 << 14]).is_ok_and(|length| length > 0) {
        thread::sleep(DRIP * 10);
    }
}

fn welcome(socket: &UdpSocket, received: &[u8], client: SocketAddr) {
    if let Some(received) = Greeting::decode(received) {
        let _ = socket.send_to(&received.with(GreetingKind::Welcomes).encode(), client);
    }
}

fn opened(socket: &UdpSocket, received: &[u8], client: SocketAddr) -> bool {
    if received.len() != LENGTH + 8 {
        return false;
    }
    let answer = [&received[..LENGTH], &1_u64.to_be_bytes()].concat();
    let _ = socket.send_to(&answer, client);
    answer == received
}

fn send_on(closes: bool) -> SocketAddr {
    over_udp(move |socket, received, client| {
        if !opened(socket, received, client) {
            return;
        }
        for number in 1_u64.. {
            let counter = if closes && number == 6 { 1 << 63 | 5 } else { number };
            let head = [&[0; 8][..], &counter.to_be_bytes()].concat();
            let datagram = if counter == number { [&head[..], &[0; 84]].concat() } else { head };
            if socket.send_to(&datagram, client).is_err() {
                return;
            }
            thread::sleep(DRIP);
        }
    })
}

fn ping(transport: Transport, message: u64, schedule: Schedule) -> WorkloadSettings {
    let load =
        PingPongSettings { transport, message: Bytes(message), schedule, ..PingPongSettings::new(SHORT) };
    WorkloadSettings::PingPong(PingPongSettings { warmup: Nanos(0), ..load })
}

fn stream(transport: Transport, direction: Direction) -> WorkloadSettings {
    let load = StreamSettings { transport, direction, ..StreamSettings::new(Until::Elapsed(SHORT)) };
    let message = if transport == Transport::Udp { Bytes(100) } else { load.message };
    WorkloadSettings::Stream(StreamSettings {
        warmup: Nanos(0),
        message,
        rate: Some(units::BitRate(8e6)),
        ..load
    })
}

fn cases() -> Vec<Case> {
    let every = Schedule::Open { period: Nanos::from_millis(10) };
    let tcp = |message, schedule| ping(Transport::Tcp, message, schedule);
    let udp = ping(Transport::Udp, 64, Schedule::Closed);
    let connect = || {
        WorkloadSettings::Connect(ConnectSettings {
            response: Bytes(16 << 20),
            ..ConnectSettings::new(Nanos::from_secs(30))
        })
    };
    let deaf = || over_udp(|_, _, _| {});
    let (go_on, last) = ("the end of the exchange", "the last replies");
    let long = StreamSettings { direction: Direction::Reverse, ..StreamSettings::new(Until::Elapsed(LONG)) };
    let stalled = WorkloadSettings::Stream(long);
    let cases = [
        (tcp(64, Schedule::Closed), over_tcp(keep), "the server's start signal"),
        (tcp(64, Schedule::Closed), over_tcp(go_and_keep), go_on),
        (tcp(64, every), over_tcp(go_and_keep), last),
        (tcp(60_000, Schedule::Closed), over_tcp(go_and_drip), go_on),
        (tcp(60_000, every), over_tcp(go_and_drip), last),
        (udp.clone(), deaf(), "a reply to the handshake"),
        (udp, over_udp(welcome), ""),
        (connect(), over_tcp(keep), "the server's start signal"),
        (connect(), over_tcp(connections), "cannot make connections to 127.0.0.1:"),
        (stream(Transport::Tcp, Direction::Reverse), over_tcp(go_and_keep), "the end of the stream"),
        (stream(Transport::Tcp, Direction::Reverse), over_tcp(go_and_stop), ""),
        (stalled, over_tcp(go_and_stop), "the end of the stream"),
        (stream(Transport::Tcp, Direction::Reverse), over_tcp(go_and_drip), "does not end"),
        (stream(Transport::Tcp, Direction::Forward), over_tcp(go_and_read), "to read everything"),
        (WorkloadSettings::Stream(StreamSettings::new(Until::Elapsed(SHORT))), over_tcp(go_and_sip), ""),
        (stream(Transport::Udp, Direction::Reverse), deaf(), "a reply to the handshake"),
        (stream(Transport::Udp, Direction::Reverse), send_on(false), "does not end"),
        (stream(Transport::Udp, Direction::Reverse), send_on(true), ""),
        (
            stream(Transport::Udp, Direction::Forward),
            over_udp(|socket, received, client| {
                let _ = opened(socket, received, client);
            }),
            "to acknowledge the end",
        ),
    ];
    cases.into_iter().map(|(load, server, says)| Case { load, server, says }).collect()
}

fn check(case: &Case) -> Result<(), String> {
    let Case { load, server, says } = case;
    let spec = ClientSpec { token: TOKEN, bind: HERE, server: *server, load: load.clone(), cpus: None };
    let failure = run_client(&spec, &Stop::new(), &()).err();
    let received = failure.map(|error| error.to_string()).unwrap_or_default();
    let right = received.contains(says) && received.is_empty() == says.is_empty();
    let named = says.is_empty() || received.contains("127.0.0.1");
    if right && named { Ok(()) } else { Err(format!("`{received}` and not `{says}`: {load:?}")) }
}

#[test]
fn clients_end_despite_misbehaving_servers() {
    let wrong = on_loopback(|| {
        let (sender, receiver) = channel();
        let cases = cases();
        let all = cases.len();
        for case in cases {
            let sender = sender.clone();
            // The thread is not joined, because this test detects threads that never end.
            thread::spawn(move || sender.send(check(&case)));
        }
        let answers = (0..all).map(|ended| {
            receiver.recv_timeout(WATCHED).unwrap_or_else(|_| panic!("only {ended} of {all} ended"))
        });
        answers.filter_map(Result::err).collect::<Vec<_>>()
    });
    let wrong = wrong.unwrap_or_default();
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
