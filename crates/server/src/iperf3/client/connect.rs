//! Opens the connections of a test: the control connection and the data streams.

use std::{
    io::Write,
    net::{IpAddr, SocketAddr, TcpStream, UdpSocket},
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

/// The timeout of the control connection and of a UDP greeting.
const PATIENCE: Nanos = Nanos::from_secs(10);
const ALL: Nanos = Nanos::from_secs(60);
const GLANCE: Duration = Duration::from_millis(1);
/// The wait before a UDP greeting is repeated. It is long, because a stock server counts a repeated greeting as a
/// datagram of the test.
const LOST: Nanos = Nanos::from_secs(2);

pub(super) struct Streams {
    pub(super) sockets: Vec<FlowSocket>,
    connections: Vec<Connection>,
}

impl Streams {
    pub(super) fn connections(&self) -> Vec<Connection> {
        self.connections.clone()
    }
}

pub(super) fn control(spec: &ClientSpec, stop: &Stop) -> Result<TcpStream> {
    let patience = spec.options.connect_timeout.unwrap_or(PATIENCE);
    let object = || format!("to {}", spec.server);
    let socket = Socket::new(domain(spec.server), Type::STREAM, Some(Protocol::TCP))
        .map_err(Error::socket("open a socket", object))?;
    let from = SocketAddr::new(bind(spec), 0);
    socket.bind(&from.into()).map_err(Error::socket("connect from", || from.ip().to_string()))?;
    socket.set_nonblocking(true).map_err(Error::socket("prepare a socket", object))?;
    let started = monotonic();
    // A nonblocking connect returns EINPROGRESS; the actual result is read below.
    let mut connected = socket.connect(&spec.server.into());
    loop {
        match connected {
            Err(error) if !is_under_way(&error) => return Err(Error::socket("connect", object)(error)),
            _ if socket.peer_addr().is_ok() => break,
            _ => {}
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if monotonic() - started > patience.0 {
            let missing = "the connection".into();
            return Err(Error::Silent { object: spec.server.to_string(), missing, waited: patience });
        }
        thread::sleep(GLANCE);
        connected = socket.take_error().and_then(|error| error.map_or(Ok(()), Err));
    }
    socket.set_nonblocking(false).map_err(Error::socket("prepare a socket", object))?;
    Ok(socket.into())
}

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
    let started = monotonic();
    for number in 0..plan.len() {
        if monotonic() - started > ALL.0 {
            let missing = format!("its data connections: {number} of {} open", plan.len());
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

fn greet(dial: &Dial<'_>, stop: &Stop) -> Result<UdpSocket> {
    let object = || format!("{} over UDP", dial.server);
    let socket = datagrams(dial)?;
    let mut bytes = [0; 8];
    let started = monotonic();
    let mut sent: Option<u64> = None;
    while monotonic() - started < PATIENCE.0 {
        if sent.is_none_or(|sent| monotonic() - sent > LOST.0) {
            let greeted = socket.send(&Connect::Text.request());
            greeted.map_err(Error::socket("greet", object))?;
            sent = Some(monotonic());
        }
        match socket.recv(&mut bytes) {
            Ok(length) if Connect::parse_reply(&bytes[..length]).is_some() => return Ok(socket),
            // Data from another stream may arrive before the reply.
            Ok(_) => {}
            Err(error) if is_wait(&error) => {}
            Err(error) => return Err(Error::socket("receive a greeting from", object)(error)),
        }
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
    }
    let missing = "a reply to the UDP greeting; check that the firewall allows UDP".into();
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
    spec.bind.unwrap_or_else(|| dial::any_source(spec.server))
}
