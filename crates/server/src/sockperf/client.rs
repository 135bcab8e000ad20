//! A client for the stock `sockperf server`. It first sends one message to check that the server replies. Only the
//! server counts this message.

use std::net::{IpAddr, SocketAddr};

use codecs::sockperf::Question;
use sys::clock::monotonic;
use traffic::{
    Error, Observer, Outcome, Result, Stop,
    dial::{Dial, any_source},
    ping_pong::{self, Arrival, Carrier, Format, MessageSocket, Reply, exchange},
    socket::source,
};
use units::{Bytes, Nanos};
use workload::{PingPongEnd, PingPongSettings, Transport};

/// The sequence number of the initial message. The exchange starts with the next number.
const GREETING: u64 = 1;
const GREETINGS: u32 = 15;
const REPLY_TIMEOUT: Nanos = Nanos::from_millis(200);

#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec {
    /// The server's address. The default port is 11111, and the server uses either TCP or UDP.
    pub server: SocketAddr,
    pub bind: Option<IpAddr>,
    /// The workload. An open loop corresponds to sockperf's `under-load` with replies to all messages, a closed loop to
    /// its `ping-pong`. Messages are 14 to 65,507 bytes long. Parallel streams are not supported.
    pub load: PingPongSettings,
    pub cpus: Option<Vec<u32>>,
}

pub fn run_client(spec: &ClientSpec, stop: &Stop, observer: &dyn Observer) -> Result<Outcome<PingPongEnd>> {
    let messages = check(&spec.load)?;
    let socket = match spec.load.transport {
        Transport::Tcp => over_tcp(spec, stop)?,
        Transport::Udp => over_udp(spec)?,
    };
    greet(&socket, messages.clone(), stop)?;
    exchange(&socket, &messages, &spec.load, spec.cpus.as_deref(), stop, observer)
}

fn check(load: &PingPongSettings) -> Result<Messages> {
    let length = usize::try_from(load.message.0).unwrap_or(usize::MAX);
    let question = Question::new(length).map_err(|_| Error::Setting {
        setting: "message size",
        value: load.message.0.to_string(),
        allowed: "14 to 65507 bytes for sockperf",
    })?;
    if load.under.is_some() {
        let (setting, value) = ("a parallel stream", "used with sockperf".to_owned());
        return Err(Error::Setting { setting, value, allowed: "none" });
    }
    // Only the message size limits differ from those of the plumb protocol.
    ping_pong::check(&PingPongSettings { message: Bytes(64), ..load.clone() })?;
    Ok(Messages(question))
}

fn over_tcp(spec: &ClientSpec, stop: &Stop) -> Result<MessageSocket> {
    let settings = &spec.load.socket;
    let dial = Dial { bind: from(spec), server: spec.server, settings, number: 0 };
    let socket = dial.connect_plain(stop)?;
    sys::socket::set_nodelay(&socket, settings.nodelay.unwrap_or(true))?;
    let name = format!("the sockperf connection with {}", spec.server);
    Ok(MessageSocket::new(Carrier::Tcp(socket), spec.load.waiting, name))
}

fn over_udp(spec: &ClientSpec) -> Result<MessageSocket> {
    let settings = &spec.load.socket;
    let socket = ping_pong::bind(source(from(spec), settings, 0)?, settings)?;
    let named = || format!("{} over UDP", spec.server);
    socket.connect(spec.server).map_err(Error::socket("connect to", named))?;
    let name = format!("the sockperf datagrams with {}", spec.server);
    Ok(MessageSocket::new(Carrier::Udp(socket), spec.load.waiting, name))
}

fn from(spec: &ClientSpec) -> IpAddr {
    spec.bind.unwrap_or_else(|| any_source(spec.server))
}

fn greet(socket: &MessageSocket, mut messages: Messages, stop: &Stop) -> Result<()> {
    let started = monotonic();
    let until = started + REPLY_TIMEOUT.0 * u64::from(GREETINGS);
    let (length, mut due) = (messages.0.number(GREETING).len(), started);
    let mut inbox = socket.inbox(Some(length));
    while monotonic() < until {
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if monotonic() >= due {
            socket.send(messages.0.number(GREETING), || wait(stop, socket, until))?;
            due = if socket.is_stream() { until } else { due + REPLY_TIMEOUT.0 };
        }
        match socket.receive(&mut inbox).map_err(socket.failed("receive a reply on"))? {
            Arrival::Message(bytes) if messages.0.answered_by(bytes) == Some(GREETING) => return Ok(()),
            Arrival::Message(_) | Arrival::Nothing => {}
            Arrival::End => {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(socket.failed("get a sockperf reply on")(source));
            }
        }
    }
    Err(silent(socket))
}

fn wait(stop: &Stop, socket: &MessageSocket, until: u64) -> Result<()> {
    if stop.is_asked() {
        return Err(Error::Stopped);
    }
    if monotonic() < until { Ok(()) } else { Err(silent(socket)) }
}

fn silent(socket: &MessageSocket) -> Error {
    let waited = Nanos(REPLY_TIMEOUT.0 * u64::from(GREETINGS));
    Error::Silent { object: socket.name().to_owned(), missing: "a sockperf reply".into(), waited }
}

#[derive(Debug, Clone)]
struct Messages(Question);

impl Format for Messages {
    #[inline]
    fn write(&mut self, number: u64) -> &[u8] {
        self.0.number(GREETING + 1 + number)
    }

    #[inline]
    fn read(&self, received: &[u8], _next: u64) -> Reply {
        match self.0.answered_by(received) {
            Some(GREETING) => Reply::Before,
            Some(number) => number.checked_sub(GREETING + 1).map_or(Reply::Unknown, Reply::Answer),
            None => Reply::Unknown,
        }
    }
}
