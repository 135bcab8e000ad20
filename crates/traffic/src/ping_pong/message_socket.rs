//! Sends and receives whole messages. Over TCP, messages are delimited only by their length.

use std::{
    io::{self, Read, Write},
    net::{TcpStream, UdpSocket},
    os::fd::{AsFd, BorrowedFd},
};

use sys::socket::recv_spinning;
use workload::{SocketFacts, Waiting};

use crate::{
    error::{Error, Result},
    refused::RefusalCode,
    socket::{is_dropped, is_wait, tcp_facts, udp_facts},
};

/// The number of polls per wait of a spinning thread, about ten microseconds in total. The thread never yields,
/// because yielding would delay it on a busy CPU.
const LOOKS: u32 = 64;
const LONGEST: usize = 65_535;

#[derive(Debug)]
pub struct MessageSocket {
    socket: Carrier,
    waiting: Waiting,
    name: String,
}

#[derive(Debug)]
pub enum Carrier {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

pub struct Inbox {
    bytes: Vec<u8>,
    message: Option<usize>,
    from: usize,
    to: usize,
}

pub enum Arrival<'a> {
    Message(&'a [u8]),
    End,
    Nothing,
}

impl MessageSocket {
    pub fn new(socket: Carrier, waiting: Waiting, name: String) -> Self {
        Self { socket, waiting, name }
    }

    pub(crate) fn thread_name(&self, what: &str) -> String {
        let transport = match self.socket {
            Carrier::Tcp(_) => "tcp",
            Carrier::Udp(_) => "udp",
        };
        format!("{transport} {what}")
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub const fn is_stream(&self) -> bool {
        matches!(self.socket, Carrier::Tcp(_))
    }

    pub(crate) const fn stream(&self) -> Option<&TcpStream> {
        match &self.socket {
            Carrier::Tcp(socket) => Some(socket),
            Carrier::Udp(_) => None,
        }
    }

    pub fn inbox(&self, length: Option<usize>) -> Inbox {
        let message = length.filter(|_| self.is_stream());
        let room = message.unwrap_or(0).max(LONGEST);
        Inbox { bytes: vec![0; room], message, from: 0, to: 0 }
    }

    /// Calls `wait` whenever a stream's buffer was full for a whole timeout. Without buffer space, a datagram is
    /// dropped, as could happen anywhere on the path.
    #[inline]
    pub fn send(&self, bytes: &[u8], wait: impl Fn() -> Result<()>) -> Result<()> {
        match &self.socket {
            Carrier::Udp(socket) => match socket.send(bytes) {
                Ok(_) => Ok(()),
                Err(error) if is_wait(&error) || is_dropped(&error) => Ok(()),
                Err(error) => Err(self.failed("send on")(error)),
            },
            Carrier::Tcp(socket) => self.write(socket, bytes, wait),
        }
    }

    #[inline]
    fn write(&self, mut socket: &TcpStream, bytes: &[u8], wait: impl Fn() -> Result<()>) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            match socket.write(&bytes[done..]) {
                Ok(written) => done += written,
                Err(error) if is_wait(&error) => wait()?,
                Err(error) => return Err(self.failed("send on")(error)),
            }
        }
        Ok(())
    }

