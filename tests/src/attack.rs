//! Simulates hostile clients with ten kinds of connections from fifty addresses at a steady rate.

use std::{
    collections::VecDeque,
    io,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    thread,
    time::{Duration, Instant},
};

use socket2::{Domain, Protocol, Socket, Type};

pub const SOURCES: u8 = 50;

/// The maximum number of open connections. Each new connection beyond this closes the oldest.
const HELD: usize = 4000;

/// Returned by a non-blocking connect(2).
const IN_PROGRESS: i32 = 115;

pub const fn source(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, 1, number + 1)
}

struct Kind {
    says: &'static [u8],
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Closed,
    Reset,
    Held,
    Datagram,
}

const GARBAGE: &[u8] = &[0xa5; 64];
const COOKIE: &[u8] = b"abcdefghijklmnopqrstuvwxyz234567abcd\0";
const SOCKPERF: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x7f, 0xff, 0xff, 0xff];

const KINDS: [Kind; 10] = [
    Kind { says: b"", end: End::Closed },
    Kind { says: b"", end: End::Reset },
    Kind { says: b"", end: End::Held },
    Kind { says: b"a", end: End::Held },
    Kind { says: GARBAGE, end: End::Reset },
    Kind { says: b"GET / HTTP/1.1\r\nHost: plumb\r\n\r\n", end: End::Held },
    Kind { says: COOKIE, end: End::Held },
    Kind { says: b"plumbtrf", end: End::Held },
    Kind { says: SOCKPERF, end: End::Closed },
    Kind { says: GARBAGE, end: End::Datagram },
];

pub fn attack(server: SocketAddrV4, rate: u32, lasts: Duration) -> io::Result<u64> {
    sys::limits::raise_open_files().map_err(io::Error::other)?;
    let mut held = VecDeque::with_capacity(HELD);
    let (begin, mut tried, mut made) = (Instant::now(), 0, 0);
    while begin.elapsed() < lasts {
        let due = (begin.elapsed().as_secs_f64() * f64::from(rate)) as u64;
        for number in tried..due {
            let kind = &KINDS[(number % KINDS.len() as u64) as usize];
            let from = source((number / KINDS.len() as u64 % u64::from(SOURCES)) as u8);
            let (socket, begun) = kind.connect(from, server)?;
            made += u64::from(begun);
            if kind.end == End::Held {
                if held.len() == HELD {
                    held.pop_front();
                }
                held.push_back(socket);
            }
        }
        tried = due;
        thread::sleep(Duration::from_millis(1));
    }
    Ok(made)
}

impl Kind {
    /// Starts a connection and sends its bytes. Dropping the socket ends the connection. Returns only whether the
    /// connection started, because the server reacts later.
    fn connect(&self, from: Ipv4Addr, server: SocketAddrV4) -> io::Result<(Socket, bool)> {
        let (kind, protocol) = match self.end {
            End::Datagram => (Type::DGRAM, Protocol::UDP),
            _ => (Type::STREAM, Protocol::TCP),
        };
        let socket = Socket::new(Domain::IPV4, kind, Some(protocol))?;
        socket.set_nonblocking(true)?;
        socket.set_reuse_address(true)?;
        if self.end == End::Reset {
            socket.set_linger(Some(Duration::ZERO))?;
        }
        socket.bind(&SocketAddr::from((from, 0)).into())?;
        let begun = match socket.connect(&server.into()) {
            Ok(()) => true,
            Err(error) => error.raw_os_error() == Some(IN_PROGRESS),
        };
        if !self.says.is_empty() {
            let _ = socket.send(self.says);
        }
        Ok((socket, begun))
    }
}
