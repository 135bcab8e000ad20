//! Spoofed datagrams, clients over their limits, and protocols without authentication.

use std::{
    io::{Read, Write},
    net::{TcpStream, UdpSocket},
    time::{Duration, Instant},
};

use plumb_tests::on_loopback;
use traffic::{
    ClientSpec, Outcome, Result, Stop,
    connect::CONTROL,
    handshake::{GO, Handshake, Purpose},
    ping_pong::{Greeting, GreetingKind},
    run_client,
};
use units::{Bytes, Nanos};
use workload::{ConnectSettings, PingPongSettings, Transport, WorkloadSettings};

use super::{
    TestEvent, TestServer,
    clients::{PRIVATE, start, succeeds, with},
    config, with_server, with_server_here,
};
use crate::{
    Auth, Config, Refusal, ServedProtocol, Work,
    ledger::{REPLIES, Rate},
    sockperf::cost,
    testing::HERE,
};

const ASKS: Greeting = Greeting::asking(Handshake { token: 7, purpose: Purpose::PingPong, number: 0 });
const PING: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 14];

struct Peer(UdpSocket);

impl Peer {
    fn of(server: &TestServer) -> Self {
        let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
        socket.connect(server.address).expect("loopback");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        Self(socket)
    }

    fn is_ignored(&self, bytes: &[u8]) -> bool {
        self.0.set_read_timeout(Some(Duration::from_millis(300))).expect("a socket");
        let answer = self.send(bytes);
        self.0.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        answer.is_none()
    }

    fn send(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.0.send(bytes).expect("loopback");
        let mut answer = [0; 256];
        self.0.recv(&mut answer).ok().map(|length| answer[..length].to_vec())
    }

    fn greet(&self, greeting: Greeting) -> Option<Greeting> {
        let answer = self.send(&greeting.encode())?;
        Some(Greeting::decode(&answer).expect("a valid greeting"))
    }
}

fn client(server: &TestServer, load: WorkloadSettings) -> Result<Outcome> {
    let spec = ClientSpec { token: 9, bind: HERE, server: server.address, load, cpus: None };
    run_client(&spec, &Stop::new(), &())
}

fn ping(transport: Transport, seconds: u64) -> WorkloadSettings {
    let load = PingPongSettings::new(Nanos::from_secs(seconds));
    WorkloadSettings::PingPong(PingPongSettings { transport, message: Bytes(1000), ..load })
}

#[test]
fn never_replies_to_server_messages() {
    with_server(&config("127.0.0.1"), |server| {
        let peer = Peer::of(server);
        for word in [
            GreetingKind::Asks,
            GreetingKind::Offers,
            GreetingKind::Proves,
            GreetingKind::Welcomes,
            GreetingKind::Refuses,
        ] {
            let greeting = ASKS.with(word);
            if matches!(word, GreetingKind::Asks | GreetingKind::Proves) {
                let answer = peer.greet(greeting).expect("a reply");
                assert!(peer.is_ignored(&answer.encode()), "{word:?}: {answer:?}");
            } else {
                assert!(peer.is_ignored(&greeting.encode()), "{word:?}");
            }
        }
        let answer = peer.send(&PING).expect("a sockperf reply");
        assert!(peer.is_ignored(&answer));
    });
}

#[test]
fn unverified_address_takes_no_slot() {
    with_server(&with(|limits| limits.clients = 1), |server| {
        for _ in 0..20 {
            let peer = Peer::of(server);
            let offer = peer.greet(ASKS).expect("an offer");
            let wrong = Greeting { cookie: offer.cookie ^ 1, ..offer.with(GreetingKind::Proves) };
            assert_eq!(peer.greet(wrong), Some(offer));
        }
        client(server, ping(Transport::Udp, 1)).expect("a free slot");
        let (client, ended) = server.ended();
        assert_eq!((client.number, &ended.failure), (1, &None), "the first client");
    });
}

#[test]
fn accepts_repeated_proofs_and_refuses_without_a_slot() {
    with_server(&with(|limits| limits.clients = 1), |server| {
        let peer = Peer::of(server);
        let proof = peer.greet(ASKS).expect("an offer").with(GreetingKind::Proves);
        for _ in 0..3 {
            assert_eq!(peer.greet(proof), Some(proof.with(GreetingKind::Welcomes)));
        }
        assert!(peer.is_ignored(&ASKS.encode()), "already being served");
        let message = [&1_u64.to_be_bytes()[..], &7_u64.to_be_bytes()].concat();
        assert_eq!(peer.send(&message).as_ref(), Some(&message));
        let second = client(server, ping(Transport::Udp, 1)).expect_err("no free slot").to_string();
        assert!(second.contains("--max-clients"), "{second}");
        assert_eq!(server.refused(), Refusal::Busy);
    });
}

#[test]
fn sockperf_datagrams_take_no_client_slots() {
    let config = Config { once: true, ..with(|limits| limits.clients = 1) };
    with_server(&config, |server| {
        for _ in 0..10 {
            let peer = Peer::of(server);
            for _ in 0..3 {
                assert!(peer.send(&PING).is_some(), "every peer gets a reply");
            }
        }
        succeeds(start(server, &["-n", "1M"]));
        let mut sockperf = 0;
        server.wait(|received| match received {
            TestEvent::Begins(client) if client.protocol == ServedProtocol::Sockperf => {
                sockperf += 1;
                None
            }
            TestEvent::Ends(client, ended) if client.protocol == ServedProtocol::Iperf3 => {
                Some(ended.failure)
            }
            _ => None,
        });
        assert_eq!(sockperf, 4, "limit per address");
    });
}

