//! Checks that hostile peers do not disturb the server. Runs in a separate process, so that all memory, threads and
//! descriptors belong to the server.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{SocketAddr, TcpStream, UdpSocket},
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use codecs::iperf3::{Cookie, Params};
use plumb_tests::bring_loopback_up;
use server::{Config, Event, Watcher, serve};
use socket2::{Domain, Socket, Type};
use sys::netns::NetNs;
use traffic::Stop;

const HELD: usize = 1000;
const THREADS: u64 = 2;
/// The maximum growth in bytes: less than 17 bytes for each of a million connections.
const GROWTH: u64 = 16 << 20;
const OF_ADDRESS: u64 = 256 << 20;
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn server_survives_twenty_thousand_invalid_clients() {
    survives(20_000);
}

/// `cargo test --release -p server --test strangers -- --ignored --nocapture`
#[test]
#[ignore = "takes several minutes"]
fn server_survives_a_million_invalid_clients() {
    survives(1_000_000);
}

struct Counter {
    refused: AtomicU64,
    listening: Mutex<mpsc::Sender<SocketAddr>>,
}

impl Watcher for Counter {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Listening { addresses, .. } => {
                self.listening.lock().expect("no panic").send(addresses[0]).expect("the test waits");
            }
            Event::Refused { .. } => {
                self.refused.fetch_add(1, Ordering::Relaxed);
            }
            Event::MoreRefused { count } => {
                self.refused.fetch_add(count, Ordering::Relaxed);
            }
            Event::Trouble { error } => panic!("{error}"),
            _ => {}
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Taken {
    memory: u64,
    threads: usize,
    descriptors: usize,
}

impl Taken {
    fn now() -> Self {
        let statm = std::fs::read_to_string("/proc/self/statm").expect("procfs");
        let pages: u64 = statm.split(' ').nth(1).expect("a second field").parse().expect("a number");
        let count = |of: &str| std::fs::read_dir(of).expect("procfs").count();
        Self { memory: pages * 4096, threads: count("/proc/self/task"), descriptors: count("/proc/self/fd") }
    }
}

/// Without the limit, sixteen clients with the maximum number of streams could use more than a gigabyte.
#[test]
#[expect(clippy::disallowed_macros, reason = "prints test results")]
fn limits_memory_of_unread_streams_per_address() {
    let asked = Params { tcp: true, time: 600, parallel: Some(64), len: 1 << 20, ..Params::default() };
    for params in [
        Params { reverse: true, ..asked.clone() },
        Params { bidirectional: true, ..asked.clone() },
        Params { reverse: true, zerocopy: true, ..asked.clone() },
        Params { reverse: true, parallel: Some(128), len: 512 << 10, ..asked },
    ] {
        with_running_server(|address, _| {
            let before = Taken::now();
            let clients: Vec<_> = (0..16).filter_map(|number| greedy(address, number, &params)).collect();
            assert!(clients.len() >= 2, "served within its budget: {}", clients.len());
            let mut after = Taken::now();
            for _ in 0..10 {
                thread::sleep(Duration::from_millis(100));
                after.memory = after.memory.max(Taken::now().memory);
            }
            eprintln!("{} tests of {}: {before:?}, then {after:?}", clients.len(), params.streams().len());
            assert!(after.memory < before.memory + OF_ADDRESS, "{before:?} {after:?}");
            drop(clients);
        });
    }
}

#[test]
fn accepts_end_of_test_after_the_streams_ended() {
    let params = Params { tcp: true, time: 600, parallel: Some(1), len: 1 << 10, ..Params::default() };
    with_running_server(|address, _| {
        let mut sockets = greedy(address, 0, &params).expect("accepted");
        let mut control = sockets.pop().expect("the control connection");
        drop(sockets);
        thread::sleep(Duration::from_secs(2));
        control.write_all(&[4]).expect("the server listens");
        let mut state = [0];
        control.read_exact(&mut state).expect("a reply");
        assert_eq!(state, [13], "results are exchanged");
    });
}

fn greedy(address: SocketAddr, number: u8, params: &Params) -> Option<Vec<TcpStream>> {
    let cookie = Cookie::from_entropy(std::array::from_fn(|byte| number.wrapping_mul(31) ^ byte as u8));
    let send = |words: &[u8]| {
        let mut socket = TcpStream::connect(address).expect("the server listens");
        socket.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        socket.write_all(words).expect("the server listens");
        socket
    };
    let next = |socket: &mut TcpStream| {
        let mut state = [0];
        socket.read_exact(&mut state).ok().map(|()| state[0])
    };
    let mut control = send(cookie.as_bytes());
    assert_eq!(next(&mut control)?, 9, "the server requests parameters");
    let text = serde_json::to_vec(params).expect("JSON");
    let length = u32::try_from(text.len()).expect("short").to_be_bytes();
    control.write_all(&[&length[..], &text].concat()).ok()?;
    (next(&mut control)? == 10).then_some(())?;
    let mut all: Vec<_> = params.streams().iter().map(|_| send(cookie.as_bytes())).collect();
    assert_eq!([next(&mut control), next(&mut control)], [Some(1), Some(2)], "the test starts");
    all.push(control);
    Some(all)
}

fn survives(strangers: u64) {
    with_running_server(|address, counter| {
        let (base, after, came) = crowd(address, strangers);
        let turned_away = settle(|| counter.refused.load(Ordering::Relaxed), |refused| *refused >= came);
        #[expect(clippy::disallowed_macros, reason = "prints test results")]
        {
            eprintln!("{came} clients, {turned_away} refused: {base:?}, then {after:?}");
        }
        assert_eq!(turned_away, came, "all clients are refused once");
    });
}

#[expect(clippy::disallowed_macros, reason = "prints the reason for skipping")]
fn with_running_server(work: impl FnOnce(SocketAddr, &Counter) + Send) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ns = match NetNs::create("the test") {
        Ok(ns) => ns,
        Err(error) => return eprintln!("returns early: {error}"),
    };
    let inside = || {
        bring_loopback_up();
        let (listening, address) = mpsc::channel();
        let counter = Counter { refused: AtomicU64::new(0), listening: Mutex::new(listening) };
        let (config, stop) = (Config::new(vec![SocketAddr::from(([127, 0, 0, 1], 0))]), Stop::new());
        thread::scope(|scope| {
            let serving = scope.spawn(|| serve(&config, &stop, &counter));
            let ends = Ends(stop.clone());
            work(address.recv_timeout(Duration::from_secs(10)).expect("the server listens"), &counter);
            drop(ends);
            serving.join().expect("no panic").expect("the server runs until stopped");
        });
    };
    ns.run_in(inside).expect("enters its own namespace");
}

