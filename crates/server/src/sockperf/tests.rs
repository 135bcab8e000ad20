//! Sessions with simulated clients. The stock clients are tested in tests/compat.

mod client;
mod hostile;

use plumb_tests::on_loopback;
use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::Duration,
};
use traffic::{
    Result, Stop,
    bounds::{Bounds, EndReason},
};
use workload::{MessagesEnd, PingPongEnd};

use codecs::sockperf::{Counts, MAX_MESSAGE, Question};
use units::{Bytes, Nanos};

use super::{SessionOutcome, SharedCounts, serve_tcp, serve_udp};
use crate::testing::HERE;

const PATIENT: Bounds =
    Bounds { idle: Nanos::from_secs(5), duration: Some(Nanos::from_secs(20)), bytes: None, rate: None };
const SOON: Bounds = Bounds { idle: Nanos::from_millis(700), ..PATIENT };

fn over_tcp(bounds: Bounds, stop: &Stop, client: impl FnOnce(TcpStream) + Send) -> Result<SessionOutcome> {
    let listener = TcpListener::bind((HERE, 0)).expect("loopback");
    let address = listener.local_addr().expect("bound");
    thread::scope(|scope| {
        scope.spawn(|| client(connected(address)));
        let (mut socket, _) = listener.accept().expect("a connection");
        let mut first = [0; 14];
        socket.read_exact(&mut first).expect("a header");
        serve_tcp(&socket, &first, bounds, stop)
    })
}

fn connected(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).expect("loopback");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    socket.set_write_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    socket
}

fn ask(mut socket: &TcpStream, numbers: impl Iterator<Item = u64>, length: usize) {
    let mut question = Question::new(length).expect("a valid size");
    let mut answer = vec![0; length];
    for number in numbers {
        socket.write_all(question.number(number)).expect("the server reads");
        socket.read_exact(&mut answer).expect("a reply");
        assert_eq!(question.answered_by(&answer), Some(number));
    }
}

#[test]
fn returns_and_counts_all_messages_of_a_connection() {
    for (length, count) in [(14, 500), (1472, 200), (MAX_MESSAGE, 20)] {
        let Some(served) = on_loopback(|| {
            let served = over_tcp(PATIENT, &Stop::new(), |socket| ask(&socket, 1..=count, length));
            served.expect("no error")
        }) else {
            return;
        };
        let bytes = count * length as u64;
        assert_eq!(served.counts, Counts { received: count, answered: count, bytes });
        assert_eq!(served.ended, EndReason::Left);
        assert_eq!(served.outcome.threads.len(), 1);
        let PingPongEnd { messages: MessagesEnd::Server(socket), background } = served.outcome.measured
        else {
            panic!("a server's: {:?}", served.outcome)
        };
        assert_eq!(socket.nodelay, Some(true));
        assert!(socket.addresses.is_some_and(|addresses| addresses.contains(" -> 127.0.0.1:")));
        assert_eq!(background.flows[0].series.bytes(), Bytes(bytes));
    }
}

#[test]
fn oversized_message_ends_the_connection() {
    let error = on_loopback(|| {
        let served = over_tcp(PATIENT, &Stop::new(), |mut socket| {
            ask(&socket, 1..=3, 20);
            let mut head = Question::new(20).expect("a valid size").number(4)[..14].to_vec();
            head[10] = 0x7f;
            socket.write_all(&head).expect("the server reads");
            assert!(matches!(socket.read(&mut [0; 20]), Ok(0) | Err(_)), "the connection is closed");
        });
        served.expect_err("an invalid message").to_string()
    });
    let Some(error) = error else { return };
    assert!(error.contains("2130706452") && error.contains("127.0.0.1:"), "{error}");
}

