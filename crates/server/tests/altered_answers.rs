//! A peer that flips bits in the sequence numbers of its replies.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::Duration,
};

use codecs::sockperf;
use plumb_tests::{in_one_of_five, on_loopback};
use server::sockperf::{ClientSpec, run_client as run_sockperf};
use traffic::{
    Stop,
    dial::give_go,
    handshake::LENGTH,
    ping_pong::{Greeting, GreetingKind},
    run_client,
};
use units::{Bytes, Nanos};
use workload::{Measurement, PingPongData, PingPongSettings, Schedule, Transport, WorkloadSettings};

const HERE: &str = "127.0.0.1";
const SIZE: usize = 64;
/// One altered message in the warm-up and one in the measurement. Flipping a bit never turns one number into the
/// other.
const ALTERED: [u64; 2] = [5, 20];
const WARMING: u64 = 10;
const MEASURED: u64 = 50;
const PERIOD: Nanos = Nanos::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Protocol {
    Native,
    Sockperf,
}

#[derive(Clone, Copy)]
struct Altering {
    protocol: Protocol,
    numbers: [u64; 2],
    bit: usize,
    size: usize,
}

impl Altering {
    fn answer(self, message: &mut [u8]) {
        if self.protocol == Protocol::Sockperf {
            assert_eq!(sockperf::answer(message), sockperf::Reply::Answer);
        }
        let fits = message.len().min(8);
        let mut number = [0; 8];
        number[8 - fits..].copy_from_slice(&message[..fits]);
        if self.numbers.contains(&u64::from_be_bytes(number)) {
            message[fits - 1 - self.bit / 8] ^= 1 << (self.bit % 8);
        }
    }

    fn serve(self, transport: Transport) -> SocketAddr {
        match transport {
            Transport::Tcp => {
                let listener = TcpListener::bind((HERE, 0)).expect("loopback");
                let address = listener.local_addr().expect("bound");
                thread::spawn(move || self.over_tcp(&listener.accept().expect("a connection").0));
                address
            }
            Transport::Udp => {
                let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
                let address = socket.local_addr().expect("bound");
                thread::spawn(move || self.over_udp(&socket));
                address
            }
        }
    }

    fn over_tcp(self, mut socket: &TcpStream) {
        socket.set_nodelay(true).expect("TCP");
        if self.protocol == Protocol::Native {
            socket.read_exact(&mut [0; LENGTH]).expect("a handshake");
            give_go(socket, "the client").expect("the client waits");
        }
        let mut message = vec![0; self.size];
        while socket.read_exact(&mut message).is_ok() {
            self.answer(&mut message);
            if socket.write_all(&message).is_err() {
                return;
            }
        }
    }

    fn over_udp(self, socket: &UdpSocket) {
        socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
        let mut bytes = [0; 2048];
        while let Ok((length, client)) = socket.recv_from(&mut bytes) {
            let message = &mut bytes[..length];
            let answer = match Greeting::decode(message).filter(|_| self.protocol == Protocol::Native) {
                Some(greeting) => greeting.with(GreetingKind::Welcomes).encode().to_vec(),
                None if length == self.size => {
                    self.answer(message);
                    message.to_vec()
                }
                None => message.to_vec(),
            };
            let _ = socket.send_to(&answer, client);
        }
    }
}

fn measured(load: &PingPongSettings, altering: Altering) -> PingPongData {
    let server = altering.serve(load.transport);
    let stop = Stop::new();
    let load = load.clone();
    match altering.protocol {
        Protocol::Native => {
            let load = WorkloadSettings::PingPong(load);
            let spec = traffic::ClientSpec {
                token: 0xFEED_0000_0000_0042,
                bind: server.ip(),
                server,
                load,
                cpus: None,
            };
            let outcome = run_client(&spec, &stop, &()).expect("the test completes");
            let Measurement::PingPong(data) = outcome.measured.alone() else { panic!("a ping-pong") };
            data
        }
        Protocol::Sockperf => {
            let spec = ClientSpec { server, bind: None, load, cpus: None };
            run_sockperf(&spec, &stop, &()).expect("the test completes").measured.alone()
        }
    }
}

fn sent_as(protocol: Protocol, messages: [u64; 2]) -> [u64; 2] {
    messages.map(|number| if protocol == Protocol::Sockperf { number + 2 } else { number })
}

fn check_all(bits: usize, check: impl Fn(Protocol, Transport, usize) + Sync, protocols: &[Protocol]) {
    for protocol in protocols {
        for transport in [Transport::Udp, Transport::Tcp] {
            let done = on_loopback(|| {
                thread::scope(|scope| {
                    for bit in 0..bits {
                        let check = &check;
                        scope.spawn(move || in_one_of_five(|| check(*protocol, transport, bit)));
                    }
                });
            });
            if done.is_none() {
                return;
            }
        }
    }
}

#[test]
fn open_loop_ignores_replies_with_altered_numbers() {
    check_all(64, an_open_loop, &[Protocol::Native, Protocol::Sockperf]);
}

