//! Ping-pong over UDP: a message that does not return in time is lost, and the next one follows.
//!
//! The first datagram is the handshake. The server then talks to that address only and returns whatever
//! knows the token, of any length; that is how it answers probes of an MTU too.

use std::{
    io,
    net::{IpAddr, SocketAddr, UdpSocket},
};

use load::PingPongLoad;
use samples::ThreadRole;
use sys::clock::monotonic;
use units::Nanos;

use super::{
    GRACE, Message,
    client::Notes,
    message::{CLOSING, HEADER, is_closing, knows},
    server::outcome,
};
use crate::{
    crew::{Shared, Spent},
    ends::Outcome,
    error::{Error, Result},
    handshake::{Handshake, LENGTH, Purpose},
    socket::{TICK, is_wait, limit_waits, udp_facts},
    spec::{ClientSpec, ServerSpec},
    stop::Stop,
};

/// After this long a message counts as lost.
const LOST: Nanos = Nanos::from_millis(200);
/// How often a handshake is sent before the server counts as absent.
const GREETINGS: u32 = 15;
/// How often the end is told to the server, which may have heard it the first time.
const FAREWELLS: u32 = 3;
/// How long a server awaits its client.
const PATIENCE: Nanos = Nanos::from_secs(10);
/// No datagram is longer.
const LONGEST: usize = 65_535;

/// The client, whose server has answered.
pub(super) struct Client {
    socket: UdpSocket,
    name: String,
}

impl Client {
    pub(super) fn connect(spec: &ClientSpec<PingPongLoad>, stop: &Stop) -> Result<Self> {
        let handshake = Handshake { token: spec.token, purpose: Purpose::PingPong, number: 0 };
        let socket = greet(spec.bind, spec.server, handshake, stop)?;
        Ok(Self { socket, name: format!("the UDP ping-pong with {}", spec.server) })
    }

    pub(super) fn run(
        self,
        spec: &ClientSpec<PingPongLoad>,
        shared: &Shared<'_>,
    ) -> Result<Outcome> {
        let Self { socket, name } = self;
        let mut message = Message::new(spec.load.message.0 as usize, spec.token);
        let mut answer = vec![0; LONGEST];
        let mut notes = Notes::begin(&spec.load, shared);
        for number in 0.. {
            let bytes = message.number(number);
            let sent = monotonic();
            send(&socket, bytes).map_err(Error::socket("send on", || name.clone()))?;
            let check = || notes.check();
            let came = answered(&socket, &message, &mut answer, sent + LOST.0, check)
                .map_err(|error| error.named(&name))?;
            let goes_on = match came {
                Some(now) => notes.answered(sent, now)?,
                None => notes.lost(sent, monotonic())?,
            };
            if !goes_on {
                break;
            }
        }
        let thread = notes.spent();
        let facts = udp_facts(&socket, spec.cpus.as_deref());
        take_leave(&socket, spec.token, &mut answer);
        Ok(notes.outcome(thread, facts))
    }
}

/// Opens a socket to `server` and exchanges the handshake. Its waits are limited to [`TICK`].
pub(crate) fn greet(
    bind: IpAddr,
    server: SocketAddr,
    handshake: Handshake,
    stop: &Stop,
) -> Result<UdpSocket> {
    let object = || format!("{server} from {bind} over UDP");
    let socket = self::bind(bind)?;
    socket.connect(server).map_err(Error::socket("connect to", object))?;
    let bytes = handshake.encode();
    let mut answer = [0; LENGTH + 1];
    for _ in 0..GREETINGS {
        send(&socket, &bytes).map_err(Error::socket("send the handshake to", object))?;
        let until = monotonic() + LOST.0;
        while monotonic() < until {
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            match socket.recv(&mut answer) {
                Ok(length) if answer[..length] == bytes => return Ok(socket),
                Ok(_) => {}
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(Error::socket("receive the handshake from", object)(error)),
            }
        }
    }
    let waited = Nanos(LOST.0 * u64::from(GREETINGS));
    Err(Error::Silent { object: object(), missing: "an answer to the handshake".into(), waited })
}

/// A UDP socket on a port of the kernel's choice. Its waits are limited to [`TICK`].
pub(super) fn bind(address: IpAddr) -> Result<UdpSocket> {
    let socket =
        UdpSocket::bind((address, 0)).map_err(Error::socket("bind", || format!("{address} for UDP")))?;
    limit_waits(&socket, TICK)?;
    Ok(socket)
}

/// The server with its one client.
pub(super) struct Server {
    socket: UdpSocket,
    name: String,
}