struct Ends(Stop);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ask();
    }
}

fn crowd(address: SocketAddr, strangers: u64) -> (Taken, Taken, u64) {
    serves(address);
    let few = flood(address, 4000) + datagrams(address);
    let base = settle(Taken::now, |taken| taken.descriptors < 40);
    let came = thread::scope(|scope| {
        let flood = scope.spawn(|| flood(address, strangers));
        while !flood.is_finished() {
            serves(address);
        }
        flood.join().expect("no panic")
    });
    serves(address);
    let like = |taken: &Taken| taken.threads <= base.threads && taken.descriptors <= base.descriptors;
    let after = settle(Taken::now, like);
    assert!(like(&after), "{base:?} {after:?}");
    assert!(after.memory < base.memory + GROWTH, "{base:?} {after:?}");
    (base, after, came + few)
}

fn settle<T>(look: impl Fn() -> T, wanted: impl Fn(&T) -> bool) -> T {
    let started = Instant::now();
    loop {
        let state = look();
        if wanted(&state) || started.elapsed() > Duration::from_secs(30) {
            return state;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn serves(address: SocketAddr) {
    let (ip, port) = (address.ip().to_string(), address.port().to_string());
    let output = Command::new("iperf3").args(["-c", &ip, "-p", &port, "-n", "1M"]).output();
    let output = output.expect("iperf3 is installed");
    assert!(output.status.success(), "{output:?}");
}

fn flood(address: SocketAddr, strangers: u64) -> u64 {
    let one = |thread: u64| {
        let mut open = VecDeque::with_capacity(HELD);
        for number in (thread..strangers).step_by(THREADS as usize) {
            if open.len() == HELD {
                open.pop_front();
            }
            open.extend(stranger(address, number));
        }
    };
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || one(thread));
        }
    });
    strangers
}

fn stranger(address: SocketAddr, number: u64) -> Option<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a descriptor");
    socket.set_linger(Some(Duration::ZERO)).expect("a socket");
    let [_, a, b, c] = (number as u32 % 0xFF_FFF0 + 2).to_be_bytes();
    socket.bind(&SocketAddr::from(([127, a, b, c], 0)).into()).expect("loopback has 2^24 addresses");
    socket.connect(&address.into()).expect("the server listens");
    let mut socket = TcpStream::from(socket);
    let cookie = [b'q'; 36].iter().copied().chain([0]).collect::<Vec<_>>();
    let request: &[u8] = match number % 10 {
        0 => b"GET / HTTP/1.1\r\nHost: plumb\r\n\r\n",
        1 => &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc],
        2 | 3 => b"",
        4 => b"q",
        // Either a parameter length of 4 GiB or truncated parameters.
        5 => &[&cookie[..], &[0xff; 200]].concat(),
        6 => &[&cookie[..], &[0, 0, 0xf0, 0, b'{']].concat(),
        7 => &[&b"plumbtrf"[..], &[0; 24]].concat(),
        8 => &[0, 0, 0, 0, 0, 0, 0, 1, 0, 3, 0xff, 0xff, 0xff, 0xff],
        _ => return None,
    };
    // The server may already have closed the connection.
    let _ = socket.write_all(request);
    if number % 10 == 5 {
        let _ = socket.set_read_timeout(Some(Duration::from_secs(10)));
        while matches!(socket.read(&mut [0; 64]), Ok(1..)) {}
    }
    Some(socket)
}

fn datagrams(address: SocketAddr) -> u64 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a socket");
    for number in 0..100_u8 {
        socket.send_to(&[number; 40], address).expect("loopback");
        thread::sleep(Duration::from_millis(1));
    }
    assert!(socket.recv(&mut [0; 64]).is_err(), "no reply");
    1
}
