//! Datagrams under borrowed addresses, clients that take more than they may, and protocols without a login.

use std::{
    io::{Read, Write},
    net::{IpAddr, TcpStream, UdpSocket},
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
};

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const ASKS: Greeting = Greeting::asking(Handshake { token: 7, purpose: Purpose::PingPong, number: 0 });
/// A message of sockperf's that wants an answer.
const PING: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 14];

/// A socket that talks to the server.
struct Peer(UdpSocket);

impl Peer {
    fn of(server: &TestServer) -> Self {
        let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
        socket.connect(server.address).expect("loopback");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        Self(socket)
    }

    /// Says what is not to be answered; whether that is so.
    fn says_in_vain(&self, bytes: &[u8]) -> bool {
        self.0.set_read_timeout(Some(Duration::from_millis(300))).expect("a socket");
        let answer = self.say(bytes);
        self.0.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
        answer.is_none()
    }

    /// What comes back, if anything does.
    fn say(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.0.send(bytes).expect("loopback");
        let mut answer = [0; 256];
        self.0.recv(&mut answer).ok().map(|length| answer[..length].to_vec())
    }

    fn greet(&self, said: Greeting) -> Option<Greeting> {
        let answer = self.say(&said.encode())?;
        Some(Greeting::decode(&answer).expect("a word of a server"))
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
fn what_a_server_says_is_never_answered() {
    with_server(&config("127.0.0.1"), |server| {
        let peer = Peer::of(server);
        for word in [
            GreetingKind::Asks,
            GreetingKind::Offers,
            GreetingKind::Proves,
            GreetingKind::Welcomes,
            GreetingKind::Refuses,
        ] {
            let said = ASKS.with(word);
            if matches!(word, GreetingKind::Asks | GreetingKind::Proves) {
                let answer = peer.greet(said).expect("a client's word is answered");
                assert!(peer.says_in_vain(&answer.encode()), "{word:?}: {answer:?}");
            } else {
                assert!(peer.says_in_vain(&said.encode()), "{word:?}");
            }
        }
        let answer = peer.say(&PING).expect("sockperf's are answered");
        assert!(peer.says_in_vain(&answer));
    });
}

#[test]
fn an_address_that_proves_nothing_takes_no_place() {
    with_server(&with(|limits| limits.clients = 1), |server| {
        for _ in 0..20 {
            let peer = Peer::of(server);
            let offer = peer.greet(ASKS).expect("an offer");
            let wrong = Greeting { cookie: offer.cookie ^ 1, ..offer.with(GreetingKind::Proves) };
            assert_eq!(peer.greet(wrong), Some(offer));
        }
        client(server, ping(Transport::Udp, 1)).expect("the place is free");
        let (client, ended) = server.ended();
        assert_eq!((client.number, &ended.failure), (1, &None), "nobody was served before");
    });
}

#[test]
fn a_client_is_welcomed_as_often_as_it_proves_its_address_and_refused_without_a_place() {
    with_server(&with(|limits| limits.clients = 1), |server| {
        let peer = Peer::of(server);
        let proof = peer.greet(ASKS).expect("an offer").with(GreetingKind::Proves);
        for _ in 0..3 {
            assert_eq!(peer.greet(proof), Some(proof.with(GreetingKind::Welcomes)));
        }
        assert!(peer.says_in_vain(&ASKS.encode()), "it is served already");
        let message = [&1_u64.to_be_bytes()[..], &7_u64.to_be_bytes()].concat();
        assert_eq!(peer.say(&message).as_ref(), Some(&message));
        let second = client(server, ping(Transport::Udp, 1)).expect_err("no place").to_string();
        assert!(second.contains("--max-clients"), "{second}");
        assert_eq!(server.refused(), Refusal::Busy);
    });
}

#[test]
fn datagrams_of_sockperf_take_no_place_of_others_and_end_no_server() {
    let config = Config { once: true, ..with(|limits| limits.clients = 1) };
    with_server(&config, |server| {
        for _ in 0..10 {
            let peer = Peer::of(server);
            for _ in 0..3 {
                assert!(peer.say(&PING).is_some(), "each is answered");
            }
        }
        succeeds(start(server, &["-n", "1M"]));
        let mut sockperf = 0;
        server.wait(|heard| match heard {
            TestEvent::Begins(client) if client.protocol == ServedProtocol::Sockperf => {
                sockperf += 1;
                None
            }
            TestEvent::Ends(client, ended) if client.protocol == ServedProtocol::Iperf3 => {
                Some(ended.failure)
            }
            _ => None,
        });
        assert_eq!(sockperf, 4, "those of one address");
    });
}

#[test]
fn an_address_that_has_proved_nothing_is_echoed_at_a_bounded_rate() {
    on_loopback(|| {
        // Whoever sends from 127.0.0.0/8 is here.
        let added =
            std::process::Command::new("ip").args(["addr", "add", "198.18.0.1/32", "dev", "lo"]).status();
        assert!(added.expect("iproute2").success());
        with_server_here(&config("198.18.0.1"), echoes_are_bounded);
    });
}

/// Some of its peers have a thread of their own, the others are answered by the one that all share.
fn echoes_are_bounded(server: &TestServer) {
    let peers: Vec<_> = (0..6)
        .map(|_| {
            let socket = UdpSocket::bind(("198.18.0.1", 0)).expect("an address of this namespace");
            socket.connect(server.address).expect("loopback");
            // Longer than a busy machine takes for an answer, mostly: one that comes later counts for the next message.
            socket.set_read_timeout(Some(Duration::from_millis(5))).expect("a socket");
            Peer(socket)
        })
        .collect();
    let mut message = [0; 1400];
    message[..14].copy_from_slice(&PING);
    message[10..14].copy_from_slice(&1400_u32.to_be_bytes());
    let begun = Instant::now();
    // More than a burst and what may follow it in the time that this takes.
    let answers = (0..480).filter(|n| peers[n % peers.len()].say(&message).is_some()).count();
    let Rate { per_second, burst } = REPLIES;
    let most = burst + per_second * (begun.elapsed().as_millis() as u64 + 1) / 1000;
    assert!(answers as u64 * cost(message.len()) <= most, "{answers} answers, {most} bytes");
    assert!(answers > 10, "what is within the rate is answered");
    assert_eq!(server.refused(), Refusal::Rate);
}

#[test]
fn whoever_takes_more_than_it_may_is_ended_in_our_own_protocol_too() {
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
                // Over UDP nobody tells the client, which loses what it sends from then on.
                assert!(came.is_err() || work == Work::PingPong(Transport::Udp), "{work:?}");
                let (client, ended) = server.ended();
                assert_eq!(client.work, work);
                let failure = ended.failure.expect("it was ended");
                assert!(failure.contains("limit of "), "{work:?}: {failure}");
            }
        });
    }
}

