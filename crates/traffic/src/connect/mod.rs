//! Connections made, used for one request and its answer, and closed: their rate and times.
//!
//! Each of the client's threads has one connection at a time. The **server closes first**: whoever does keeps
//! the connection in TIME-WAIT for a minute, and at the client that would keep a port, of which a few ten
//! thousand are used up in seconds. At the server it keeps none, and Linux lets the client's next connection
//! from the same port take it over (RFC 1122, 4.2.2.13). A reset would avoid it too, but that is not how
//! connections end. It knows nothing of streams or of messages on a connection that stays.

mod answer;
mod client;
mod grid;
mod request;
mod server;

#[cfg(test)]
mod tests;

pub use answer::serve;
pub(crate) use client::run_client;
pub(crate) use server::Server;

use units::{Bytes, Nanos};
use workload::ConnectSettings;

use crate::error::{Error, Result};

/// How long an end goes on after the other should have ended.
const GRACE: Nanos = Nanos::from_secs(5);
/// The number of the connection that stands for the whole time: through it the server lets the client begin,
/// and learns of its end. Those that are counted have higher ones.
pub const CONTROL: u32 = 0;
/// The number of every connection that is counted.
const COUNTED: u32 = 1;
/// How long one connection may take.
const PATIENCE: Nanos = Nanos::from_secs(2);

/// Refuses settings that make no sense, naming those that do.
fn check(load: &ConnectSettings) -> Result<()> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if !(1..=1024).contains(&load.clients) {
        return setting("the number of clients", load.clients.to_string(), "1 to 1024");
    }
    if load.request > request::LARGEST {
        return setting("the request", load.request.0.to_string(), "at most 16 MiB");
    }
    if load.response < Bytes(1) || load.response > request::LARGEST {
        return setting("the response", load.response.0.to_string(), "1 byte to 16 MiB");
    }
    if load.duration == Nanos(0) {
        return setting("the duration", "0".into(), "a longer one");
    }
    if load.interval < Nanos::from_millis(1) {
        return setting("the interval", load.interval.to_string(), "1 ms or longer");
    }
    if let Some(port) = load.socket.source_port {
        let allowed = "none: each connection has a port of its own";
        return setting("the source port", port.to_string(), allowed);
    }
    Ok(())
}