impl Server {
    /// Awaits a handshake that knows the token, and from then on hears its sender only.
    pub(super) fn meet(socket: UdpSocket, spec: &ServerSpec<PingPongLoad>, stop: &Stop) -> Result<Self> {
        let name = || format!("{:?} over UDP", socket.local_addr());
        let begun = monotonic();
        let mut bytes = [0; LENGTH + 1];
        let (said, peer) = loop {
            match socket.recv_from(&mut bytes) {
                Ok((length, peer)) => {
                    let said = Handshake::decode(&bytes[..length]);
                    if let Some(said) = said.filter(|said| said.token == spec.token) {
                        break (said, peer);
                    }
                }
                Err(error) if is_wait(&error) => {}
                Err(error) => return Err(Error::socket("receive on", name)(error)),
            }
            if stop.is_asked() {
                return Err(Error::Stopped);
            }
            if monotonic() - begun > PATIENCE.0 {
                let missing = "a handshake".into();
                return Err(Error::Silent { object: name(), missing, waited: PATIENCE });
            }
        };
        Self::serve_only(socket, peer, said)
    }

    fn serve_only(socket: UdpSocket, peer: SocketAddr, said: Handshake) -> Result<Self> {
        let name = format!("the UDP ping-pong with {peer}");
        socket.connect(peer).map_err(Error::socket("connect", || name.clone()))?;
        if said.purpose == Purpose::Probe {
            sys::socket::set_mtu_probe(&socket)?;
        }
        send(&socket, &said.encode()).map_err(Error::socket("answer the handshake of", || name.clone()))?;
        Ok(Self { socket, name })
    }

    /// Returns messages until the closing one, or until the client should long have ended.
    pub(super) fn run(
        self,
        spec: &ServerSpec<PingPongLoad>,
        shared: &Shared<'_>,
    ) -> Result<Outcome> {
        let Self { socket, name } = self;
        let mut datagram = vec![0; LONGEST];
        let spent = Spent::from_now();
        let mut wake = monotonic();
        let limit = wake + (spec.load.warmup + spec.load.duration + GRACE).0;
        loop {
            match socket.recv(&mut datagram) {
                Ok(length) if knows(&datagram[..length], spec.token) => {
                    let bytes = &datagram[..length];
                    send(&socket, bytes).map_err(Error::socket("send on", || name.clone()))?;
                    if is_closing(bytes) {
                        break;
                    }
                }
                Ok(_) => {}
                Err(error) if is_wait(&error) || is_unread(&error) => {}
                Err(error) => return Err(Error::socket("receive on", || name)(error)),
            }
            let now = monotonic();
            if now >= wake {
                shared.check()?;
                wake = now + TICK.as_nanos() as u64;
                if now >= limit {
                    break;
                }
            }
        }
        let thread = spent.until_now("server", ThreadRole::Pong);
        Ok(outcome(thread, udp_facts(&socket, spec.cpus.as_deref())))
    }
}

/// Waits until `message` comes back and returns when; late answers to earlier ones are dropped.
#[inline]
fn answered(
    socket: &UdpSocket,
    message: &Message,
    answer: &mut [u8],
    until: u64,
    check: impl Fn() -> Result<()>,
) -> std::result::Result<Option<u64>, Failed> {
    loop {
        match socket.recv(answer) {
            Ok(length) if message.is_answered_by(&answer[..length]) => return Ok(Some(monotonic())),
            Ok(_) => {}
            Err(error) if is_wait(&error) => check().map_err(Failed::Checked)?,
            Err(error) => return Err(Failed::Socket(error)),
        }
        if monotonic() >= until {
            return Ok(None);
        }
    }
}

/// Why an answer is no longer awaited; named only when it happens.
enum Failed {
    Checked(Error),
    Socket(io::Error),
}

impl Failed {
    fn named(self, name: &str) -> Error {
        match self {
            Self::Checked(error) => error,
            Self::Socket(error) => Error::socket("receive on", || name)(error),
        }
    }
}

/// Sends a datagram. What the kernel had no room for is lost, as it may be anywhere else on its way.
#[inline]
fn send(socket: &UdpSocket, bytes: &[u8]) -> io::Result<()> {
    match socket.send(bytes) {
        Ok(_) => Ok(()),
        Err(error) if is_wait(&error) || is_dropped(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Tells the server that it is over. It also ends without hearing so.
fn take_leave(socket: &UdpSocket, token: u64, answer: &mut [u8]) {
    let mut farewell = Message::new(HEADER, token);
    for _ in 0..FAREWELLS {
        if send(socket, farewell.number(CLOSING)).is_err() {
            return;
        }
        let until = monotonic() + LOST.0;
        match answered(socket, &farewell, answer, until, || Ok(())) {
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => return,
        }
    }
}

/// EMSGSIZE: an answer to a probe that the way back does not carry. ENOBUFS: a full device queue.
fn is_dropped(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(90 | 105))
}

/// The kernel's word about an earlier datagram: ECONNREFUSED once the client has closed its socket.
fn is_unread(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}
