//! The ends of a ping-pong: whole messages out and in. Must not know what they say.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    time::Duration,
};

use workload::Transport;

/// How long anything may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A connected socket.
pub(super) enum Line {
    Udp(UdpSocket),
    Tcp(TcpStream),
}

/// Where the server awaits its client.
pub(super) enum Door {
    Udp(UdpSocket),
    Tcp(TcpListener),
}

impl Door {
    pub(super) fn open(transport: Transport, port: u16) -> Self {
        let here = (Ipv4Addr::UNSPECIFIED, port);
        match transport {
            Transport::Udp => Self::Udp(UdpSocket::bind(here).expect("a free port")),
            Transport::Tcp => Self::Tcp(TcpListener::bind(here).expect("a free port")),
        }
    }

    /// The next connection; of UDP the one that there is, whose first message stays to be received.
    pub(super) fn next(&self) -> Line {
        match self {
            Self::Udp(socket) => {
                let socket = socket.try_clone().expect("a descriptor");
                socket.set_read_timeout(Some(PATIENCE)).expect("any socket");
                let (_, peer) = socket.peek_from(&mut [0]).expect("the first message comes");
                socket.connect(peer).expect("it came from there");
                Line::Udp(socket)
            }
            Self::Tcp(listener) => Line::tcp(listener.accept().expect("the client connects").0),
        }
    }
}

impl Line {
    pub(super) fn to(transport: Transport, server: SocketAddr) -> Self {
        match transport {
            Transport::Udp => {
                let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("any port");
                socket.connect(server).expect("a route");
                Self::Udp(socket)
            }
            Transport::Tcp => Self::tcp(TcpStream::connect(server).expect("the server listens")),
        }
    }

    fn tcp(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("any connection");
        Self::Tcp(stream)
    }

    /// How long a receive may take; without it asks again and again instead of sleeping.
    pub(super) fn wait(&self, time: Option<Duration>) {
        let (time, spin) = (time.or(Some(PATIENCE)), time.is_none());
        match self {
            Self::Udp(socket) => socket.set_read_timeout(time).and_then(|()| socket.set_nonblocking(spin)),
            Self::Tcp(stream) => stream.set_read_timeout(time).and_then(|()| stream.set_nonblocking(spin)),
        }
        .expect("any socket");
    }

    pub(super) fn send(&mut self, bytes: &[u8]) {
        match self {
            Self::Udp(socket) => assert_eq!(socket.send(bytes).expect("a route"), bytes.len()),
            Self::Tcp(stream) => stream.write_all(bytes).expect("the peer is there"),
        }
    }

    /// Whether a whole message came in time.
    pub(super) fn receive(&mut self, bytes: &mut [u8], spin: bool) -> bool {
        let mut got = 0;
        while got < bytes.len() {
            let more = match self {
                Self::Udp(socket) => socket.recv(&mut bytes[got..]),
                Self::Tcp(stream) => stream.read(&mut bytes[got..]),
            };
            match more {
                Ok(0) => panic!("the peer has gone"),
                Ok(more) => got += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock && spin => {}
                // Whoever was stopped for a while and goes on is told so by a call with a time limit. See signal(7).
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // The second is the kernel's word about a datagram to a client that has gone meanwhile.
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionRefused) =>
                {
                    return false;
                }
                Err(error) => panic!("{error}"),
            }
        }
        true
    }
}
