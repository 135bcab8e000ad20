//! A listener for comparison that is not plumb's.

use std::net::{SocketAddrV4, UdpSocket};

use anyhow::Context;
use socket2::{Domain, Protocol, Socket, Type};

/// Connections that the listener's kernel keeps for it: as many as it may without a setting (net.core.somaxconn).
const BACKLOG: i32 = 4096;

/// Takes connections and closes them, as cheaply as a listener can, for ever; datagrams are left to the kernel.
pub(crate) fn listen(at: SocketAddrV4, ready: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).context("make a socket")?;
    listener.bind(&at.into()).with_context(|| format!("bind {at}"))?;
    listener.listen(BACKLOG).with_context(|| format!("listen on {at}"))?;
    let _datagrams = UdpSocket::bind(at).with_context(|| format!("bind {at}"))?;
    ready()?;
    loop {
        // A client that is gone already is no reason to end.
        drop(listener.accept());
    }
}
