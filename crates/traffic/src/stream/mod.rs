//! Streams: TCP bulk transfer with ordinary writes and copying reads, one thread a connection.
//!
//! Each direction that flows has connections of its own. All start together once every one stands. It knows
//! nothing of ping-pongs.

mod client;
mod flow;
mod pulse;
mod receive;
mod send;
mod series;
mod server;

#[cfg(test)]
mod tests;

pub(crate) use client::run_client;
pub(crate) use server::Server;

use load::{Direction, StreamLoad, Until};
use units::{Bytes, Nanos};

use crate::error::{Error, Result};

/// What a stream may take beyond the time it was asked for; without a time, how long nothing may move.
const GRACE: Nanos = Nanos::from_secs(5);

/// The connections of a stream, forward ones first.
fn connections(settings: &StreamLoad) -> impl Iterator<Item = (Direction, u32)> {
    let streams = settings.streams;
    settings.direction.flows().iter().flat_map(move |&direction| (0..streams).map(move |id| (direction, id)))
}

/// What connection `id` of a direction sends: all together exactly what was asked. `None`: no limit.
fn share(settings: &StreamLoad, id: u32) -> Option<u64> {
    match settings.until {
        Until::Elapsed(_) => None,
        Until::Sent(Bytes(bytes)) => {
            let streams = u64::from(settings.streams);
            Some(bytes / streams + u64::from(u64::from(id) < bytes % streams))
        }
    }
}

fn check(settings: &StreamLoad) -> Result<()> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if !(1..=1024).contains(&settings.streams) {
        return setting("the number of streams", settings.streams.to_string(), "1 to 1024");
    }
    if !(1..=64 << 20).contains(&settings.message.0) {
        return setting("the message", settings.message.0.to_string(), "1 byte to 64 MiB");
    }
    if settings.interval < Nanos::from_millis(1) {
        return setting("the interval", settings.interval.to_string(), "1 ms or longer");
    }
    match settings.until {
        Until::Elapsed(Nanos(0)) => setting("the duration", "0".into(), "a longer one"),
        Until::Sent(Bytes(0)) => setting("the amount to send", "0".into(), "1 byte or more"),
        Until::Elapsed(_) | Until::Sent(_) => Ok(()),
    }
}
