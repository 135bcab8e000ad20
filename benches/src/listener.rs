//! A listener for comparison, independent of plumb.

use std::net::{SocketAddrV4, UdpSocket};

use anyhow::Context;
use socket2::{Domain, Protocol, Socket, Type};

/// The default of net.core.somaxconn.
const BACKLOG: i32 = 4096;

pub(crate) fn listen(at: SocketAddrV4, ready: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP)).context("make a socket")?;
    listener.bind(&at.into()).with_context(|| format!("bind {at}"))?;
    listener.listen(BACKLOG).with_context(|| format!("listen on {at}"))?;
    let _datagrams = UdpSocket::bind(at).with_context(|| format!("bind {at}"))?;
    ready()?;
    loop {
        drop(listener.accept());
    }
}
