//! Accepts the connections of a trial. Unknown, slow and duplicate peers do not delay the others.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    net::{IpAddr, SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use units::Nanos;
use workload::SocketSettings;

use crate::{
    error::{Error, Result},
    handshake::{Handshake, LENGTH, Purpose},
    socket::{apply, domain},
    stop::Stop,
};

const HANDSHAKE: Nanos = Nanos::from_secs(2);
const PATIENCE: Nanos = Nanos::from_secs(10);
/// The timeout for the first connection. It is long, because the client may load probes first. If the client fails, the
/// server is stopped anyway.
pub(crate) const FIRST: Nanos = Nanos::from_secs(60);
const GLANCE: Duration = Duration::from_millis(1);
/// The maximum number of incomplete handshakes. Further connections wait in the kernel's queue.
const UNDECIDED: usize = 256;
const BACKLOG: i32 = 1024;

pub(crate) type TrialConnections = BTreeMap<(Purpose, u32), TcpStream>;

pub(crate) fn listen(bind: IpAddr, settings: &SocketSettings) -> Result<TcpListener> {
    let address = SocketAddr::new(bind, settings.server_port.unwrap_or(0));
    let object = || format!("{address} for TCP");
    let socket = Socket::new(domain(address), Type::STREAM, Some(Protocol::TCP))
        .map_err(Error::socket("open a socket on", object))?;
    apply(&socket, settings, true)?;
    if address.port() != 0 {
        sys::socket::set_reuse_address(&socket, true)?;
    }
    socket.bind(&address.into()).map_err(Error::socket("bind", object))?;
    socket.listen(BACKLOG).map_err(Error::socket("listen on", object))?;
    socket.set_nonblocking(true).map_err(Error::socket("listen on", object))?;
    Ok(socket.into())
}

pub(crate) fn port(address: io::Result<SocketAddr>) -> Result<u16> {
    address.map(|address| address.port()).map_err(Error::socket("read the address of", || "a server"))
}

pub(crate) fn gather(
    listener: &TcpListener,
    token: u64,
    expected: &[(Purpose, u32)],
    stop: &Stop,
) -> Result<TrialConnections> {
    let mut gathered = TrialConnections::new();
    let mut undecided: Vec<PartialHandshake> = Vec::new();
    let mut latest = monotonic();
    while gathered.len() < expected.len() {
        accept(listener, &mut undecided)?;
        for peer in std::mem::take(&mut undecided) {
            match peer.advance() {
                Verdict::Wait(peer) => undecided.push(peer),
                Verdict::Close => {}
                Verdict::Complete(socket, handshake) => {
                    let place = (handshake.purpose, handshake.number);
                    if handshake.token == token && expected.contains(&place) && !gathered.contains_key(&place)
                    {
                        gathered.insert(place, socket);
                        latest = monotonic();
                    }
                }
            }
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        let waited = patience(gathered.is_empty());
        if monotonic() - latest > waited.0 {
            return Err(missing(listener, &gathered, expected, waited));
        }
        thread::sleep(GLANCE);
    }
    for socket in gathered.values() {
        socket.set_nonblocking(false).map_err(Error::socket("prepare", || "an accepted connection"))?;
    }
    Ok(gathered)
}

pub(crate) fn patience(is_first: bool) -> Nanos {
    if is_first { FIRST } else { PATIENCE }
}

fn missing(
    listener: &TcpListener,
    gathered: &TrialConnections,
    expected: &[(Purpose, u32)],
    waited: Nanos,
) -> Error {
    let object = listener.local_addr().map_or_else(|_| "the server".into(), |address| address.to_string());
    let missing = format!("connections: {} of {} established", gathered.len(), expected.len());
    Error::Silent { object, missing, waited }
}

fn accept(listener: &TcpListener, undecided: &mut Vec<PartialHandshake>) -> Result<()> {
    while undecided.len() < UNDECIDED {
        match listener.accept() {
            Ok((socket, _)) => undecided.extend(PartialHandshake::new(socket)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted) => {}
            Err(error) => {
                return Err(Error::socket("accept on", || format!("{:?}", listener.local_addr()))(error));
            }
        }
    }
    Ok(())
}

struct PartialHandshake {
    socket: TcpStream,
    since: u64,
    received: [u8; LENGTH],
    length: usize,
}

enum Verdict {
    Wait(PartialHandshake),
    Close,
    Complete(TcpStream, Handshake),
}

impl PartialHandshake {
    fn new(socket: TcpStream) -> Option<Self> {
        socket.set_nonblocking(true).ok()?;
        Some(Self { socket, since: monotonic(), received: [0; LENGTH], length: 0 })
    }

    fn advance(mut self) -> Verdict {
        match self.socket.read(&mut self.received[self.length..]) {
            Ok(0) => return Verdict::Close,
            Ok(read) => self.length += read,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => return Verdict::Close,
        }
        if self.length == LENGTH {
            let handshake = Handshake::decode(&self.received);
            return handshake.map_or(Verdict::Close, |handshake| Verdict::Complete(self.socket, handshake));
        }
        if monotonic() - self.since > HANDSHAKE.0 { Verdict::Close } else { Verdict::Wait(self) }
    }
}
