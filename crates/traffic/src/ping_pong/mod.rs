//! Ping-pong over TCP or UDP. Protocols share the loops, and each numbers its messages in its own [`Format`].

mod answer;
mod client;
mod closed;
mod cpu_set;
mod echo;
mod greeting;
mod interval_recorder;
mod message;
mod message_socket;
mod open;
mod recorder;
mod server;
mod tcp;
mod udp;
mod under;
mod window;

#[cfg(test)]
mod tests;

pub use client::exchange;
pub(crate) use client::run_client;
pub use greeting::{Cookies, Greeting, GreetingKind};
pub(crate) use message::Message;
pub use message::{Format, Reply};
pub use message_socket::{Arrival, Carrier, MessageSocket};
pub(crate) use server::Server;
pub use server::{serve_tcp, serve_udp};
pub use udp::bind;
pub(crate) use udp::greet;

use units::{Bytes, Nanos};
use workload::{PingPongSettings, Schedule};

use crate::{
    error::{Error, Result},
    stream,
};

/// No interval is shorter than this, because every interval has its own histogram.
const SHORTEST: Nanos = Nanos::from_millis(10);
const FASTEST: Nanos = Nanos(1_000);
const GRACE: Nanos = Nanos::from_secs(5);
/// The time after which a datagram counts as lost and an open loop drops an unsent message. It exceeds the latency of
/// ordinary paths, so latency is not mistaken for loss.
const OVERDUE: Nanos = Nanos::from_secs(1);
const AGAIN: Nanos = Nanos::from_millis(200);

pub fn check(load: &PingPongSettings) -> Result<()> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if load.message < Bytes(1) || load.message > PingPongSettings::LARGEST {
        return setting("the message size", load.message.0.to_string(), "1 to 60000 bytes");
    }
    if load.duration == Nanos(0) {
        return setting("the duration", "0".into(), "a longer one");
    }
    if load.interval < SHORTEST {
        return setting("the interval", load.interval.to_string(), "10 ms or longer");
    }
    if let Schedule::Open { period } = load.schedule {
        if period < FASTEST {
            return setting("the period", period.to_string(), "1 µs or longer");
        }
        if load.message < Bytes(message::HEADER as u64) {
            let allowed = "16 to 60000 bytes for an open loop, which numbers its messages";
            return setting("the message size", load.message.0.to_string(), allowed);
        }
    }
    under::load(load).map_or(Ok(()), |under| stream::check(&under))
}
