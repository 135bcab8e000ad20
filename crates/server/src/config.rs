//! Server settings: listeners, authentication and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use units::{BitRate, Bytes, Nanos};

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The kernel replaces port 0 by a port that is free for both protocols on all addresses. IPv6 addresses listen for IPv6
    /// only.
    pub listen: Vec<SocketAddr>,
    /// Prefixes (address and length); empty allows all peers.
    pub allow: Vec<(IpAddr, u8)>,
    pub limits: Limits,
    /// One iperf3 test at a time, in order of arrival.
    pub queue: bool,
    /// Sockperf datagrams do not count, because their source may be spoofed.
    pub once: bool,
    /// `None` disables it. Other protocols cannot authenticate and are refused.
    pub auth: Option<Auth>,
    /// Zero means 30 s, and with `once` no limit for the first client. When sending a stream, the client is dropped if its
    /// kernel acknowledges nothing for this time, clamped to 2 to 10 s.
    pub idle_timeout: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// More iperf3 clients get a "busy" reply; other connections are closed.
    pub clients: usize,
    /// IPv6: per /64. `None` is a quarter of the total, but at least four.
    pub clients_of_address: Option<usize>,
    /// Total of a test. Requests for more are refused; tests without a rate are ended when they exceed it.
    pub rate: Option<BitRate>,
    /// Requests for more are refused; tests without an end are ended.
    pub duration: Nanos,
    /// Payload, enforced like the duration.
    pub bytes: Option<Bytes>,
}

impl Limits {
    pub(crate) fn clients_of_one(&self) -> usize {
        self.clients_of_address.unwrap_or((self.clients / 4).max(4))
    }
}

/// RSA user authentication of iperf3.
#[derive(Clone, PartialEq, Eq)]
pub struct Auth {
    /// PEM.
    pub private_key: String,
    /// Lines of `user,hash`; the hash is the SHA-256 of `{user}password` in hexadecimal.
    pub users: String,
    /// Maximum clock difference between the ends.
    pub skew: Nanos,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("skew", &self.skew).finish_non_exhaustive()
    }
}

/// All addresses of the machine if `bind` is empty.
#[must_use]
pub fn addresses(bind: &[IpAddr], port: u16) -> Vec<SocketAddr> {
    let mut all: Vec<IpAddr> = vec![Ipv4Addr::UNSPECIFIED.into()];
    // A kernel without IPv6 refuses to listen on `::`.
    if Path::new("/proc/net/if_inet6").exists() {
        all.push(Ipv6Addr::UNSPECIFIED.into());
    }
    let chosen = if bind.is_empty() { &all } else { bind };
    chosen.iter().map(|address| SocketAddr::new(*address, port)).collect()
}

impl Config {
    /// Serves up to 64 clients at a time, for up to a day each.
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

    pub(crate) fn patience(&self) -> Nanos {
        if self.idle_timeout == Nanos(0) { Nanos::from_secs(30) } else { self.idle_timeout }
    }
}
