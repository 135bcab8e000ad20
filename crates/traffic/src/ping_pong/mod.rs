//! Ping-pong: messages there and back over TCP or UDP, in a closed or an open loop, asleep or spinning, alone
//! or beside a stream.
//!
//! Every round trip after the warm-up is counted in a histogram, and each interval has one of its own. How a
//! message is numbered is a [`Format`], so that other protocols share the loops. It knows nothing of how a
//! stream moves its bytes.

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

/// The shortest interval: a histogram is handed over at the end of each.
const SHORTEST: Nanos = Nanos::from_millis(10);
/// The fastest open loop.
const FASTEST: Nanos = Nanos(1_000);
/// How long an end goes on after the other should have ended.
const GRACE: Nanos = Nanos::from_secs(5);
/// After this long a datagram counts as lost, and a message of an open loop that could not be sent is not sent any
/// more: longer than any usual path takes, so that a long way is not taken for a loss.
const OVERDUE: Nanos = Nanos::from_secs(1);
/// How long the answer to a word at the start or the end is awaited before it is said again.
const AGAIN: Nanos = Nanos::from_millis(200);

/// Refuses settings that make no sense, naming those that do.
pub fn check(load: &PingPongSettings) -> Result<()> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if load.message < Bytes(1) || load.message > PingPongSettings::LARGEST {
        return setting("the message", load.message.0.to_string(), "1 to 60000 bytes");
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
            return setting("the message", load.message.0.to_string(), allowed);
        }
    }
    under::load(load).map_or(Ok(()), |under| stream::check(&under))
}
