//! How a standing server is set: where it listens, whom it serves, and how much of it.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use units::{BitRate, Bytes, Nanos};

/// A standing server.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Addresses to listen on, each for TCP and for UDP. With port 0 the kernel chooses one that is free for
    /// both, the same for all. An IPv6 address listens for IPv6 only.
    pub listen: Vec<SocketAddr>,
    /// Prefixes that peers may come from (address and length); empty allows all.
    pub allow: Vec<(IpAddr, u8)>,
    /// Bounds of what is served.
    pub limits: Limits,
    /// One iperf3 test after another, in the order of their coming, instead of side by side.
    pub queue: bool,
    /// Ends after the first client that was served; datagrams of sockperf, which may be anybody's, are none.
    pub once: bool,
    /// Whom iperf3 clients have to name themselves as; `None` asks nobody. Other protocols cannot, and are refused.
    pub auth: Option<Auth>,
    /// How long a client may stay silent before it is given up, and with `once` also how long none may come. Zero
    /// is 30 s for the first and no end for the second. One that is sent a stream is given up when its kernel
    /// acknowledges nothing for this time, for 2 s at least and 10 s at most.
    pub idle_timeout: Nanos,
}

/// Bounds of what is served.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Clients at a time. A further iperf3 client is told that the server is busy; any other is closed.
    pub clients: usize,
    /// Those of one address (of IPv6: of one /64); `None` is a quarter of all, but four at least.
    pub clients_of_address: Option<usize>,
    /// Rate of a test, all its streams together: a test that asks for more is refused, one that asks for none
    /// is ended when it takes more.
    pub rate: Option<BitRate>,
    /// Time of a test: one that asks for more is refused, one without an end is ended.
    pub duration: Nanos,
    /// Payload of a test, all its streams together: the same.
    pub bytes: Option<Bytes>,
}

impl Limits {
    /// Clients of one address at a time, if there are places for so many.
    pub(crate) fn clients_of_one(&self) -> usize {
        self.clients_of_address.unwrap_or((self.clients / 4).max(4))
    }
}

/// How iperf3 clients prove who they are (RSA user authentication).
#[derive(Clone, PartialEq, Eq)]
pub struct Auth {
    /// The server's private key, PEM.
    pub private_key: String,
    /// Lines `user,hash`, the hash being SHA-256 of `{user}password` in hexadecimal.
    pub users: String,
    /// How much the clocks of both ends may differ.
    pub skew: Nanos,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("skew", &self.skew).finish_non_exhaustive()
    }
}

/// Where to listen: on these addresses, or where none is named on all of this machine's.
#[must_use]
pub fn addresses(bind: &[IpAddr], port: u16) -> Vec<SocketAddr> {
    let mut all: Vec<IpAddr> = vec![Ipv4Addr::UNSPECIFIED.into()];
    // A kernel without IPv6 refuses to listen on it.
    if Path::new("/proc/net/if_inet6").exists() {
        all.push(Ipv6Addr::UNSPECIFIED.into());
    }
    let chosen = if bind.is_empty() { &all } else { bind };
    chosen.iter().map(|address| SocketAddr::new(*address, port)).collect()
}

impl Config {
    /// Serves everybody on `listen`, up to 64 clients at a time, for up to a day each.
    #[must_use]
    pub const fn new(listen: Vec<SocketAddr>) -> Self {
        Self {
            listen,
            allow: Vec::new(),
            limits: Limits {
                clients: 64,
                clients_of_address: None,
                rate: None,
                duration: Nanos::from_secs(86_400),
                bytes: None,
            },
            queue: false,
            once: false,
            auth: None,
            idle_timeout: Nanos(0),
        }
    }

    /// How long a client may stay silent.
    pub(crate) fn patience(&self) -> Nanos {
        if self.idle_timeout == Nanos(0) { Nanos::from_secs(30) } else { self.idle_timeout }
    }
}
