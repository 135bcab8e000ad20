//! Connection setup of a TCP ping-pong at both ends.

use std::net::TcpStream;

use workload::PingPongSettings;

use super::message_socket::{Carrier, MessageSocket};
use crate::{
    dial::{self, Dial},
    error::{Error, Result},
    handshake::{Handshake, Purpose},
    socket::{TICK, apply, limit_waits},
    spec::ClientSpec,
    stop::Stop,
};

pub(super) fn connect(spec: &ClientSpec<PingPongSettings>, stop: &Stop) -> Result<MessageSocket> {
    let dial = Dial { bind: spec.bind, server: spec.server, settings: &spec.load.socket, number: 0 };
    let handshake = Handshake { token: spec.token, purpose: Purpose::PingPong, number: 0 };
    let socket = dial.connect(handshake, stop)?;
    prepare(&socket, &spec.load)?;
    let name = format!("the TCP ping-pong with {}", spec.server);
    Ok(MessageSocket::new(Carrier::Tcp(socket), spec.load.waiting, name))
}

pub(super) fn accepted(socket: TcpStream, load: &PingPongSettings) -> Result<MessageSocket> {
    limit_waits(&socket, TICK)?;
    apply(&socket, &load.socket, false)?;
    prepare(&socket, load)?;
    let peer = socket.peer_addr().map_or_else(|_| "a client".into(), |peer| peer.to_string());
    Ok(MessageSocket::new(Carrier::Tcp(socket), load.waiting, format!("the TCP ping-pong with {peer}")))
}

fn prepare(socket: &TcpStream, load: &PingPongSettings) -> Result<()> {
    Ok(sys::socket::set_nodelay(socket, load.socket.nodelay.unwrap_or(true))?)
}

pub(super) fn await_go(socket: &MessageSocket, stop: &Stop) -> Result<()> {
    let Some(stream) = socket.stream() else { return Ok(()) };
    dial::await_go(stream, socket.name(), || if stop.is_asked() { Err(Error::Stopped) } else { Ok(()) })
}

pub(super) fn give_go(socket: &MessageSocket) -> Result<()> {
    socket.stream().map_or(Ok(()), |stream| dial::give_go(stream, socket.name()))
}
