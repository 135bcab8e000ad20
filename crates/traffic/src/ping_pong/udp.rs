//! Starts and ends a UDP ping-pong.
//!
//! The server's socket is connected to the client and echoes any datagram with the right token, regardless of its
//! length. MTU probes rely on this.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;
use workload::{PingPongSettings, SocketSettings, Waiting};

use super::{
    AGAIN,
    closed::answered_within,
    greeting::{Cookies, Greeting, GreetingKind, LENGTH},
    message::{CLOSING, HEADER, Message},
    message_socket::{Carrier, MessageSocket},
};
use crate::{
    dial::between,
    error::{Error, Result},
    gather::FIRST,
    handshake::{Handshake, Purpose},
    refused::RefusalCode,
    socket::{TICK, apply, domain, is_wait, limit_waits, source},
    spec::{ClientSpec, ServerSpec},
    stop::Stop,
};

const GREETINGS: u32 = 15;
const FAREWELLS: u32 = 3;

pub(super) fn connect(spec: &ClientSpec<PingPongSettings>, stop: &Stop) -> Result<MessageSocket> {
    let handshake = Handshake { token: spec.token, purpose: Purpose::PingPong, number: 0 };
    let socket = greet_with(&spec.load.socket, spec.bind, spec.server, handshake, stop)?;
    let name = format!("the UDP ping-pong with {}", spec.server);
    Ok(MessageSocket::new(Carrier::Udp(socket), spec.load.waiting, name))
}

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
    let object = || format!("{} over UDP", between(server, bind));
    let socket = self::bind(source(bind, settings, 0)?, settings)?;
    socket.connect(server).map_err(Error::socket("connect to", object))?;
    let mut greeting_out = Greeting::asking(handshake);
    for _ in 0..GREETINGS {
        send(&socket, &greeting_out.encode()).map_err(Error::socket("send the handshake to", object))?;
        let Some(answer) = await_reply(&socket, greeting_out, object, stop)? else { continue };
        match answer.kind {
            GreetingKind::Welcomes => return Ok(socket),
            GreetingKind::Refuses => return Err(refused(server, answer)),
            GreetingKind::Asks | GreetingKind::Offers | GreetingKind::Proves => {
                greeting_out = answer.with(GreetingKind::Proves);
            }
        }
    }
    let waited = Nanos(AGAIN.0 * u64::from(GREETINGS));
    Err(Error::Silent { object: object(), missing: "a reply to the handshake".into(), waited })
}

fn refused(server: SocketAddr, answer: Greeting) -> Error {
    let reason = answer.refused().unwrap_or(RefusalCode::Unspecified);
    Error::Refused { object: format!("the UDP ping-pong with {server}"), reason }
}

fn await_reply(
    socket: &UdpSocket,
    greeting: Greeting,
    object: impl Fn() -> String,
    stop: &Stop,
) -> Result<Option<Greeting>> {
    let is_new = |answer: &Greeting| match answer.kind {
        GreetingKind::Offers => answer.cookie != greeting.cookie,
        GreetingKind::Welcomes | GreetingKind::Refuses => true,
        GreetingKind::Asks | GreetingKind::Proves => false,
    };
    let until = monotonic() + AGAIN.0;
    let mut answer = [0; LENGTH + 1];
    while monotonic() < until {
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        match socket.recv(&mut answer) {
            Ok(length) => {
                let answer = Greeting::decode(&answer[..length]);
                let answer = answer.filter(|answer| answer.handshake == greeting.handshake);
                if let Some(answer) = answer.filter(is_new) {
                    return Ok(Some(answer));
                }
            }
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("receive the handshake from", object)(error)),
        }
    }
    Ok(None)
}

pub fn bind(address: SocketAddr, settings: &SocketSettings) -> Result<UdpSocket> {
    let object = || format!("{address} for UDP");
    let socket = Socket::new(domain(address), Type::DGRAM, Some(Protocol::UDP))
        .map_err(Error::socket("open a socket on", object))?;
    apply(&socket, settings, true)?;
    let bound = || if address.port() == 0 { address.ip().to_string() } else { object() };
    socket.bind(&address.into()).map_err(Error::socket("bind", bound))?;
    limit_waits(&socket, TICK)?;
    Ok(socket.into())
}

pub(super) fn await_client(
    socket: UdpSocket,
    spec: &ServerSpec<PingPongSettings>,
    stop: &Stop,
) -> Result<MessageSocket> {
    let name = || format!("{:?} over UDP", socket.local_addr());
    let (begun, cookies) = (monotonic(), Cookies::default());
    let mut bytes = [0; LENGTH + 1];
    loop {
        match socket.recv_from(&mut bytes) {
            Ok((length, peer)) => {
                let greeting = Greeting::decode(&bytes[..length]);
                match greeting.filter(|greeting| greeting.handshake.token == spec.token) {
                    Some(greeting) if cookies.know(greeting, peer, monotonic()) => {
                        socket.connect(peer).map_err(Error::socket("connect", name))?;
                        return welcome(socket, greeting, spec.load.waiting);
                    }
                    Some(greeting) if matches!(greeting.kind, GreetingKind::Asks | GreetingKind::Proves) => {
                        // If this offer is lost, the client repeats its greeting.
                        let _ = socket.send_to(&cookies.offer(greeting, peer, monotonic()).encode(), peer);
                    }
                    _ => {}
                }
            }
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("receive on", name)(error)),
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if monotonic() - begun > FIRST.0 {
            return Err(Error::Silent { object: name(), missing: "a handshake".into(), waited: FIRST });
        }
    }
}

pub(super) fn welcome(socket: UdpSocket, greeting: Greeting, waiting: Waiting) -> Result<MessageSocket> {
    let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    let name = format!("the UDP ping-pong with {peer}");
    if greeting.handshake.purpose == Purpose::Probe {
        sys::socket::set_mtu_probe(&socket)?;
    }
    send(&socket, &greeting.with(GreetingKind::Welcomes).encode())
        .map_err(Error::socket("answer the handshake of", || name.clone()))?;
    Ok(MessageSocket::new(Carrier::Udp(socket), waiting, name))
}

fn send(socket: &UdpSocket, bytes: &[u8]) -> std::io::Result<()> {
    match socket.send(bytes) {
        Err(error) if !is_wait(&error) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

pub(super) fn dismiss(socket: &MessageSocket, greeting: Greeting, reason: RefusalCode) {
    for _ in 0..FAREWELLS {
        let _ = socket.send(&greeting.refusing(reason).encode(), || Ok(()));
    }
}

/// If this datagram is lost, the client detects the end by its timeout.
pub(super) fn take_leave(socket: &MessageSocket, token: u64) {
    let mut farewell = Message::new(HEADER, token);
    let mut inbox = socket.inbox(None);
    for _ in 0..FAREWELLS {
        if socket.send(farewell.number(CLOSING), || Ok(())).is_err()
            || answered_within(socket, &farewell, &mut inbox, AGAIN)
        {
            return;
        }
    }
}