#[test]
fn where_clients_log_in_those_that_cannot_are_refused() {
    let auth = Auth { private_key: PRIVATE.to_owned(), users: "a,b\n".into(), skew: Nanos::from_secs(10) };
    let config = Config { auth: Some(auth), ..config("127.0.0.1") };
    with_server(&config, |server| {
        let connect = WorkloadSettings::Connect(ConnectSettings::new(Nanos::from_secs(1)));
        for load in [ping(Transport::Tcp, 1), ping(Transport::Udp, 1), connect] {
            assert!(client(server, load).is_err());
            assert_eq!(server.refused(), Refusal::NoLogin);
        }
        assert!(Peer::of(server).says_in_vain(&PING));
        assert_eq!(server.refused(), Refusal::NoLogin);
        let mut sockperf = TcpStream::connect(server.address).expect("the server stands");
        sockperf.write_all(&PING).expect("the server listens");
        assert_eq!(server.refused(), Refusal::NoLogin);
        assert!(matches!(sockperf.read(&mut [0; 14]), Ok(0) | Err(_)));
    });
}

#[test]
fn a_token_in_use_is_nobody_else_s() {
    with_server(&config("127.0.0.1"), |server| {
        let control = |token| {
            let mut socket = TcpStream::connect(server.address).expect("the server stands");
            socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
            let said = Handshake { token, purpose: Purpose::Connect, number: CONTROL };
            socket.write_all(&said.encode()).expect("the server listens");
            let mut answer = [0];
            let heard = socket.read(&mut answer);
            (socket, matches!(heard, Ok(1)) && answer == [GO])
        };
        let (first, began) = control(5);
        assert!(began);
        assert!(!control(5).1);
        assert_eq!(server.refused(), Refusal::Token);
        let other = control(6);
        assert!(other.1, "another token");
        drop(first);
        server.ended();
        assert!(control(5).1, "it is free again");
    });
}

#[test]
fn a_proof_is_worth_nothing_from_another_address() {
    with_server(&config("127.0.0.1"), |server| {
        let (one, other) = (Peer::of(server), Peer::of(server));
        let proof = one.greet(ASKS).expect("an offer").with(GreetingKind::Proves);
        let answer = other.greet(proof).expect("an offer of its own");
        assert_eq!(answer.kind, GreetingKind::Offers);
        let begun = std::iter::from_fn(|| server.heard.try_recv().ok());
        assert!(begun.into_iter().all(|heard| !matches!(heard, TestEvent::Begins(_))));
    });
}