    /// Waits only once, so that single bytes from a peer cannot delay the caller's clock checks.
    #[inline]
    pub fn receive<'a>(&self, inbox: &'a mut Inbox) -> io::Result<Arrival<'a>> {
        if !inbox.has_message() {
            match self.wait(inbox.room()) {
                Ok(0) if self.is_stream() => return inbox.end(),
                Ok(0) => return Ok(Arrival::Message(&[])),
                Ok(got) => inbox.to += got,
                Err(error) if is_wait(&error) || is_dropped(&error) => return Ok(Arrival::Nothing),
                Err(error) => return Err(error),
            }
        }
        Ok(if inbox.has_message() { Arrival::Message(inbox.take()) } else { Arrival::Nothing })
    }

    #[inline]
    fn wait(&self, room: &mut [u8]) -> io::Result<usize> {
        match (self.waiting, &self.socket) {
            (Waiting::Block, Carrier::Tcp(socket)) => (&mut &*socket).read(room),
            (Waiting::Block, Carrier::Udp(socket)) => socket.recv(room),
            (Waiting::Spin, _) => recv_spinning(self, room, LOOKS),
        }
    }

    pub(crate) fn facts(&self, cpus: Option<&[u32]>) -> SocketFacts {
        match &self.socket {
            Carrier::Tcp(socket) => tcp_facts(socket, cpus),
            Carrier::Udp(socket) => udp_facts(socket, cpus),
        }
    }

    /// Makes close(2) send a reset, because the peer would mistake a normal close for a regular end.
    pub(crate) fn abort(&self) -> Result<()> {
        self.stream().map_or(Ok(()), |socket| Ok(sys::socket::set_linger_zero(socket)?))
    }

    pub(crate) fn ended(&self, reason: RefusalCode) -> Error {
        Error::Ended { object: self.name.clone(), reason }
    }

    pub(crate) fn broken(&self) -> impl FnOnce(io::Error) -> Error + use<'_> {
        |error| match error.kind() {
            io::ErrorKind::ConnectionReset | io::ErrorKind::UnexpectedEof if self.is_stream() => {
                self.ended(RefusalCode::Unspecified)
            }
            _ => self.failed("receive on")(error),
        }
    }

    pub fn failed(&self, operation: &'static str) -> impl FnOnce(io::Error) -> Error + use<'_> {
        Error::socket(operation, || self.name.clone())
    }
}

impl AsFd for MessageSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Carrier::Tcp(socket) => socket.as_fd(),
            Carrier::Udp(socket) => socket.as_fd(),
        }
    }
}

impl Inbox {
    #[inline]
    fn has_message(&self) -> bool {
        self.to - self.from >= self.message.unwrap_or(1)
    }

    #[inline]
    fn room(&mut self) -> &mut [u8] {
        if self.from > 0 {
            self.bytes.copy_within(self.from..self.to, 0);
            self.to -= self.from;
            self.from = 0;
        }
        &mut self.bytes[self.to..]
    }

    #[inline]
    fn take(&mut self) -> &[u8] {
        let from = self.from;
        let to = self.message.map_or(self.to, |length| from + length);
        self.from = to;
        &self.bytes[from..to]
    }

    fn end(&self) -> io::Result<Arrival<'_>> {
        if self.from == self.to { Ok(Arrival::End) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use plumb_tests::on_loopback;

    use super::*;
    use crate::testing::HERE;

    fn check(waiting: Waiting) {
        let done = on_loopback(|| {
            let listener = TcpListener::bind((HERE, 0)).expect("loopback");
            let mut peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
            let (socket, _) = listener.accept().expect("just connected");
            crate::socket::limit_waits(&socket, std::time::Duration::from_millis(20)).expect("any socket");
            let socket = MessageSocket::new(Carrier::Tcp(socket), waiting, "test".into());
            let mut inbox = socket.inbox(Some(3));
            let mut next = || loop {
                match socket.receive(&mut inbox).expect("alive") {
                    Arrival::Message(bytes) => return Some(bytes.to_vec()),
                    Arrival::End => return None,
                    Arrival::Nothing => {}
                }
            };
            peer.write_all(b"abcdefgh").expect("loopback");
            assert_eq!(next().as_deref(), Some(&b"abc"[..]));
            assert_eq!(next().as_deref(), Some(&b"def"[..]));
            peer.write_all(b"i").expect("loopback");
            assert_eq!(next().as_deref(), Some(&b"ghi"[..]));
            drop(peer);
            assert_eq!(next(), None);
        });
        let _ = done;
    }

    #[test]
    fn splits_stream_by_message_length() {
        check(Waiting::Block);
        check(Waiting::Spin);
    }

    #[test]
    fn stream_that_ends_inside_a_message_is_an_error() {
        let inbox = |to| Inbox { bytes: vec![0; 8], message: Some(3), from: 0, to };
        assert!(matches!(inbox(0).end(), Ok(Arrival::End)));
        assert!(inbox(2).end().is_err());
    }
}