fn an_open_loop(protocol: Protocol, transport: Transport, bit: usize) {
    let load = PingPongSettings {
        transport,
        message: Bytes(SIZE as u64),
        schedule: Schedule::Open { period: PERIOD },
        warmup: Nanos(WARMING * PERIOD.0),
        ..PingPongSettings::new(Nanos(MEASURED * PERIOD.0))
    };
    let altering = Altering { protocol, numbers: sent_as(protocol, ALTERED), bit, size: SIZE };
    let data = measured(&load, altering);
    let case = format!("{protocol:?} {transport:?} bit {bit}: {data:?}");
    let (came, lost) = (data.round_trips.count(), data.lost);
    assert_eq!((came, lost), (MEASURED - 1, Some(1)), "{case}");
    let all = data.intervals.iter().map(|interval| interval.round_trips.count() + interval.lost);
    // Messages that time out after the warm-up are not counted as lost during the warm-up.
    assert_eq!(all.sum::<u64>(), WARMING + MEASURED - 1, "{case}");
    // An altered number belongs to a message that was sent earlier or will be sent later.
    let (strays, duplicates) = (data.strays.expect("counted"), data.duplicates.expect("counted"));
    assert_eq!(strays + duplicates, 2, "{case}");
    if 1_u64.unbounded_shl(bit as u32) >= 2 * (WARMING + MEASURED) {
        assert_eq!((strays, duplicates), (2, 0), "{case}");
    }
    // A time computed from an altered number would be zero or absurd.
    let times = &data.open_loop.as_ref().expect("open-loop results").since_intended;
    assert_eq!(times.count(), MEASURED - 1, "{case}");
    for times in [times, &data.round_trips] {
        assert!(times.min() > Some(Nanos(0)) && times.max() < Some(Nanos::from_secs(5)), "{case}");
    }
}

#[test]
fn closed_loop_ignores_replies_with_altered_numbers() {
    check_all(
        64,
        |protocol, transport, bit| closed_loop(protocol, transport, bit, SIZE),
        &[Protocol::Native, Protocol::Sockperf],
    );
    // A message too short for the full number contains its lowest bits.
    check_all(8, |protocol, transport, bit| closed_loop(protocol, transport, bit, 1), &[Protocol::Native]);
}

fn closed_loop(protocol: Protocol, transport: Transport, bit: usize, size: usize) {
    let load = PingPongSettings {
        transport,
        message: Bytes(size as u64),
        warmup: Nanos(0),
        ..PingPongSettings::new(Nanos::from_millis(50))
    };
    let numbers = sent_as(protocol, [ALTERED[0]; 2]);
    let data = measured(&load, Altering { protocol, numbers, bit, size });
    let case = format!("{protocol:?} {transport:?} {size} B bit {bit}: {data:?}");
    // The client waits a second for the reply, longer than the test itself takes.
    assert_eq!((data.round_trips.count(), data.lost), (ALTERED[0], Some(1)), "{case}");
    let named = numbers[0] ^ 1_u64 << bit;
    let expected = if named > numbers[0] { (1, 0) } else { (0, 1) };
    assert_eq!((data.strays, data.duplicates), (Some(expected.0), Some(expected.1)), "{case}");
    assert!(data.round_trips.min() > Some(Nanos(0)), "{case}");
}

#[test]
fn counts_triplicate_replies_once() {
    for transport in [Transport::Udp, Transport::Tcp] {
        for schedule in [Schedule::Closed, Schedule::Open { period: PERIOD }] {
            in_one_of_five(|| thrice(transport, schedule));
        }
    }
}

fn tripling(transport: Transport) -> SocketAddr {
    match transport {
        Transport::Tcp => {
            let listener = TcpListener::bind((HERE, 0)).expect("loopback");
            let address = listener.local_addr().expect("bound");
            thread::spawn(move || {
                let (mut socket, _) = listener.accept().expect("a connection");
                let mut message = [0; SIZE];
                while socket.read_exact(&mut message).is_ok() {
                    let _ = sockperf::answer(&mut message);
                    if socket.write_all(&message.repeat(3)).is_err() {
                        return;
                    }
                }
            });
            address
        }
        Transport::Udp => {
            let socket = UdpSocket::bind((HERE, 0)).expect("loopback");
            let address = socket.local_addr().expect("bound");
            socket.set_read_timeout(Some(Duration::from_secs(5))).expect("a timeout");
            thread::spawn(move || {
                let mut message = [0; SIZE];
                while let Ok((length, client)) = socket.recv_from(&mut message) {
                    let _ = sockperf::answer(&mut message);
                    (0..3).for_each(|_| drop(socket.send_to(&message[..length], client)));
                }
            });
            address
        }
    }
}

fn thrice(transport: Transport, schedule: Schedule) {
    let load = PingPongSettings {
        transport,
        schedule,
        warmup: Nanos(0),
        message: Bytes(SIZE as u64),
        ..PingPongSettings::new(Nanos(MEASURED * PERIOD.0))
    };
    let Some(data) = on_loopback(|| {
        let spec = ClientSpec { server: tripling(transport), bind: None, load: load.clone(), cpus: None };
        run_sockperf(&spec, &Stop::new(), &()).expect("runs").measured.alone()
    }) else {
        return;
    };
    let case = format!("{transport:?} {schedule:?}: {data:?}");
    let came = data.round_trips.count();
    assert_eq!((data.strays, data.lost), (Some(0), Some(0)), "{case}");
    if let Schedule::Open { .. } = schedule {
        assert_eq!(came, MEASURED, "{case}");
    }
    // Extra replies to the initial message may be counted. Extra replies to the last message arrive too late.
    let duplicates = data.duplicates.expect("counted");
    assert!((2 * (came - 1)..=2 * (came + 1)).contains(&duplicates), "{duplicates} of {came}: {case}");
}
