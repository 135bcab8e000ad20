//! Servers of the test that are silent, or go on, where sockperf's would answer: the client ends all the same.
//!
//! How long it took is not judged: whoever never ends is given up by the test.

use std::{
    io::Write,
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::mpsc::channel,
    thread,
    time::Duration,
};

use plumb_tests::on_loopback;
use traffic::Stop;
use units::{Bytes, Nanos};
use workload::{PingPongSettings, Schedule, Transport};

use crate::{
    sockperf::{ClientSpec, run_client},
    testing::HERE,
};

/// The longest bound of any wait, several times over.
const WATCHED: Duration = Duration::from_secs(120);
/// So often a byte comes.
const DRIP: Duration = Duration::from_millis(10);

/// A server over TCP that does this with each of its connections.
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

/// Keeps a connection, and reads nothing.
fn keep(_socket: TcpStream) {
    loop {
        thread::park();
    }
}

fn drip(mut socket: TcpStream) {
    while socket.write_all(&[0]).is_ok() {
        thread::sleep(DRIP);
    }
}

/// What a client says of a server that does not answer as sockperf does, if that is wrong.
fn check(server: SocketAddr, transport: Transport, message: u64, schedule: Schedule) -> Result<(), String> {
    let settings = PingPongSettings::new(Nanos::from_millis(300));
    let (message, warmup) = (Bytes(message), Nanos(0));
    let load = PingPongSettings { transport, message, schedule, warmup, ..settings };
    let spec = ClientSpec { server, bind: None, load, cpus: None };
    let said = run_client(&spec, &Stop::new(), &()).err().map(|error| error.to_string()).unwrap_or_default();
    let right = said.contains("an answer of sockperf's") && said.contains("127.0.0.1");
    if right { Ok(()) } else { Err(format!("`{said}`: {:?}", spec.load)) }
}

#[test]
fn a_server_that_stops_or_goes_on_is_not_waited_for_without_end() {
    let wrong = on_loopback(|| {
        let (tell, told) = channel();
        let deaf = UdpSocket::bind((HERE, 0)).expect("loopback");
        let every = Schedule::Open { period: Nanos::from_millis(10) };
        let cases = [
            (over_tcp(keep), Transport::Tcp, 64, Schedule::Closed),
            (over_tcp(drip), Transport::Tcp, 60_000, every),
            (deaf.local_addr().expect("bound"), Transport::Udp, 64, Schedule::Closed),
        ];
        for (server, transport, message, schedule) in cases {
            let tell = tell.clone();
            // Not joined: one that never ends is what is looked for.
            thread::spawn(move || tell.send(check(server, transport, message, schedule)));
        }
        let answers = (0..cases.len()).map(|ended| {
            told.recv_timeout(WATCHED).unwrap_or_else(|_| panic!("{ended} ended, the others never"))
        });
        answers.filter_map(Result::err).collect::<Vec<_>>()
    });
    assert_eq!(wrong.unwrap_or_default(), Vec::<String>::new());
}
