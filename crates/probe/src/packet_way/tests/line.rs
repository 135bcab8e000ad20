//! Sockets that send and receive whole messages of a ping-pong.

use std::{
    io::{ErrorKind, Read, Write},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    time::Duration,
};

use workload::Transport;

pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) enum Line {
    Udp(UdpSocket),
    Tcp(TcpStream),
}

pub(super) enum Listener {
    Udp(UdpSocket),
    Tcp(TcpListener),
}

impl Listener {
    pub(super) fn open(transport: Transport, server: IpAddr, port: u16) -> Self {
        let here = (server, port);
        match transport {
            Transport::Udp => Self::Udp(UdpSocket::bind(here).expect("a free port")),
            Transport::Tcp => Self::Tcp(TcpListener::bind(here).expect("a free port")),
        }
    }

    /// Opens another connection. Over UDP, there is only one connection, and its first message remains in the queue.
    pub(super) fn next(&self) -> Line {
        match self {
            Self::Udp(socket) => {
                let socket = socket.try_clone().expect("a descriptor");
                socket.set_read_timeout(Some(PATIENCE)).expect("any socket");
                let (_, peer) = socket.peek_from(&mut [0]).expect("first message");
                socket.connect(peer).expect("address of the peer");
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
                let any = if server.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
                let socket = UdpSocket::bind(any).expect("any port");
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
            Self::Tcp(stream) => stream.write_all(bytes).expect("connected peer"),
        }
    }

    pub(super) fn receive(&mut self, bytes: &mut [u8], spin: bool) -> bool {
        let mut got = 0;
        while got < bytes.len() {
            let more = match self {
                Self::Udp(socket) => socket.recv(&mut bytes[got..]),
                Self::Tcp(stream) => stream.read(&mut bytes[got..]),
            };
            match more {
                Ok(0) => panic!("the peer closed the connection"),
                Ok(more) => got += more,
                Err(error) if error.kind() == ErrorKind::WouldBlock && spin => {}
                // A call with a timeout returns EINTR when a stopped process continues, see signal(7).
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // ECONNREFUSED: an earlier datagram went to a client that has exited.
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
