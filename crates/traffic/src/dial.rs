//! Connecting over TCP: from a given address, with given settings, told at once who connects.

use std::{
    io::{self, Read, Write},
    net::{IpAddr, SocketAddr, TcpStream},
};

use load::SocketSettings;
use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;

use crate::{
    error::{Error, Result},
    handshake::{GO, Handshake},
    socket::{TICK, apply, domain, is_wait, limit_waits, source},
    stop::Stop,
};

/// How long a connection may take to stand, and then the server to let it go.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// Where from, where to, how.
pub(crate) struct Dial<'a> {
    pub(crate) bind: IpAddr,
    pub(crate) server: SocketAddr,
    pub(crate) settings: &'a SocketSettings,
    /// Its number among all connections of the load, which a fixed source port counts on from.
    pub(crate) number: u32,
}

impl Dial<'_> {
    /// Connects and sends the handshake. The socket's waits are limited to [`TICK`].
    pub(crate) fn connect(&self, handshake: Handshake, stop: &Stop) -> Result<TcpStream> {
        let mut stream = self.connect_plain(stop)?;
        let sent = stream.write_all(&handshake.encode());
        sent.map_err(Error::socket("send the handshake to", || self.server.to_string()))?;
        Ok(stream)
    }

    /// Connects and says nothing, for other dialects. The socket's waits are limited to [`TICK`].
    pub(crate) fn connect_plain(&self, stop: &Stop) -> Result<TcpStream> {
        let socket = Socket::new(domain(self.server), Type::STREAM, Some(Protocol::TCP))
            .map_err(Error::socket("open a socket to", || self.server.to_string()))?;
        apply(&socket, self.settings, true)?;
        limit_waits(&socket, TICK)?;
        let from = source(self.bind, self.settings, self.number)?;
        if from.port() != 0 {
            sys::socket::set_reuse_address(&socket, true)?;
        }
        socket.bind(&from.into()).map_err(Error::socket("bind", || from.to_string()))?;
        self.reach(&socket, stop)?;
        Ok(socket.into())
    }

    /// A connect that its send timeout ended goes on in the kernel, and is awaited by calling it again.
    fn reach(&self, socket: &Socket, stop: &Stop) -> Result<()> {
        let begun = monotonic();
        loop {
            match socket.connect(&self.server.into()) {
                Ok(()) => return Ok(()),
                Err(error) if is_under_way(&error) => {}
                Err(error) => {
                    let object = || format!("{} to {}", self.bind, self.server);
                    return Err(Error::socket("connect", object)(error));
                }
            }
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            if monotonic() - begun > PATIENCE.0 {
                let object = format!("{} to {}", self.bind, self.server);
                return Err(Error::Silent { object, missing: "the connection".into(), waited: PATIENCE });
            }
        }
    }
}

/// Awaits the server's word that every connection stands.
pub(crate) fn await_go(mut socket: &TcpStream, name: &str, check: impl Fn() -> Result<()>) -> Result<()> {
    let begun = monotonic();
    let mut byte = [0];
    loop {
        match socket.read(&mut byte) {
            Ok(1) if byte[0] == GO => return Ok(()),
            Ok(_) => {
                let source = io::Error::new(io::ErrorKind::ConnectionRefused, "the server closed it");
                return Err(Error::socket("start", || name)(source));
            }
            Err(error) if is_wait(&error) => check()?,
            Err(error) => return Err(Error::socket("start", || name)(error)),
        }
        if monotonic() - begun > PATIENCE.0 {
            let missing = "the server's word to start".into();
            return Err(Error::Silent { object: name.into(), missing, waited: PATIENCE });
        }
    }
}

/// Lets the client begin.
pub(crate) fn give_go(mut socket: &TcpStream, name: &str) -> Result<()> {
    socket.write_all(&[GO]).map_err(Error::socket("start", || name))
}

/// Whether a connect goes on in the kernel.
pub(crate) fn is_under_way(error: &io::Error) -> bool {
    // EINPROGRESS and EALREADY; the standard library names only the first, and that not yet in stable.
    is_wait(error) || matches!(error.raw_os_error(), Some(115 | 114))
}
