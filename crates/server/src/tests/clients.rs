//! Concurrent clients, limits, logins, and clients that vanish.

use std::{
    io::{Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::Duration,
};

use codecs::iperf3::{Cookie, ErrorCode, Params};
use units::{BitRate, Bytes, Nanos};

use super::{
    TestEvent, TestServer, config,
    iperf3::{command, run},
    with_server,
};
use crate::{Auth, Config, Limits, Refusal};

pub(super) const PRIVATE: &str = include_str!("../../../codecs/tests/captures/iperf3/private.pem");
const PUBLIC: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../codecs/tests/captures/iperf3/public.pem");

pub(super) fn with(limits: impl FnOnce(&mut Limits)) -> Config {
    let mut config = config("127.0.0.1");
    limits(&mut config.limits);
    config
}

pub(super) fn start(server: &TestServer, options: &[&str]) -> Child {
    command(server, options)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("iperf3 is installed")
}

pub(super) fn succeeds(client: Child) {
    let output = client.wait_with_output().expect("a child of this test");
    assert!(output.status.success(), "{output:?}");
}

fn refused(config: &Config, options: &[&str], words: &str, reason: Option<Refusal>) {
    with_server(config, |server| {
        let output = run(server, options);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(words), "{options:?}: {output:?}");
        match reason {
            Some(reason) => assert_eq!(server.refused(), reason),
            None => assert!(server.ended().1.failure.is_some(), "{options:?}"),
        }
        let served = run(server, &["-n", "100K", "-b", "4M"]);
        assert!(served.status.success(), "{served:?}");
        assert_eq!(server.ended().1.failure, None);
    });
}

fn client_without_streams(server: &TestServer, number: u8) -> (TcpStream, Cookie) {
    let cookie = Cookie::from_entropy([number; 36]);
    let mut control = TcpStream::connect(server.address).expect("the server listens");
    control.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    control.write_all(cookie.as_bytes()).expect("the server listens");
    let mut state = [0];
    control.read_exact(&mut state).expect("the server requests parameters");
    assert_eq!(state, [9]);
    let params = serde_json::to_vec(&Params { tcp: true, time: 1, parallel: Some(1), ..Params::default() });
    let params = params.expect("JSON");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    control.write_all(&[&length[..], &params].concat()).expect("the server listens");
    control.read_exact(&mut state).expect("the server requests streams");
    assert_eq!(state, [10]);
    (control, cookie)
}

#[test]
fn serves_clients_concurrently() {
    with_server(&config("127.0.0.1"), |server| {
        let options: [&[&str]; 5] = [
            &["-t", "2"],
            &["-t", "2", "-R"],
            &["-u", "-t", "2", "-P", "2"],
            &["-u", "-t", "2"],
            &["-u", "-t", "2", "-R"],
        ];
        let clients: Vec<_> = options.iter().map(|options| start(server, options)).collect();
        for _ in &clients {
            assert!(server.wait(|received| matches!(received, TestEvent::Begins(_)).then_some(true)));
        }
        clients.into_iter().for_each(succeeds);
        for _ in options {
            assert_eq!(server.ended().1.failure, None);
        }
    });
}

#[test]
fn queue_serves_clients_one_at_a_time() {
    let config = Config { queue: true, ..config("127.0.0.1") };
    with_server(&config, |server| {
        let clients: Vec<_> = (0..3).map(|_| start(server, &["-t", "1"])).collect();
        let mut order = Vec::new();
        while order.len() < 6 {
            let step = server.wait(|received| match received {
                TestEvent::Begins(client) => Some(('+', client.number)),
                TestEvent::Ends(client, ended) => {
                    assert_eq!(ended.failure, None);
                    Some(('-', client.number))
                }
                _ => None,
            });
            order.push(step);
        }
        assert_eq!(order, [('+', 1), ('-', 1), ('+', 2), ('-', 2), ('+', 3), ('-', 3)]);
        clients.into_iter().for_each(succeeds);
    });
}

#[test]
fn busy_server_refuses_client() {
    with_server(&with(|limits| limits.clients = 1), |server| {
        let first = start(server, &["-t", "2"]);
        server.wait(|received| matches!(received, TestEvent::Begins(_)).then_some(()));
        let second = run(server, &["-t", "1"]);
        let text = String::from_utf8_lossy(&second.stderr);
        assert!(!second.status.success() && text.contains("the server is busy"), "{second:?}");
        assert_eq!(server.refused(), Refusal::Busy);
        succeeds(first);
    });
}

#[test]
fn serves_client_that_connects_as_another_leaves() {
    with_server(&with(|limits| limits.clients = 1), |server| {
        for _ in 0..10 {
            succeeds(start(server, &["-n", "10K"]));
        }
    });
}

#[test]
fn refuses_requests_over_a_limit_with_iperf3_messages() {
    let rate = with(|limits| limits.rate = Some(BitRate(10e6)));
    refused(
        &rate,
        &["-t", "1", "-b", "6M", "-P", "2"],
        "bandwidth is larger than server limit",
        Some(Refusal::Limit),
    );
    let time = with(|limits| limits.duration = Nanos::from_secs(5));
    refused(&time, &["-t", "6"], "test duration", Some(Refusal::Limit));
    let bytes = with(|limits| limits.bytes = Some(Bytes(1 << 20)));
    refused(&bytes, &["-n", "2M"], "larger than server limit", Some(Refusal::Limit));
}

