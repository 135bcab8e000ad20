//! A client of a stock `sockperf server`: every message asks for its return.
//!
//! sockperf has no greeting, so one message before all others shows whether a server answers at all; it is in
//! no number of the outcome, and makes one message more in the server's count.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use codecs::sockperf::Question;
use sys::clock::monotonic;
use traffic::{
    Error, Observer, Outcome, Result, Stop,
    dial::Dial,
    ping_pong::{self, Arrival, Carrier, Format, MessageSocket, Reply, exchange},
    socket::source,
};
use units::{Bytes, Nanos};
use workload::{PingPongEnd, PingPongSettings, Transport};

/// The number of the message that greets; those of the exchange follow it.
const GREETING: u64 = 1;
/// How often it is sent over UDP before the server counts as absent.
const GREETINGS: u32 = 15;
/// How long each is awaited.
const ANSWERED: Nanos = Nanos::from_millis(200);

/// A client of sockperf's.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientSpec {
    /// Where `sockperf server` listens, which does so on port 11111 and for one of TCP and UDP.
    pub server: SocketAddr,
    /// The address to send from; `None` is the kernel's choice.
    pub bind: Option<IpAddr>,
    /// What to send. The open loop is sockperf's `under-load` with every message answered, the closed one its
    /// `ping-pong`; messages have 14 to 65,507 bytes, and nothing flows beside them.
    pub load: PingPongSettings,
    /// CPUs of the threads, as with our own: thread n is bound to the one number n.
    pub cpus: Option<Vec<u32>>,
}

/// Measures round trips to a sockperf server. What it could tell of itself stays unknown.
///
/// # Errors
/// When a setting is invalid, nothing answers as sockperf does, or the server ends before its time.
pub fn run_client(spec: &ClientSpec, stop: &Stop, observer: &dyn Observer) -> Result<Outcome<PingPongEnd>> {
    let messages = check(&spec.load)?;
    let socket = match spec.load.transport {
        Transport::Tcp => over_tcp(spec, stop)?,
        Transport::Udp => over_udp(spec)?,
    };
    greet(&socket, messages.clone(), stop)?;
    exchange(&socket, &messages, &spec.load, spec.cpus.as_deref(), stop, observer)
}

/// The messages that are asked for, if they make sense.
fn check(load: &PingPongSettings) -> Result<Messages> {
    let length = usize::try_from(load.message.0).unwrap_or(usize::MAX);
    let question = Question::new(length).map_err(|_| Error::Setting {
        setting: "the message",
        value: load.message.0.to_string(),
        allowed: "14 to 65507 bytes, as sockperf's have",
    })?;
    if load.under.is_some() {
        let (setting, value) = ("a stream beside the messages", "asked of a sockperf server".to_owned());
        return Err(Error::Setting { setting, value, allowed: "none with sockperf" });
    }
    // The bounds of our own messages are others, and all the rest is the same.
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
    let any = match spec.server {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    spec.bind.unwrap_or(any)
}

/// Sends a message until one is answered; over TCP once.
fn greet(socket: &MessageSocket, mut messages: Messages, stop: &Stop) -> Result<()> {
    let begun = monotonic();
    let until = begun + ANSWERED.0 * u64::from(GREETINGS);
    let (length, mut due) = (messages.0.number(GREETING).len(), begun);
    let mut inbox = socket.inbox(Some(length));
    while monotonic() < until {
        if stop.is_asked() {
            return Err(Error::Stopped);
        }
        if monotonic() >= due {
            socket.send(messages.0.number(GREETING), || wait(stop, socket, until))?;
            due = if socket.is_stream() { until } else { due + ANSWERED.0 };
        }
        match socket.receive(&mut inbox).map_err(socket.failed("receive an answer on"))? {
            Arrival::Message(bytes) if messages.0.answered_by(bytes) == Some(GREETING) => return Ok(()),
            Arrival::Message(_) | Arrival::Nothing => {}
            Arrival::End => {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(socket.failed("get an answer of sockperf's on")(source));
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
    let waited = Nanos(ANSWERED.0 * u64::from(GREETINGS));
    Error::Silent { object: socket.name().to_owned(), missing: "an answer of sockperf's".into(), waited }
}

/// sockperf's messages in our loops, which number theirs from 0.
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
