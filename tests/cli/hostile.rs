//! Peers of the test that break off, or alter what they return: what a user is told of it.

use std::{
    cell::RefCell,
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use plumb_tests::{Output, wait_until};
use serde_json::Value;

use super::sandbox;

/// Several times the longest bound of any wait.
const WATCHED: Duration = Duration::from_secs(120);
/// Of iperf3's control connection.
const COOKIE: usize = 37;
const PARAMETERS: u8 = 9;
const STREAMS: u8 = 10;
const START: u8 = 1;
const RUNNING: u8 = 2;

/// Runs a program that has to end.
fn ended(mut command: Command) -> Output {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("plumb was built");
    let child = RefCell::new(child);
    let over = wait_until(WATCHED, || child.borrow_mut().try_wait().is_ok_and(|status| status.is_some()));
    let mut child = child.into_inner();
    if !over {
        child.kill().expect("it runs");
    }
    let output = Output::from(child.wait_with_output().expect("a child of this test"));
    assert!(over, "it waits for ever: {output:?}");
    output
}

/// Serves a test of iperf3's until it runs, closes its streams, and keeps the control connection.
fn close_the_streams(listener: &TcpListener, streams: usize) {
    let (mut control, _) = listener.accept().expect("the client");
    control.read_exact(&mut [0; COOKIE]).expect("a cookie");
    control.write_all(&[PARAMETERS]).expect("connected");
    let mut length = [0; 4];
    control.read_exact(&mut length).expect("a length");
    control.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize]).expect("as much JSON");
    control.write_all(&[STREAMS]).expect("connected");
    let accept = || {
        let (mut stream, _) = listener.accept().expect("a stream");
        stream.read_exact(&mut [0; COOKIE]).expect("a cookie");
        stream
    };
    let held: Vec<TcpStream> = (0..streams).map(|_| accept()).collect();
    control.write_all(&[START, RUNNING]).expect("connected");
    for mut stream in &held {
        // One that the client sends on is full, or reset, some time.
        let _ = stream.set_write_timeout(Some(Duration::from_millis(100)));
        let _ = stream.write_all(&[7; 100_000]);
    }
    thread::sleep(Duration::from_millis(300));
    drop(held);
    // Until the client has ended.
    while control.read(&mut [0; 64]).is_ok_and(|read| read > 0) {}
}

/// The client ends by itself, with a reason and a way on, in every direction.
pub(super) fn streams_that_are_closed() {
    for (words, streams, way) in [
        (&["-R"][..], 1, "connection 0 (reverse) with 127.0.0.1:"),
        (&["-R", "-P", "2"], 2, "every connection (reverse) with 127.0.0.1:"),
        (&["-R", "-n", "1G"], 1, "connection 0 (reverse) with 127.0.0.1:"),
        (&[], 1, "connection 0 (forward) with 127.0.0.1:"),
        (&["--bidir"], 2, "with 127.0.0.1:"),
        (&["-R", "--json"], 1, "connection 0 (reverse) with 127.0.0.1:"),
    ] {
        let sandbox = sandbox();
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback");
        let port = listener.local_addr().expect("bound").port().to_string();
        thread::spawn(move || close_the_streams(&listener, streams));
        let mut command = sandbox.command(&["client", "127.0.0.1", "-p", &port]);
        command.args(words);
        if !words.contains(&"-n") {
            command.args(["-t", "600"]);
        }
        let output = ended(command);
        assert_eq!(output.status, Some(1), "{words:?}: {output:?}");
        for said in [way, "was closed by the other end after", "see what it printed"] {
            assert!(output.err.contains(said), "{words:?}: no `{said}` in {}", output.err);
        }
        if words.contains(&"--json") {
            let document: Value = serde_json::from_str(&output.out).expect("one document");
            assert!(document["error"].as_str().is_some_and(|error| error.contains(way)), "{document}");
        }
    }
}

/// Answers as sockperf does; in the answer to one message the highest bit of the number is turned over.
fn alter_one(socket: &UdpSocket) {
    const ALTERED: u64 = 40;
    let mut message = [0; 2048];
    while let Ok((length, client)) = socket.recv_from(&mut message) {
        let answer = &mut message[..length];
        // No more a client's.
        answer[9] &= !1;
        if answer[..8] == ALTERED.to_be_bytes() {
            answer[0] ^= 0x80;
        }
        let _ = socket.send_to(answer, client);
    }
}

/// What was never sent is counted, told and doubted, and is no round trip.
pub(super) fn strays_are_told() {
    let sandbox = sandbox();
    let socket = UdpSocket::bind(("127.0.0.1", 0)).expect("loopback");
    let port = socket.local_addr().expect("bound").port().to_string();
    thread::spawn(move || alter_one(&socket));
    for schedule in [&["--rate", "100"][..], &[]] {
        let words = [&["ping", "--sockperf", "127.0.0.1", "-p", &port, "-t", "1", "--warmup", "0"], schedule]
            .concat();
        let said = ended(sandbox.command(&words));
        assert_eq!(said.status, Some(0), "{words:?}: {said:?}");
        for word in ["Stray answers", "1 of ", "a number that was never sent"] {
            assert!(said.out.contains(word), "{words:?}: no `{word}` in {}", said.out);
        }
        let document = ended(sandbox.command(&[&words[..], &["--json"]].concat()));
        let document: Value = serde_json::from_str(&document.out).expect("one document");
        let outcome = &document["outcome"];
        assert_eq!((&outcome["strays"], &outcome["lost"]), (&1.into(), &1.into()), "{outcome}");
        let trips = outcome["round_trips"]["count"].as_u64().expect("a count");
        assert!(schedule.is_empty() || trips == 99, "{words:?}: {outcome}");
        let doubts = document["doubts"].as_array().expect("doubts");
        assert!(doubts.iter().any(|doubt| doubt["kind"] == "strays"), "{doubts:?}");
    }
}
