//! Clients that exhaust resources, while honest clients connect from other addresses.

use std::{
    io::{ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicU8, Ordering},
    time::Duration,
};

use codecs::iperf3::{Cookie, Params};
use socket2::{Domain, Socket, Type};
use traffic::handshake::{GO, Handshake, Purpose};
use units::Nanos;

use super::{
    TestServer,
    clients::{start, succeeds, with},
    with_server,
};
use crate::{Config, Refusal};

fn from(server: &TestServer, last: u8) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a descriptor");
    socket.bind(&SocketAddr::from(([127, 0, 1, last], 0)).into()).expect("loopback is a /8");
    socket.connect(&server.address.into()).expect("the server listens");
    let socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket");
    socket
}

const SOCKPERF: [u8; 14] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0, 0, 0, 14];

fn cookie() -> Cookie {
    static USED: AtomicU8 = AtomicU8::new(0);
    let number = USED.fetch_add(1, Ordering::Relaxed);
    Cookie::from_entropy(std::array::from_fn(|byte| number.wrapping_mul(37) ^ (byte as u8).wrapping_mul(11)))
}

fn next(socket: &mut TcpStream) -> Option<u8> {
    let mut state = [0];
    socket.read_exact(&mut state).ok().map(|()| state[0])
}

fn asks_for(server: &TestServer, last: u8, params: &Params) -> (TcpStream, Cookie, Option<u8>) {
    let cookie =
        Cookie::from_entropy(std::array::from_fn(|byte| last.wrapping_mul(31).wrapping_add(byte as u8)));
    let mut control = from(server, last);
    control.write_all(cookie.as_bytes()).expect("the server listens");
    assert_eq!(next(&mut control), Some(9));
    let params = serde_json::to_vec(params).expect("JSON");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    control.write_all(&[&length[..], &params].concat()).expect("the server listens");
    let reply = next(&mut control);
    (control, cookie, reply)
}

fn pings(server: &TestServer, last: u8, token: u64) -> (TcpStream, bool) {
    let mut socket = from(server, last);
    let handshake = Handshake { token, purpose: Purpose::PingPong, number: 0 };
    socket.write_all(&handshake.encode()).expect("the server listens");
    let began = next(&mut socket) == Some(GO);
    (socket, began)
}

#[test]
fn limits_slots_per_address_for_all_protocols() {
    let config = with(|limits| (limits.clients, limits.clients_of_address) = (4, Some(2)));
    let attacks: [fn(&TestServer) -> Vec<TcpStream>; 3] = [
        |server| {
            let sockperf = |server| {
                let mut socket = from(server, 66);
                socket.write_all(&SOCKPERF).expect("the server listens");
                let _ = socket.read(&mut [0; 14]);
                socket
            };
            (0..4).map(|_| sockperf(server)).collect()
        },
        |server| (0..4).map(|token| pings(server, 66, token).0).collect(),
        |server| {
            let params = Params { tcp: true, time: 60, parallel: Some(1), ..Params::default() };
            let first = asks_for(server, 66, &params).0;
            let (second, third) = (pings(server, 66, 1).0, pings(server, 66, 2).0);
            vec![first, second, third]
        },
    ];
    for attack in attacks {
        with_server(&config, |server| {
            let attackers = attack(server);
            assert_eq!(server.refused(), Refusal::AddressLimit);
            succeeds(start(server, &["-n", "1M"]));
            assert!(pings(server, 67, 9).1, "other addresses are served");
            drop(attackers);
        });
    }
}

