//! The server's way to its streams of datagrams: one port on which clients greet, and for each that knows the
//! token a socket of its own on the same port, connected to it.
//!
//! A stranger's datagram is dropped without an answer.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
    thread,
    time::Duration,
};

use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use workload::SocketSettings;

use super::opening::{LENGTH, Opening};
use crate::{
    error::{Error, Result},
    gather::patience,
    handshake::Purpose,
    socket::{apply, domain, is_wait},
    stop::Stop,
};

/// How often new ones are looked for.
const GLANCE: Duration = Duration::from_millis(1);
/// Datagrams that are looked at before anything else is.
const AT_ONCE: usize = 256;

/// The sockets of a trial by what they are for and their number.
pub(in crate::stream) type TrialSockets = BTreeMap<(Purpose, u32), (UdpSocket, Opening)>;

/// Binds the port that is asked for, or one of the kernel's choice.
pub(in crate::stream) fn listen(bind: IpAddr, settings: &SocketSettings) -> Result<UdpSocket> {
    let socket = open(SocketAddr::new(bind, settings.server_port.unwrap_or(0)), settings, false)?;
    // Only now: the kernel would have chosen a port that others of this user's sockets share.
    sys::socket::set_reuse_port(&socket, true)?;
    socket.set_nonblocking(true).map_err(Error::socket("listen on", || format!("{bind} for UDP")))?;
    Ok(socket)
}

/// Waits until every client of `expected` has greeted.
pub(in crate::stream) fn gather(
    listener: &UdpSocket,
    token: u64,
    expected: &[(Purpose, u32)],
    settings: &SocketSettings,
    stop: &Stop,
) -> Result<TrialSockets> {
    let here = listener.local_addr().map_err(Error::socket("read the address of", || "a server"))?;
    let mut gathered = TrialSockets::new();
    let mut latest = monotonic();
    while gathered.len() < expected.len() {
        for _ in 0..AT_ONCE {
            let Some((said, peer)) = heard(listener, here)? else { break };
            let Some(said) = said else { continue };
            let place = (said.handshake.purpose, said.handshake.number);
            let known = said.handshake.token == token && said.is_greeting() && expected.contains(&place);
            if known && !gathered.contains_key(&place) {
                let answer = Opening { cookie: cookie(), ..said };
                gathered.insert(place, (meet(here, peer, settings)?, answer));
                latest = monotonic();
                answer_all(gathered.get(&place))?;
            }
        }
        answer_again(&gathered)?;
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        let waited = patience(gathered.is_empty());
        if monotonic() - latest > waited.0 {
            let missing = format!("streams of datagrams: {} of {} came", gathered.len(), expected.len());
            return Err(Error::Silent { object: format!("{here} for UDP"), missing, waited });
        }
        thread::sleep(GLANCE);
    }
    Ok(gathered)
}

/// What one datagram says, if anything; `None` when none is there.
fn heard(listener: &UdpSocket, here: SocketAddr) -> Result<Option<(Option<Opening>, SocketAddr)>> {
    let mut bytes = [0; LENGTH + 1];
    match listener.recv_from(&mut bytes) {
        Ok((length, peer)) => Ok(Some((Opening::decode(&bytes[..length]), peer))),
        Err(error) if is_wait(&error) => Ok(None),
        Err(error) => Err(Error::socket("receive on", || format!("{here} for UDP"))(error)),
    }
}

/// A socket for one client only.
fn meet(here: SocketAddr, peer: SocketAddr, settings: &SocketSettings) -> Result<UdpSocket> {
    let socket = open(here, settings, true)?;
    socket.connect(peer).map_err(Error::socket("connect to", || format!("{peer} over UDP")))?;
    Ok(socket)
}

fn open(address: SocketAddr, settings: &SocketSettings, shared: bool) -> Result<UdpSocket> {
    let object = || format!("{address} for UDP");
    let socket = Socket::new(domain(address), Type::DGRAM, Some(Protocol::UDP))
        .map_err(Error::socket("open a socket on", object))?;
    apply(&socket, settings, true)?;
    // With sockets of this user's only; SO_REUSEADDR would let everybody bind the port.
    sys::socket::set_reuse_port(&socket, shared)?;
    socket.bind(&address.into()).map_err(Error::socket("bind", object))?;
    Ok(socket.into())
}

/// Whose answer was lost greets again, and is heard by the socket that it has by now.
fn answer_again(gathered: &TrialSockets) -> Result<()> {
    let mut bytes = [0; LENGTH + 1];
    for place in gathered.values() {
        match sys::socket::recv_nonblocking(&place.0, &mut bytes) {
            Ok(length) if bytes[..length] == place.1.greeting().encode() => answer_all(Some(place))?,
            // The kernel's word about an earlier datagram comes here too; a client that is gone is missed later.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn answer_all<'a>(places: impl IntoIterator<Item = &'a (UdpSocket, Opening)>) -> Result<()> {
    for (socket, opening) in places {
        match sys::socket::send_nonblocking(socket, &opening.encode()) {
            Ok(_) => {}
            // It is lost then, as it may be on its way; the client asks again.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || super::dial::is_refused(&error) => {}
            Err(error) => return Err(Error::socket("answer", || "a client over UDP")(error)),
        }
    }
    Ok(())
}

/// A number that who does not hear it cannot guess; never zero.
fn cookie() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
