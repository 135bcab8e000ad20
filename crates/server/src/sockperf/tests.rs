//! Sessions with clients written here; tests/compat has the stock ones.

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

use super::{SessionOutcome, SharedCounts, serve_tcp, serve_udp_beside};
use crate::testing::HERE;

const PATIENT: Bounds =
    Bounds { idle: Nanos::from_secs(5), duration: Some(Nanos::from_secs(20)), bytes: None, rate: None };
/// For datagrams, which end in silence.
const SOON: Bounds = Bounds { idle: Nanos::from_millis(700), ..PATIENT };

/// Serves what `client` does with its connection.
fn over_tcp(bounds: Bounds, stop: &Stop, client: impl FnOnce(TcpStream) + Send) -> Result<SessionOutcome> {
    let listener = TcpListener::bind((HERE, 0)).expect("loopback");
    let address = listener.local_addr().expect("bound");
    thread::scope(|scope| {
        scope.spawn(|| client(connected(address)));
        let (mut socket, _) = listener.accept().expect("it connects");
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
    let mut question = Question::new(length).expect("it fits");
    let mut answer = vec![0; length];
    for number in numbers {
        socket.write_all(question.number(number)).expect("it is read");
        socket.read_exact(&mut answer).expect("it is answered");
        assert_eq!(question.answered_by(&answer), Some(number));
    }
}

#[test]
fn every_message_of_a_connection_comes_back_and_is_counted() {
    for (length, count) in [(14, 500), (1472, 200), (MAX_MESSAGE, 20)] {
        let Some(served) = on_loopback(|| {
            let served = over_tcp(PATIENT, &Stop::new(), |socket| ask(&socket, 1..=count, length));
            served.expect("it ends well")
        }) else {
            return;
        };
        let bytes = count * length as u64;
        assert_eq!(served.counts, Counts { received: count, answered: count, bytes });
        assert_eq!(served.ended, EndReason::Left);
        assert_eq!(served.outcome.threads.len(), 1);
        let PingPongEnd { messages: MessagesEnd::Server(socket), beside } = served.outcome.measured else {
            panic!("a server's: {:?}", served.outcome)
        };
        assert_eq!(socket.nodelay, Some(true));
        assert!(socket.addresses.is_some_and(|addresses| addresses.contains(" -> 127.0.0.1:")));
        assert_eq!(beside.flows[0].series.bytes(), Bytes(bytes));
    }
}

#[test]
fn a_message_longer_than_any_ends_the_connection() {
    let error = on_loopback(|| {
        let served = over_tcp(PATIENT, &Stop::new(), |mut socket| {
            ask(&socket, 1..=3, 20);
            let mut head = Question::new(20).expect("it fits").number(4)[..14].to_vec();
            head[10] = 0x7f;
            socket.write_all(&head).expect("it is read");
            assert!(matches!(socket.read(&mut [0; 20]), Ok(0) | Err(_)), "it is closed");
        });
        served.expect_err("no message").to_string()
    });
    let Some(error) = error else { return };
    assert!(error.contains("2130706452") && error.contains("127.0.0.1:"), "{error}");
}

#[test]
fn a_client_that_stops_or_does_not_read_is_given_up() {
    let short = Bounds { idle: Nanos::from_millis(300), ..PATIENT };
    let silent = on_loopback(|| {
        over_tcp(short, &Stop::new(), |mut socket| {
            ask(&socket, 1..=3, 20);
            // Part of a message is nothing.
            for byte in [0; 13] {
                let _ = socket.write_all(&[byte]);
                thread::sleep(Duration::from_millis(50));
            }
        })
    });
    let deaf = on_loopback(|| {
        over_tcp(short, &Stop::new(), |mut socket| {
            let mut question = Question::new(MAX_MESSAGE).expect("it fits");
            socket.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
            while socket.write_all(question.number(1)).is_ok() {}
        })
    });
    for served in [silent, deaf].into_iter().flatten() {
        assert_eq!(served.expect("no failure").ended, EndReason::Silent);
    }
}

#[test]
fn bytes_and_a_stop_end_a_client_that_goes_on() {
    let limited = Bounds { bytes: Some(Bytes(100_000)), ..PATIENT };
    let flood = |mut socket: TcpStream| {
        let mut question = Question::new(1000).expect("it fits");
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
fn a_client_that_half_closes_still_gets_its_answers() {
    let served = on_loopback(|| {
        over_tcp(PATIENT, &Stop::new(), |mut socket| {
            let mut question = Question::new(MAX_MESSAGE).expect("it fits");
            for number in 1..=3 {
                socket.write_all(question.number(number)).expect("it fits the buffers");
            }
            socket.shutdown(Shutdown::Write).expect("connected");
            let mut answers = Vec::new();
            socket.read_to_end(&mut answers).expect("all of them");
            assert_eq!(answers.len(), 3 * MAX_MESSAGE);
        })
    });
    assert!(served.is_none_or(|served| served.expect("no failure").counts.answered == 3));
}

#[test]
fn datagrams_come_back_or_are_dropped_and_silence_ends_them() {
    let served = on_loopback(|| {
        let (ours, theirs) = (UdpSocket::bind((HERE, 0)).expect("loopback"), UdpSocket::bind((HERE, 0)));
        let theirs = theirs.expect("loopback");
        theirs.connect(ours.local_addr().expect("bound")).expect("loopback");
        ours.connect(theirs.local_addr().expect("bound")).expect("loopback");
        theirs.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        let bounds = Bounds { idle: Nanos::from_millis(300), ..PATIENT };
        let mut question = Question::new(100).expect("it fits");
        let first = question.number(1).to_vec();
        thread::scope(|scope| {
            let server = scope.spawn(|| {
                serve_udp_beside(&SharedCounts::default(), &ours, (&first, &[]), bounds, &Stop::new())
            });
            let mut answer = [0; 200];
            for number in 1..=50 {
                if number > 1 {
                    theirs.send(b"a stranger's").expect("loopback");
                    theirs.send(&[question.number(number), b"more"].concat()).expect("loopback");
                    theirs.send(question.number(number)).expect("loopback");
                }
                let length = theirs.recv(&mut answer).expect("it is answered");
                assert_eq!(question.answered_by(&answer[..length]), Some(number));
            }
            server.join().expect("no panic").expect("no failure")
        })
    });
    let Some(served) = served else { return };
    assert_eq!(served.counts, Counts { received: 50, answered: 50, bytes: 5000 });
    assert_eq!(served.ended, EndReason::Silent);
}
