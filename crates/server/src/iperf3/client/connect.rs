//! The connections of a test: the control connection, and the streams, which say the cookie or greet.

use std::{
    io::Write,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket},
    thread,
    time::Duration,
};

use codecs::iperf3::{Connect, Cookie, PlannedStream};
use socket2::{Protocol, Socket, Type};
use sys::clock::monotonic;
use traffic::{
    Error, Result, Stop,
    dial::{self, Dial, is_under_way},
    socket::{TICK, apply, domain, is_wait, limit_waits, source},
    stream::{DatagramFormat, FlowSocket},
};
use units::Nanos;
use workload::{StreamSettings, Transport};

use super::{ClientSpec, Connection};

/// How long the control connection may take unless something else is said, and each greeting over UDP.
const PATIENCE: Nanos = Nanos::from_secs(10);
/// How long all streams together may take to stand.
const ALL: Nanos = Nanos::from_secs(60);
/// How often a connection under way is looked at.
const GLANCE: Duration = Duration::from_millis(1);
/// A greeting counts as lost after this long. A stock server takes one that comes again for a datagram of the
/// test, so it is long.
const LOST: Nanos = Nanos::from_secs(2);

/// The data connections of a test, in the order in which the server has them.
pub(super) struct Streams {
    pub(super) sockets: Vec<FlowSocket>,
    connections: Vec<Connection>,
}

impl Streams {
    pub(super) fn connections(&self) -> Vec<Connection> {
        self.connections.clone()
    }
}

/// Connects to the server, within the time that the options allow.
pub(super) fn control(spec: &ClientSpec, stop: &Stop) -> Result<TcpStream> {
    let patience = spec.options.connect_timeout.unwrap_or(PATIENCE);
    let object = || format!("to {}", spec.server);
    let socket = Socket::new(domain(spec.server), Type::STREAM, Some(Protocol::TCP))
        .map_err(Error::socket("open a socket", object))?;
    let from = SocketAddr::new(bind(spec), 0);
    socket.bind(&from.into()).map_err(Error::socket("connect from", || from.ip().to_string()))?;
    socket.set_nonblocking(true).map_err(Error::socket("prepare a socket", object))?;
    let begun = monotonic();
    // It says that it is under way; how it went is told below.
    let mut said = socket.connect(&spec.server.into());
    loop {
        match said {
            Err(error) if !is_under_way(&error) => return Err(Error::socket("connect", object)(error)),
            _ if socket.peer_addr().is_ok() => break,
            _ => {}
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if monotonic() - begun > patience.0 {
            let missing = "the connection".into();
            return Err(Error::Silent { object: spec.server.to_string(), missing, waited: patience });
        }
        thread::sleep(GLANCE);
        said = socket.take_error().and_then(|error| error.map_or(Ok(()), Err));
    }
    socket.set_nonblocking(false).map_err(Error::socket("prepare a socket", object))?;
    Ok(socket.into())
}

/// Makes every stream, one after another.
pub(super) fn streams(
    spec: &ClientSpec,
    load: &StreamSettings,
    plan: &[PlannedStream],
    cookie: &Cookie,
    stop: &Stop,
) -> Result<Streams> {
    let format =
        if spec.options.counters_64bit { DatagramFormat::Counter64 } else { DatagramFormat::Counter32 };
    let mut streams = Streams { sockets: Vec::new(), connections: Vec::new() };
    let begun = monotonic();
    for number in 0..plan.len() {
        if monotonic() - begun > ALL.0 {
            let missing = format!("its data connections: {number} of {} stand", plan.len());
            return Err(Error::Silent { object: spec.server.to_string(), missing, waited: ALL });
        }
        let settings = &load.socket;
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let dial = Dial { bind: bind(spec), server: spec.server, settings, number };
        let (addresses, socket) = match load.transport {
            Transport::Tcp => {
                let socket = dial_with_cookie(&dial, cookie, stop)?;
                ((socket.local_addr(), socket.peer_addr()), FlowSocket::Tcp(socket))
            }
            Transport::Udp => {
                let socket = greet(&dial, stop)?;
                ((socket.local_addr(), socket.peer_addr()), FlowSocket::Udp(socket, format))
            }
        };
        if let (Ok(local), Ok(remote)) = addresses {
            streams.connections.push(Connection { local, remote });
        }
        streams.sockets.push(socket);
    }
    Ok(streams)
}

fn dial_with_cookie(dial: &Dial<'_>, cookie: &Cookie, stop: &Stop) -> Result<TcpStream> {
    let mut socket = dial.connect_plain(stop)?;
    let sent = socket.write_all(cookie.as_bytes());
    sent.map_err(Error::socket("send the cookie to", || dial.server.to_string()))?;
    Ok(socket)
}

/// Asks for a stream and awaits the answer.
fn greet(dial: &Dial<'_>, stop: &Stop) -> Result<UdpSocket> {
    let object = || format!("{} over UDP", dial.server);
    let socket = datagrams(dial)?;
    let mut bytes = [0; 8];
    let begun = monotonic();
    let mut sent: Option<u64> = None;
    while monotonic() - begun < PATIENCE.0 {
        if sent.is_none_or(|sent| monotonic() - sent > LOST.0) {
            let greeted = socket.send(&Connect::Text.request());
            greeted.map_err(Error::socket("greet", object))?;
            sent = Some(monotonic());
        }
        match socket.recv(&mut bytes) {
            Ok(length) if Connect::parse_reply(&bytes[..length]).is_some() => return Ok(socket),
            // What was sent on a stream that stands already may overtake the answer.
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("be greeted by", object)(error)),
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
    }
    let missing = "an answer to the greeting; does a firewall let UDP through".into();
    Err(Error::Silent { object: object(), missing, waited: PATIENCE })
}

fn datagrams(dial: &Dial<'_>) -> Result<UdpSocket> {
    let server = || format!("{} over UDP", dial.server);
    let socket = Socket::new(domain(dial.server), Type::DGRAM, Some(Protocol::UDP))
        .map_err(Error::socket("open a socket to", server))?;
    apply(&socket, dial.settings, true)?;
    let from = source(dial.bind, dial.settings, dial.number)?;
    socket.bind(&from.into()).map_err(Error::socket("send from", || dial::chosen(from)))?;
    socket.connect(&dial.server.into()).map_err(Error::socket("connect to", server))?;
    limit_waits(&socket, TICK)?;
    Ok(socket.into())
}

fn bind(spec: &ClientSpec) -> IpAddr {
    spec.bind.unwrap_or(match spec.server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    })
}
