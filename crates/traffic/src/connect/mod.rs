//! Opens many connections, each with a single request and response.
//!
//! The side that closes first keeps the connection in TIME-WAIT for a minute. A client would run out of ports within
//! seconds, so the **server closes first**. On the server, Linux lets the client's next connection from the same port
//! replace the old one (RFC 1122, 4.2.2.13).

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

const GRACE: Nanos = Nanos::from_secs(5);
/// The number of the control connection, over which the server starts the client and learns when the client has
/// finished. Measured connections have higher numbers.
pub const CONTROL: u32 = 0;
const COUNTED: u32 = 1;
const PATIENCE: Nanos = Nanos::from_secs(2);

fn check(load: &ConnectSettings) -> Result<()> {
    let setting = |setting, value: String, allowed| Err(Error::Setting { setting, value, allowed });
    if !(1..=1024).contains(&load.clients) {
        return setting("the number of clients", load.clients.to_string(), "1 to 1024");
    }
    if load.request > request::LARGEST {
        return setting("the request size", load.request.0.to_string(), "at most 16 MiB");
    }
    if load.response < Bytes(1) || load.response > request::LARGEST {
        return setting("the response size", load.response.0.to_string(), "1 byte to 16 MiB");
    }
    if load.duration == Nanos(0) {
        return setting("the duration", "0".into(), "a longer one");
    }
    if load.interval < Nanos::from_millis(1) {
        return setting("the interval", load.interval.to_string(), "1 ms or longer");
    }
    if let Some(port) = load.socket.source_port {
        let allowed = "none: each connection has its own port";
        return setting("the source port", port.to_string(), allowed);
    }
    Ok(())
}
