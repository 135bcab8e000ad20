//! Ping-pong: one message there and back at a time, closed loop, blocking.
//!
//! Every round trip after the warm-up is counted in a histogram. It knows nothing of streams.

mod client;
mod message;
mod server;
mod tcp;
mod udp;

#[cfg(test)]
mod tests;

pub(crate) use client::run_client;
pub(crate) use server::Server;

pub(crate) use message::Message;
pub(crate) use udp::greet;

use load::PingPongLoad;
use units::{Bytes, Nanos};

use crate::error::{Error, Result};

/// The largest message: with its headers it still is one IPv4 packet.
const LARGEST: Bytes = Bytes(60_000);
/// How long a server goes on after its client should have ended.
const GRACE: Nanos = Nanos::from_secs(3);

fn check(settings: &PingPongLoad) -> Result<()> {
    if settings.message < Bytes(1) || settings.message > LARGEST {
        let value = settings.message.0.to_string();
        return Err(Error::Setting { setting: "the message", value, allowed: "1 to 60000 bytes" });
    }
    if settings.duration == Nanos(0) {
        return Err(Error::Setting { setting: "the duration", value: "0".into(), allowed: "a longer one" });
    }
    Ok(())
}