#[test]
fn ends_running_test_that_exceeds_a_limit() {
    let rate = with(|limits| limits.rate = Some(BitRate(10e6)));
    refused(&rate, &["-t", "10"], "bandwidth is larger than server limit", None);
    let bytes = with(|limits| limits.bytes = Some(Bytes(1 << 20)));
    refused(&bytes, &["-t", "10", "-b", "100M"], "the server has terminated", None);
}

#[test]
fn refuses_wrong_password() {
    let digest = "{alice}secret";
    let hash =
        Command::new("sha256sum").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().and_then(|mut sum| {
            sum.stdin.take().expect("piped").write_all(digest.as_bytes())?;
            sum.wait_with_output()
        });
    let hash = String::from_utf8(hash.expect("coreutils").stdout).expect("text");
    let users = format!("alice,{}\n", hash.split(' ').next().expect("a hash"));
    let auth = Auth { private_key: PRIVATE.to_owned(), users, skew: Nanos::from_secs(10) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        let with = |user: &'static str, password: &'static str| {
            let options = ["-n", "100K", "--username", user, "--rsa-public-key-path", PUBLIC];
            command(server, &options).env("IPERF3_PASSWORD", password).output().expect("iperf3 is installed")
        };
        for (user, password) in [("alice", "wrong"), ("bob", "secret")] {
            let output = with(user, password);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && text.contains("authorization failed"), "{output:?}");
            assert_eq!(server.refused(), Refusal::Unknown);
        }
        let anonymous = run(server, &["-n", "100K"]);
        assert!(!anonymous.status.success(), "{anonymous:?}");
        let output = with("alice", "secret");
        assert!(output.status.success(), "{output:?}");
        assert_eq!(server.ended().1.failure, None);
    });
}

#[test]
fn server_survives_vanished_client() {
    with_server(&config("127.0.0.1"), |server| {
        for options in [
            &["-t", "30"][..],
            &["-t", "30", "-R"],
            &["-u", "-t", "30", "-b", "1M"],
            &["-u", "-R", "-t", "30"],
        ] {
            let mut client = start(server, options);
            server.wait(|received| matches!(received, TestEvent::Interval).then_some(()));
            client.kill().expect("a child of this test");
            client.wait().expect("a child of this test");
            assert!(server.ended().1.failure.is_some(), "{options:?}");
        }
        succeeds(start(server, &["-n", "1M"]));
    });
}

#[test]
fn drops_disconnected_client_without_streams() {
    with_server(&config("127.0.0.1"), |server| {
        let (control, _) = client_without_streams(server, 1);
        server.wait(|received| matches!(received, TestEvent::Begins(_)).then_some(()));
        drop(control);
        assert!(server.ended().1.failure.is_some());
        let (control, cookie) = client_without_streams(server, 2);
        sys::socket::set_linger_zero(&control).expect("a socket");
        let mut data = TcpStream::connect(server.address).expect("the server listens");
        data.write_all(cookie.as_bytes()).expect("the server listens");
        drop(control);
        assert!(server.ended().1.failure.is_some());
        succeeds(start(server, &["-n", "1M"]));
    });
}

#[test]
fn drops_idle_client() {
    let config = Config { idle_timeout: Nanos::from_secs(2), ..config("127.0.0.1") };
    with_server(&config, |server| {
        let (mut control, cookie) = client_without_streams(server, 3);
        let mut data = TcpStream::connect(server.address).expect("the server listens");
        data.write_all(cookie.as_bytes()).expect("the server listens");
        let mut received = Vec::new();
        control.read_to_end(&mut received).expect("the server closes the control connection");
        // Start and running, followed by error 144 ("idle timeout for receiving data") without an errno.
        assert_eq!(received, [1, 2, 0xfe, 0, 0, 0, 144, 0, 0, 0, 0]);
        assert!(server.ended().1.failure.is_some_and(|failure| failure.contains("to move")));
        succeeds(start(server, &["-n", "1M"]));
    });
}

#[test]
fn stopping_server_notifies_clients() {
    with_server(&config("127.0.0.1"), |server| {
        let client = start(server, &["-t", "30"]);
        server.wait(|received| matches!(received, TestEvent::Interval).then_some(()));
        server.stop.ask();
        let output = client.wait_with_output().expect("a child of this test");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains("the server has terminated"), "{output:?}");
    });
}

#[test]
fn one_off_server_exits_after_its_client() {
    let config = Config { once: true, ..config("127.0.0.1") };
    with_server(&config, |server| {
        succeeds(start(server, &["-n", "1M"]));
        assert_eq!(server.ended().1.failure, None);
        let stopped = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(server.address).is_err()
        });
        assert!(stopped, "the server is still running");
    });
}

#[test]
fn closes_connections_from_disallowed_addresses() {
    let mut config = config("127.0.0.1");
    config.allow = vec![("127.0.0.2".parse().expect("an address"), 32)];
    with_server(&config, |server| {
        let output = run(server, &["-n", "1M"]);
        assert!(!output.status.success(), "{output:?}");
        assert_eq!(server.refused(), Refusal::Address);
        succeeds(start(server, &["-n", "1M", "-B", "127.0.0.2"]));
    });
}

#[test]
fn error_codes_match_iperf3() {
    assert_eq!((ErrorCode::TOTAL_RATE.0, ErrorCode::AUTHORIZATION.0), (27, 142));
}