fn is_open(socket: &mut TcpStream) -> bool {
    socket.set_nonblocking(true).expect("a socket");
    matches!(socket.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

fn is_closed(socket: &mut TcpStream) -> bool {
    !matches!(socket.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

#[test]
fn busy_addresses_lose_their_newest_clients_to_other_addresses() {
    let config = with(|limits| (limits.clients, limits.clients_of_address) = (8, Some(4)));
    with_server(&config, |server| {
        let mut clients: Vec<_> = (0..8).map(|n: u8| pings(server, 66 + n / 4, n.into())).collect();
        assert!(clients.iter().all(|(_, started)| *started));
        let (mut honest, started) = pings(server, 1, 100);
        assert!(started, "an address without a slot gets one");
        let failure = server.ended().1.failure.expect("it was ended by the server");
        assert!(failure.contains("clients per address"), "{failure}");
        let params = Params { tcp: true, time: 60, parallel: Some(1), ..Params::default() };
        let (iperf3, _, reply) = asks_for(server, 2, &params);
        assert_eq!(reply, Some(10));
        let mut sockperf = from(server, 3);
        sockperf.write_all(&SOCKPERF).expect("the server listens");
        assert_eq!(sockperf.read(&mut [0; 14]).ok(), Some(14), "the server replies");
        let others: Vec<_> = (4..=6).map(|last| pings(server, last, 100 + u64::from(last))).collect();
        assert!(others.iter().all(|(_, started)| *started));
        assert!(!pings(server, 7, 107).1, "every address has one slot");
        for (n, (socket, _)) in clients.iter_mut().enumerate() {
            assert!(if n % 4 == 0 { is_open(socket) } else { is_closed(socket) }, "client {n}");
        }
        assert!(is_open(&mut honest));
        drop((iperf3, others));
    });
}

#[test]
fn plumb_client_learns_of_the_address_limit() {
    let config = with(|limits| limits.clients_of_address = Some(1));
    with_server(&config, |server| {
        let (_held, began) = pings(server, 66, 1);
        assert!(began);
        let mut second = from(server, 66);
        second
            .write_all(&Handshake { token: 2, purpose: Purpose::PingPong, number: 0 }.encode())
            .expect("the server listens");
        let mut reply = Vec::new();
        second.read_to_end(&mut reply).expect("a reply and a close");
        assert_eq!(reply, [&[0xfe_u8][..], &9009_i32.to_be_bytes(), &[0; 4]].concat());
        let params = Params {
            tcp: true,
            time: 1,
            parallel: Some(1),
            plumb: Some(codecs::iperf3::Extension::default()),
            ..Params::default()
        };
        let (mut control, _, reply) = asks_for(server, 66, &params);
        assert_eq!(reply, Some(0xfe));
        let mut code = [0; 4];
        control.read_exact(&mut code).expect("a number");
        assert_eq!(i32::from_be_bytes(code), 9104);
    });
}

#[test]
fn trickling_test_loses_its_slot() {
    let patient = Config { idle_timeout: Nanos::from_secs(2), ..with(|limits| limits.clients = 1) };
    let trickle = |mut stream: &TcpStream, reverse: bool| match reverse {
        false => stream.write_all(b"x").is_ok(),
        true => stream.read(&mut [0]).is_ok_and(|read| read > 0),
    };
    for reverse in [false, true] {
        with_server(&patient, |server| {
            let params =
                Params { tcp: true, time: 60, parallel: Some(1), len: 1000, reverse, ..Params::default() };
            let (mut control, cookie, reply) = asks_for(server, 66, &params);
            assert_eq!(reply, Some(10));
            let mut stream = from(server, 66);
            stream.write_all(cookie.as_bytes()).expect("the server listens");
            assert_eq!([next(&mut control), next(&mut control)], [Some(1), Some(2)]);
            let (trickling, given_up) = (stream.try_clone().expect("a descriptor"), AtomicBool::new(false));
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..100 {
                        if given_up.load(Ordering::Relaxed) || !trickle(&trickling, reverse) {
                            return;
                        }
                        std::thread::sleep(Duration::from_millis(200));
                    }
                });
                let (_, ended) = server.ended();
                given_up.store(true, Ordering::Relaxed);
                let failure = ended.failure.expect("it was ended");
                assert!(failure.contains("64.0 KiB"), "{reverse}: {failure}");
            });
            drop((stream, trickling));
            succeeds(start(server, &["-n", "1M"]));
        });
    }
}