#[test]
fn drops_client_that_stalls_or_does_not_read() {
    let short = Bounds { idle: Nanos::from_millis(300), ..PATIENT };
    let silent = on_loopback(|| {
        over_tcp(short, &Stop::new(), |mut socket| {
            ask(&socket, 1..=3, 20);
            for byte in [0; 13] {
                let _ = socket.write_all(&[byte]);
                thread::sleep(Duration::from_millis(50));
            }
        })
    });
    let deaf = on_loopback(|| {
        over_tcp(short, &Stop::new(), |mut socket| {
            let mut question = Question::new(MAX_MESSAGE).expect("a valid size");
            socket.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
            while socket.write_all(question.number(1)).is_ok() {}
        })
    });
    for served in [silent, deaf].into_iter().flatten() {
        assert_eq!(served.expect("no failure").ended, EndReason::Silent);
    }
}

#[test]
fn byte_limit_and_stop_end_active_client() {
    let limited = Bounds { bytes: Some(Bytes(100_000)), ..PATIENT };
    let flood = |mut socket: TcpStream| {
        let mut question = Question::new(1000).expect("a valid size");
        let message = question.number(1);
        let mut answer = [0; 1000];
        while socket.write_all(message).is_ok() && socket.read_exact(&mut answer).is_ok() {}
    };
    let Some(served) = on_loopback(|| over_tcp(limited, &Stop::new(), flood).expect("no failure")) else {
        return;
    };
    assert_eq!(served.ended, EndReason::Limit("bytes"));
    assert!(served.counts.bytes > 100_000);
    let stopped = on_loopback(|| {
        let stop = Stop::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(200));
                stop.ask();
            });
            over_tcp(PATIENT, &stop, flood)
        })
    });
    assert!(stopped.is_none_or(|served| served.is_err_and(|error| error.is_stopped())));
}

#[test]
fn half_closed_client_receives_all_replies() {
    let served = on_loopback(|| {
        over_tcp(PATIENT, &Stop::new(), |mut socket| {
            let mut question = Question::new(MAX_MESSAGE).expect("a valid size");
            for number in 1..=3 {
                socket.write_all(question.number(number)).expect("fits the buffers");
            }
            socket.shutdown(Shutdown::Write).expect("connected");
            let mut answers = Vec::new();
            socket.read_to_end(&mut answers).expect("all replies");
            assert_eq!(answers.len(), 3 * MAX_MESSAGE);
        })
    });
    assert!(served.is_none_or(|served| served.expect("no failure").counts.answered == 3));
}

#[test]
fn returns_valid_datagrams_until_idle() {
    let served = on_loopback(|| {
        let (ours, theirs) = (UdpSocket::bind((HERE, 0)).expect("loopback"), UdpSocket::bind((HERE, 0)));
        let theirs = theirs.expect("loopback");
        theirs.connect(ours.local_addr().expect("bound")).expect("loopback");
        ours.connect(theirs.local_addr().expect("bound")).expect("loopback");
        theirs.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        let bounds = Bounds { idle: Nanos::from_millis(300), ..PATIENT };
        let mut question = Question::new(100).expect("a valid size");
        let first = question.number(1).to_vec();
        thread::scope(|scope| {
            let server = scope
                .spawn(|| serve_udp(&SharedCounts::default(), &ours, (&first, &[]), bounds, &Stop::new()));
            let mut answer = [0; 200];
            for number in 1..=50 {
                if number > 1 {
                    theirs.send(b"not a message").expect("loopback");
                    theirs.send(&[question.number(number), b"more"].concat()).expect("loopback");
                    theirs.send(question.number(number)).expect("loopback");
                }
                let length = theirs.recv(&mut answer).expect("a reply");
                assert_eq!(question.answered_by(&answer[..length]), Some(number));
            }
            server.join().expect("no panic").expect("no failure")
        })
    });
    let Some(served) = served else { return };
    assert_eq!(served.counts, Counts { received: 50, answered: 50, bytes: 5000 });
    assert_eq!(served.ended, EndReason::Silent);
}