#[test]
fn limits_echo_rate_of_unverified_addresses() {
    on_loopback(|| {
        // Uses another address, because sources in 127.0.0.0/8 always count as verified.
        let added =
            std::process::Command::new("ip").args(["addr", "add", "198.18.0.1/32", "dev", "lo"]).status();
        assert!(added.expect("iproute2").success());
        with_server_here(&config("198.18.0.1"), echoes_are_bounded);
    });
}

/// Some peers have their own thread, while others are served on the shared socket.
fn echoes_are_bounded(server: &TestServer) {
    let peers: Vec<_> = (0..6)
        .map(|_| {
            let socket = UdpSocket::bind(("198.18.0.1", 0)).expect("an address of this namespace");
            socket.connect(server.address).expect("loopback");
            socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a socket");
            Peer(socket)
        })
        .collect();
    let mut message = [0; 1400];
    message[..14].copy_from_slice(&PING);
    message[10..14].copy_from_slice(&1400_u32.to_be_bytes());
    let started = Instant::now();
    let answers = (0..480).filter(|n| peers[n % peers.len()].send(&message).is_some()).count();
    let Rate { per_second, burst } = REPLIES;
    let most = burst + per_second * (started.elapsed().as_millis() as u64 + 1) / 1000;
    assert!(answers as u64 * cost(message.len()) <= most, "{answers} answers, {most} bytes");
    assert!(answers > 10, "replies within the rate limit");
    assert_eq!(server.refused(), Refusal::Rate);
}

#[test]
fn limits_end_plumb_clients() {
    let long = Nanos::from_secs(20);
    for config in [
        with(|limits| limits.bytes = Some(Bytes(100_000))),
        with(|limits| limits.rate = Some(units::BitRate(1e5))),
    ] {
        with_server(&config, |server| {
            for (load, work) in [
                (ping(Transport::Tcp, 20), Work::PingPong(Transport::Tcp)),
                (ping(Transport::Udp, 3), Work::PingPong(Transport::Udp)),
                (
                    WorkloadSettings::Connect(ConnectSettings {
                        response: Bytes(20_000),
                        ..ConnectSettings::new(long)
                    }),
                    Work::Connect,
                ),
            ] {
                let came = client(server, load);
                // A UDP client is not notified, so it counts its remaining messages as lost.
                assert!(came.is_err() || work == Work::PingPong(Transport::Udp), "{work:?}");
                let (client, ended) = server.ended();
                assert_eq!(client.work, work);
                let failure = ended.failure.expect("it was ended");
                assert!(failure.contains("limit on "), "{work:?}: {failure}");
            }
        });
    }
}

#[test]
fn refuses_protocols_without_authentication() {
    let auth = Auth { private_key: PRIVATE.to_owned(), users: "a,b\n".into(), skew: Nanos::from_secs(10) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        let connect = WorkloadSettings::Connect(ConnectSettings::new(Nanos::from_secs(1)));
        for load in [ping(Transport::Tcp, 1), ping(Transport::Udp, 1), connect] {
            assert!(client(server, load).is_err());
            assert_eq!(server.refused(), Refusal::NoLogin);
        }
        assert!(Peer::of(server).is_ignored(&PING));
        assert_eq!(server.refused(), Refusal::NoLogin);
        let mut sockperf = TcpStream::connect(server.address).expect("the server listens");
        sockperf.write_all(&PING).expect("the server listens");
        assert_eq!(server.refused(), Refusal::NoLogin);
        assert!(matches!(sockperf.read(&mut [0; 14]), Ok(0) | Err(_)));
    });
}

#[test]
fn refuses_token_in_use() {
    with_server(&config("127.0.0.1"), |server| {
        let control = |token| {
            let mut socket = TcpStream::connect(server.address).expect("the server listens");
            socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
            let greeting = Handshake { token, purpose: Purpose::Connect, number: CONTROL };
            socket.write_all(&greeting.encode()).expect("the server listens");
            let mut answer = [0];
            let read = socket.read(&mut answer);
            (socket, matches!(read, Ok(1)) && answer == [GO])
        };
        let (first, began) = control(5);
        assert!(began);
        assert!(!control(5).1);
        assert_eq!(server.refused(), Refusal::Token);
        let other = control(6);
        assert!(other.1, "a different token");
        drop(first);
        server.ended();
        assert!(control(5).1, "the token is free again");
    });
}

#[test]
fn rejects_proof_from_another_address() {
    with_server(&config("127.0.0.1"), |server| {
        let (one, other) = (Peer::of(server), Peer::of(server));
        let proof = one.greet(ASKS).expect("an offer").with(GreetingKind::Proves);
        let answer = other.greet(proof).expect("a new offer");
        assert_eq!(answer.kind, GreetingKind::Offers);
        let events = std::iter::from_fn(|| server.received.try_recv().ok());
        assert!(events.into_iter().all(|received| !matches!(received, TestEvent::Begins(_))));
    });
}
