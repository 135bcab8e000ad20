//! Opens TCP connections from a given address with given socket settings, and sends the handshake.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    thread,
    time::Duration,
};

use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;
use workload::SocketSettings;

use crate::{
    error::{Error, Result},
    handshake::{GO, Handshake},
    refused::{self, RefusalCode},
    socket::{TICK, apply, domain, is_wait, limit_waits, source},
    stop::Stop,
};

const PATIENCE: Nanos = Nanos::from_secs(10);

/// The maximum time that an earlier connection from the same port can delay a new one.
const LINGERING: Nanos = Nanos::from_secs(3);
const GLANCE: Duration = Duration::from_millis(5);

pub struct Dial<'a> {
    pub bind: IpAddr,
    pub server: SocketAddr,
    pub settings: &'a SocketSettings,
    pub number: u32,
}

impl Dial<'_> {
    pub(crate) fn connect(&self, handshake: Handshake, stop: &Stop) -> Result<TcpStream> {
        let mut stream = self.connect_plain(stop)?;
        match stream.write_all(&handshake.encode()) {
            Ok(()) => Ok(stream),
            Err(error) => {
                Err(refusal(&stream, &format!("a connection to {}", self.server)).unwrap_or_else(|| {
                    Error::socket("send the handshake to", || self.server.to_string())(error)
                }))
            }
        }
    }

    /// Connects without sending a handshake. Blocking calls on the socket time out after [`TICK`].
    pub fn connect_plain(&self, stop: &Stop) -> Result<TcpStream> {
        let socket = Socket::new(domain(self.server), Type::STREAM, Some(Protocol::TCP))
            .map_err(Error::socket("open a socket to", || self.server.to_string()))?;
        apply(&socket, self.settings, true)?;
        limit_waits(&socket, TICK)?;
        let from = source(self.bind, self.settings, self.number)?;
        if from.port() != 0 {
            sys::socket::set_reuse_address(&socket, true)?;
        }
        socket.bind(&from.into()).map_err(Error::socket("connect from", || chosen(from)))?;
        self.reach(&socket, stop)?;
        Ok(socket.into())
    }

    fn name(&self) -> String {
        between(self.server, self.bind)
    }

    /// Returns true for EADDRNOTAVAIL: an earlier connection with the same addresses and ports is in TIME-WAIT. With
    /// tcp_tw_reuse, the kernel allows reusing the port after one second.
    fn is_lingering(&self, error: &io::Error) -> bool {
        self.settings.source_port.is_some() && error.kind() == io::ErrorKind::AddrNotAvailable
    }

    /// If the send timeout interrupts connect(2), the kernel keeps connecting, and another connect(2) waits for it.
    fn reach(&self, socket: &Socket, stop: &Stop) -> Result<()> {
        let begun = monotonic();
        loop {
            match socket.connect(&self.server.into()) {
                Ok(()) => return Ok(()),
                Err(error) if is_under_way(&error) => {}
                Err(error) if self.is_lingering(&error) && monotonic() - begun < LINGERING.0 => {
                    thread::sleep(GLANCE);
                }
                Err(error) => {
                    return Err(Error::socket("connect to", || self.name())(error));
                }
            }
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            if monotonic() - begun > PATIENCE.0 {
                return Err(Error::Silent {
                    object: self.name(),
                    missing: "the connection".into(),
                    waited: PATIENCE,
                });
            }
        }
    }
}

pub(crate) fn between(server: SocketAddr, bind: IpAddr) -> String {
    if bind.is_unspecified() { server.to_string() } else { format!("{server} from {bind}") }
}

/// Returns the address to bind to so that the kernel chooses the source address.
#[must_use]
pub fn any_source(server: SocketAddr) -> IpAddr {
    if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

pub fn chosen(from: SocketAddr) -> String {
    if from.port() == 0 { from.ip().to_string() } else { from.to_string() }
}

pub(crate) fn await_go(mut socket: &TcpStream, name: &str, check: impl Fn() -> Result<()>) -> Result<()> {
    let begun = monotonic();
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(1) if byte[0] == GO => return Ok(()),
            Ok(1) => return Err(refused(socket, byte[0], name)),
            Ok(_) => {
                let source = io::Error::new(io::ErrorKind::ConnectionRefused, "the server closed it");
                return Err(Error::socket("start", || name)(source));
            }
            Err(error) if is_wait(&error) => check()?,
            Err(error) => return Err(Error::socket("start", || name)(error)),
        }
        if monotonic() - begun > PATIENCE.0 {
            let missing = "the server's start signal".into();
            return Err(Error::Silent { object: name.into(), missing, waited: PATIENCE });
        }
    }
}

fn refused(socket: &TcpStream, first: u8, name: &str) -> Error {
    let mut word = vec![first];
    // Reads only the available bytes, because a refusal is sent in one piece before the connection closes.
    let _ = socket.take(refused::LONGEST as u64 - 1).read_to_end(&mut word);
    let reason = RefusalCode::decode(&word).unwrap_or(RefusalCode::Kind);
    Error::Refused { object: name.to_owned(), reason }
}

fn refusal(mut socket: &TcpStream, name: &str) -> Option<Error> {
    let mut byte = [0];
    let is_refused = socket.read(&mut byte).is_ok_and(|read| read == 1);
    is_refused.then(|| refused(socket, byte[0], name))
}

pub(crate) fn check_open(control: &TcpStream, name: &str) -> Result<()> {
    let mut word = [0; refused::LONGEST];
    let reason = match sys::socket::recv_nonblocking(control, &mut word) {
        Err(error) if is_wait(&error) => return Ok(()),
        Ok(length) => RefusalCode::decode(&word[..length]).unwrap_or(RefusalCode::Unspecified),
        Err(_) => RefusalCode::Unspecified,
    };
    Err(Error::Ended { object: name.to_owned(), reason })
}

pub fn refuse(mut socket: &TcpStream, reason: RefusalCode) {
    let _ = socket.write_all(&reason.encode());
}

pub fn give_go(mut socket: &TcpStream, name: &str) -> Result<()> {
    socket.write_all(&[GO]).map_err(Error::socket("start", || name))
}

pub fn is_under_way(error: &io::Error) -> bool {
    is_wait(error) || matches!(error.raw_os_error(), Some(115 | 114))
}