#[test]
fn connection_flood_does_not_drop_silent_client_of_another_address() {
    with_server(&with(|_| ()), |server| {
        // Sockperf's client is silent for two seconds after connecting.
        let mut honest = from(server, 1);
        let flood: Vec<_> = (0..1100).map(|_| from(server, 66)).collect();
        assert_eq!(server.refused(), Refusal::ConnectionLimit);
        honest.write_all(&SOCKPERF).expect("the server listens");
        assert_eq!(honest.read(&mut [0; 14]).ok(), Some(14), "the server replies");
        drop(flood);
    });
}

fn unsent(server: &TestServer) -> u64 {
    let sockets = std::fs::read_to_string("/proc/thread-self/net/tcp").expect("the kernel has TCP");
    let port = format!(":{:04X}", server.address.port());
    let of = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let is_ours = fields.next()?.ends_with(&port);
        let queued = fields.nth(2)?.split_once(':')?.0;
        is_ours.then(|| u64::from_str_radix(queued, 16).ok())?
    };
    sockets.lines().filter_map(of).sum()
}

#[test]
fn limits_send_buffers_of_clients_that_do_not_read() {
    const STREAMS: u8 = 32;
    let test =
        Params { tcp: true, reverse: true, time: 60, parallel: Some(STREAMS.into()), ..Params::default() };
    let attacks = [
        Params { zerocopy: true, ..test.clone() },
        Params { reverse: false, bidirectional: true, ..test.clone() },
        Params { window: 100_000, ..test.clone() },
        test,
    ];
    for params in attacks {
        with_server(&with(|_| ()), |server| {
            let attack = |last| {
                let (mut control, cookie, state) = asks_for(server, last, &params);
                assert_eq!(state, Some(10));
                let stream = |_| {
                    let mut stream = from(server, last);
                    stream.write_all(cookie.as_bytes()).expect("the server listens");
                    stream
                };
                let streams: Vec<_> = params.streams().iter().map(stream).collect();
                assert_eq!([next(&mut control), next(&mut control)], [Some(1), Some(2)]);
                (control, streams)
            };
            let open: Vec<_> = (60..64).map(attack).collect();
            let (mut most, mut same) = (0, 0);
            while same < 10 {
                std::thread::sleep(Duration::from_millis(100));
                let now = unsent(server);
                same = if now > most { 0 } else { same + 1 };
                most = most.max(now);
            }
            // The kernel completes a write even if the write exceeds the buffer.
            let exceeding = 4 * u64::from(STREAMS) * (128 << 10);
            let budget = 16 * sys::socket::largest_send_buffer() as u64;
            assert!((1..=budget + exceeding).contains(&most), "{most} of {budget}: {params:?}");
            assert_eq!(asks_for(server, 1, &params).2, Some(10), "other addresses are served");
            drop(open);
        });
    }
}

#[test]
fn addresses_take_turns_in_the_queue() {
    let config = Config { queue: true, ..with(|_| ()) };
    with_server(&config, |server| {
        let params = Params { tcp: true, time: 1, parallel: Some(1), ..Params::default() };
        let first = asks_for(server, 66, &params);
        assert_eq!(first.2, Some(10));
        let waiting: Vec<_> = (0..3).map(|_| queued(server, 66, &params)).collect();
        let mut honest = queued(server, 1, &params);
        drop(first);
        assert_eq!(next(&mut honest), Some(10), "served before the other address's waiting tests");
        drop(waiting);
    });
}

fn queued(server: &TestServer, last: u8, params: &Params) -> TcpStream {
    let mut control = from(server, last);
    control.write_all(cookie().as_bytes()).expect("the server listens");
    assert_eq!(next(&mut control), Some(9));
    let params = serde_json::to_vec(params).expect("JSON");
    let length = u32::try_from(params.len()).expect("short").to_be_bytes();
    control.write_all(&[&length[..], &params].concat()).expect("the server listens");
    server.wait(|received| matches!(received, super::TestEvent::Waits).then_some(()));
    control
}
