//! Servers that are silent or never stop sending. The client must still end.

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

const WATCHED: Duration = Duration::from_secs(120);
const DRIP: Duration = Duration::from_millis(10);

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

fn check(server: SocketAddr, transport: Transport, message: u64, schedule: Schedule) -> Result<(), String> {
    let settings = PingPongSettings::new(Nanos::from_millis(300));
    let (message, warmup) = (Bytes(message), Nanos(0));
    let load = PingPongSettings { transport, message, schedule, warmup, ..settings };
    let spec = ClientSpec { server, bind: None, load, cpus: None };
    let message =
        run_client(&spec, &Stop::new(), &()).err().map(|error| error.to_string()).unwrap_or_default();
    let correct = message.contains("a sockperf reply") && message.contains("127.0.0.1");
    if correct { Ok(()) } else { Err(format!("`{message}`: {:?}", spec.load)) }
}

#[test]
fn client_ends_with_stalled_or_endless_server() {
    let wrong = on_loopback(|| {
        let (sender, results) = channel();
        let deaf = UdpSocket::bind((HERE, 0)).expect("loopback");
        let every = Schedule::Open { period: Nanos::from_millis(10) };
        let cases = [
            (over_tcp(keep), Transport::Tcp, 64, Schedule::Closed),
            (over_tcp(drip), Transport::Tcp, 60_000, every),
            (deaf.local_addr().expect("bound"), Transport::Udp, 64, Schedule::Closed),
        ];
        for (server, transport, message, schedule) in cases {
            let sender = sender.clone();
            thread::spawn(move || sender.send(check(server, transport, message, schedule)));
        }
        let answers = (0..cases.len())
            .map(|ended| results.recv_timeout(WATCHED).unwrap_or_else(|_| panic!("only {ended} ended")));
        answers.filter_map(Result::err).collect::<Vec<_>>()
    });
    assert_eq!(wrong.unwrap_or_default(), Vec::<String>::new());
}
