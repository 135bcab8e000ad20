//! Both ends of a ping-pong over UDP: how they find each other, and how they part.
//!
//! The first datagram is the handshake. The server then hears that address only, and returns whatever knows
//! the token, of any length; that is how it answers probes of an MTU too.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use load::{PingPongLoad, SocketSettings, Waiting};
use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;

use super::{
    LOST,
    closed::answered_within,
    line::{Carrier, Line},
    message::{CLOSING, HEADER, Message},
};
use crate::{
    error::{Error, Result},
    handshake::{Handshake, LENGTH, Purpose},
    socket::{TICK, apply, domain, is_wait, limit_waits, source},
    spec::{ClientSpec, ServerSpec},
    stop::Stop,
};

/// How often a handshake is sent before the server counts as absent.
const GREETINGS: u32 = 15;
/// How often the end is told to the server, which may have heard it the first time.
const FAREWELLS: u32 = 3;
/// How long a server awaits its client.
const PATIENCE: Nanos = Nanos::from_secs(10);

/// Exchanges the handshake with the server.
pub(super) fn connect(spec: &ClientSpec<PingPongLoad>, stop: &Stop) -> Result<Line> {
    let handshake = Handshake { token: spec.token, purpose: Purpose::PingPong, number: 0 };
    let socket = greet_with(&spec.load.socket, spec.bind, spec.server, handshake, stop)?;
    let name = format!("the UDP ping-pong with {}", spec.server);
    Ok(Line::new(Carrier::Udp(socket), spec.load.waiting, name))
}

/// Opens a socket to `server` and exchanges the handshake. Its waits are limited to [`TICK`].
pub(crate) fn greet(
    bind: IpAddr,
    server: SocketAddr,
    handshake: Handshake,
    stop: &Stop,
) -> Result<UdpSocket> {
    greet_with(&SocketSettings::kernel(), bind, server, handshake, stop)
}

fn greet_with(
    settings: &SocketSettings,
    bind: IpAddr,
    server: SocketAddr,
    handshake: Handshake,
    stop: &Stop,
) -> Result<UdpSocket> {
    let object = || format!("{server} from {bind} over UDP");
    let socket = self::bind(source(bind, settings, 0)?, settings)?;
    socket.connect(server).map_err(Error::socket("connect to", object))?;
    let bytes = handshake.encode();
    for _ in 0..GREETINGS {
        send(&socket, &bytes).map_err(Error::socket("send the handshake to", object))?;
        if hears(&socket, &bytes, object, stop)? {
            return Ok(socket);
        }
    }
    let waited = Nanos(LOST.0 * u64::from(GREETINGS));
    Err(Error::Silent { object: object(), missing: "an answer to the handshake".into(), waited })
}

/// Whether the handshake comes back in time.
fn hears(socket: &UdpSocket, bytes: &[u8], object: impl Fn() -> String, stop: &Stop) -> Result<bool> {
    let until = monotonic() + LOST.0;
    let mut answer = [0; LENGTH + 1];
    while monotonic() < until {
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        match socket.recv(&mut answer) {
            Ok(length) if answer[..length] == *bytes => return Ok(true),
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("receive the handshake from", object)(error)),
        }
    }
    Ok(false)
}

/// A UDP socket as the load wants it. Its waits are limited to [`TICK`].
pub(crate) fn bind(address: SocketAddr, settings: &SocketSettings) -> Result<UdpSocket> {
    let object = || format!("{address} for UDP");
    let socket = Socket::new(domain(address), Type::DGRAM, Some(Protocol::UDP))
        .map_err(Error::socket("open a socket on", object))?;
    apply(&socket, settings, true)?;
    socket.bind(&address.into()).map_err(Error::socket("bind", object))?;
    limit_waits(&socket, TICK)?;
    Ok(socket.into())
}

/// Awaits a handshake that knows the token, and from then on hears its sender only.
pub(super) fn meet(socket: UdpSocket, spec: &ServerSpec<PingPongLoad>, stop: &Stop) -> Result<Line> {
    let name = || format!("{:?} over UDP", socket.local_addr());
    let begun = monotonic();
    let mut bytes = [0; LENGTH + 1];
    loop {
        match socket.recv_from(&mut bytes) {
            Ok((length, peer)) => {
                let said = Handshake::decode(&bytes[..length]);
                if let Some(said) = said.filter(|said| said.token == spec.token) {
                    return serve_only(socket, peer, said, spec.load.waiting);
                }
            }
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("receive on", name)(error)),
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if monotonic() - begun > PATIENCE.0 {
            return Err(Error::Silent { object: name(), missing: "a handshake".into(), waited: PATIENCE });
        }
    }
}

fn serve_only(socket: UdpSocket, peer: SocketAddr, said: Handshake, waiting: Waiting) -> Result<Line> {
    let name = format!("the UDP ping-pong with {peer}");
    socket.connect(peer).map_err(Error::socket("connect", || name.clone()))?;
    if said.purpose == Purpose::Probe {
        sys::socket::set_mtu_probe(&socket)?;
    }
    send(&socket, &said.encode()).map_err(Error::socket("answer the handshake of", || name.clone()))?;
    Ok(Line::new(Carrier::Udp(socket), waiting, name))
}

/// A full queue loses the datagram, as any other on its way may.
fn send(socket: &UdpSocket, bytes: &[u8]) -> std::io::Result<()> {
    match socket.send(bytes) {
        Err(error) if !is_wait(&error) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Tells the server that it is over. It also ends without hearing so.
pub(super) fn take_leave(line: &Line, token: u64) {
    let mut farewell = Message::new(HEADER, token);
    let mut inbox = line.inbox(None);
    for _ in 0..FAREWELLS {
        if line.send(farewell.number(CLOSING), || Ok(())).is_err()
            || answered_within(line, &farewell, &mut inbox, LOST)
        {
            return;
        }
    }
}
