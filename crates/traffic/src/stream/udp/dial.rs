//! Client setup of a datagram stream: a connected socket and the greeting.

use std::net::{SocketAddr, UdpSocket};

use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;

use super::opening::{LENGTH, Opening};
use crate::{
    dial::Dial,
    error::{Error, Result},
    handshake::Handshake,
    socket::{TICK, apply, domain, is_wait, limit_waits, source},
    stop::Stop,
};

const LOST: Nanos = Nanos::from_millis(200);
const GREETINGS: u32 = 25;

pub(in crate::stream) fn greet(
    dial: &Dial<'_>,
    handshake: Handshake,
    stop: &Stop,
) -> Result<(UdpSocket, Opening)> {
    let object = || format!("{} from {} over UDP", dial.server, dial.bind);
    let socket = open(dial)?;
    let greeting = Opening { handshake, cookie: 0 };
    let mut bytes = [0; LENGTH + 1];
    for _ in 0..GREETINGS {
        match socket.send(&greeting.encode()) {
            Ok(_) => {}
            Err(error) if is_wait(&error) || is_refused(&error) => {}
            Err(error) => return Err(Error::socket("send the handshake to", object)(error)),
        }
        let until = monotonic() + LOST.0;
        while monotonic() < until {
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            match socket.recv(&mut bytes) {
                Ok(length) => match Opening::decode(&bytes[..length]) {
                    Some(opening) if opening.greeting() == greeting && !opening.is_greeting() => {
                        return Ok((socket, opening));
                    }
                    _ => {}
                },
                Err(error) if is_wait(&error) || is_refused(&error) => {}
                Err(error) => return Err(Error::socket("receive the handshake from", object)(error)),
            }
        }
    }
    let waited = Nanos(LOST.0 * u64::from(GREETINGS));
    Err(Error::Silent { object: object(), missing: "a reply to the handshake".into(), waited })
}

/// Returns whether this is an ICMP error for an earlier datagram, sent while the port was closed.
pub(super) fn is_refused(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::ConnectionRefused
}

fn open(dial: &Dial<'_>) -> Result<UdpSocket> {
    let server = || format!("{} over UDP", dial.server);
    let socket = Socket::new(domain(dial.server), Type::DGRAM, Some(Protocol::UDP))
        .map_err(Error::socket("open a socket to", server))?;
    apply(&socket, dial.settings, true)?;
    let from: SocketAddr = source(dial.bind, dial.settings, dial.number)?;
    socket.bind(&from.into()).map_err(Error::socket("bind", || format!("{from} for UDP")))?;
    socket.connect(&dial.server.into()).map_err(Error::socket("connect to", server))?;
    limit_waits(&socket, TICK)?;
    Ok(socket.into())
}
