//! Streams: bulk transfer over TCP and UDP with one thread per connection.

mod client;
mod engine;
mod flow;
mod goal;
mod interval_sampler;
mod pace;
mod series;
mod server;
mod tcp;
mod udp;

#[cfg(test)]
mod tests;

pub(crate) use client::run_client;
pub use engine::run;
pub use flow::{CLIENT, EndFlag, Finish, Flow, FlowSocket, SERVER, Start};
pub(crate) use server::Server;
pub use udp::DatagramFormat;

use units::{Bytes, Nanos};
use workload::{Direction, StreamSettings, Transport, Until};

use crate::error::{Error, Result};

/// A stream may exceed its requested duration by at most this time. A stream without a duration may stall for at most
/// this time.
const GRACE: Nanos = Nanos::from_secs(5);

/// When a stream is ended externally, its receiver continues until no data has arrived for this long.
const QUIET: Nanos = Nanos::from_millis(20);
/// The longest wait for [`QUIET`], unless earlier data is still queued.
const RUNDOWN: Nanos = Nanos::from_millis(500);

fn connections(settings: &StreamSettings) -> impl Iterator<Item = (Direction, u32)> {
    let streams = settings.streams;
    settings.direction.flows().iter().flat_map(move |&direction| (0..streams).map(move |id| (direction, id)))
}

/// Returns the bytes that connection `id` sends, or `None` if the stream has no total. The shares add up to the total.
pub fn share(settings: &StreamSettings, id: u32) -> Option<u64> {
    match settings.until {
        Until::Elapsed(_) => None,
        Until::Sent(Bytes(bytes)) => {
            let streams = u64::from(settings.streams);
            Some(bytes / streams + u64::from(u64::from(id) < bytes % streams))
        }
    }
}

pub fn check(settings: &StreamSettings) -> Result<()> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if !(1..=1024).contains(&settings.streams) {
        return setting("the number of streams", settings.streams.to_string(), "1 to 1024");
    }
    let message = settings.message.0;
    match settings.transport {
        Transport::Tcp if !(1..=64 << 20).contains(&message) => {
            return setting("the message size", message.to_string(), "1 byte to 64 MiB");
        }
        Transport::Udp if !(udp::SMALLEST..=udp::LARGEST).contains(&message) => {
            return setting("the datagram size", message.to_string(), "16 to 65507 bytes");
        }
        Transport::Tcp | Transport::Udp => {}
    }
    if settings.interval < Nanos::from_millis(1) {
        return setting("the interval", settings.interval.to_string(), "1 ms or longer");
    }
    if let Some(rate) = settings.rate.filter(|rate| !(rate.0.is_finite() && rate.0 >= 1.0)) {
        return setting("the rate", rate.0.to_string(), "1 bit/s or more");
    }
    match settings.until {
        Until::Elapsed(Nanos(0)) => setting("the duration", "0".into(), "a longer one"),
        Until::Sent(Bytes(0)) => setting("the amount to send", "0".into(), "1 byte or more"),
        Until::Elapsed(_) | Until::Sent(_) => Ok(()),
    }
}
