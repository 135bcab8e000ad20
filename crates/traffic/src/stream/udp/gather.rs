//! Sets up the server side of datagram streams. One socket receives the greetings, and connected sockets on the same
//! port serve the clients.

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

const GLANCE: Duration = Duration::from_millis(1);
const AT_ONCE: usize = 256;

pub(in crate::stream) type TrialSockets = BTreeMap<(Purpose, u32), (UdpSocket, Opening)>;

pub(in crate::stream) fn listen(bind: IpAddr, settings: &SocketSettings) -> Result<UdpSocket> {
    let socket = open(SocketAddr::new(bind, settings.server_port.unwrap_or(0)), settings, false)?;
    // Set SO_REUSEPORT after binding, because the kernel might otherwise choose a port that other sockets of this
    // user share.
    sys::socket::set_reuse_port(&socket, true)?;
    socket.set_nonblocking(true).map_err(Error::socket("listen on", || format!("{bind} for UDP")))?;
    Ok(socket)
}

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
            let Some((handshake, peer)) = next_greeting(listener, here)? else { break };
            let Some(handshake) = handshake else { continue };
            let place = (handshake.handshake.purpose, handshake.handshake.number);
            let known =
                handshake.handshake.token == token && handshake.is_greeting() && expected.contains(&place);
            if known && !gathered.contains_key(&place) {
                let answer = Opening { cookie: cookie(), ..handshake };
                gathered.insert(place, (connected_socket(here, peer, settings)?, answer));
                latest = monotonic();
                reply_to_all(gathered.get(&place))?;
            }
        }
        repeat_replies(&gathered)?;
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        let waited = patience(gathered.is_empty());
        if monotonic() - latest > waited.0 {
            let missing =
                format!("streams of datagrams: {} of {} established", gathered.len(), expected.len());
            return Err(Error::Silent { object: format!("{here} for UDP"), missing, waited });
        }
        thread::sleep(GLANCE);
    }
    Ok(gathered)
}

fn next_greeting(listener: &UdpSocket, here: SocketAddr) -> Result<Option<(Option<Opening>, SocketAddr)>> {
    let mut bytes = [0; LENGTH + 1];
    match listener.recv_from(&mut bytes) {
        Ok((length, peer)) => Ok(Some((Opening::decode(&bytes[..length]), peer))),
        Err(error) if is_wait(&error) => Ok(None),
        Err(error) => Err(Error::socket("receive on", || format!("{here} for UDP"))(error)),
    }
}

fn connected_socket(here: SocketAddr, peer: SocketAddr, settings: &SocketSettings) -> Result<UdpSocket> {
    let socket = open(here, settings, true)?;
    socket.connect(peer).map_err(Error::socket("connect to", || format!("{peer} over UDP")))?;
    Ok(socket)
}

fn open(address: SocketAddr, settings: &SocketSettings, shared: bool) -> Result<UdpSocket> {
    let object = || format!("{address} for UDP");
    let socket = Socket::new(domain(address), Type::DGRAM, Some(Protocol::UDP))
        .map_err(Error::socket("open a socket on", object))?;
    apply(&socket, settings, true)?;
    // SO_REUSEPORT shares the port only with this user's sockets, whereas SO_REUSEADDR would let any user bind it.
    sys::socket::set_reuse_port(&socket, shared)?;
    socket.bind(&address.into()).map_err(Error::socket("bind", object))?;
    Ok(socket.into())
}

/// If a reply is lost, the client's next greeting arrives at the connected socket.
fn repeat_replies(gathered: &TrialSockets) -> Result<()> {
    let mut bytes = [0; LENGTH + 1];
    for place in gathered.values() {
        match sys::socket::recv_nonblocking(&place.0, &mut bytes) {
            Ok(length) if bytes[..length] == place.1.greeting().encode() => reply_to_all(Some(place))?,
            // Ignores ICMP errors for earlier datagrams, because a missing client is detected later.
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

fn reply_to_all<'a>(places: impl IntoIterator<Item = &'a (UdpSocket, Opening)>) -> Result<()> {
    for (socket, opening) in places {
        match sys::socket::send_nonblocking(socket, &opening.encode()) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock || super::dial::is_refused(&error) => {}
            Err(error) => return Err(Error::socket("answer", || "a client over UDP")(error)),
        }
    }
    Ok(())
}

fn cookie() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
