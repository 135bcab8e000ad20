//! Server settings: listeners, authentication and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use units::{BitRate, Bytes, Nanos};

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// If the port is 0, the kernel picks one that is free for both protocols on all addresses. IPv6
    /// addresses only accept IPv6.
    pub listen: Vec<SocketAddr>,
    /// Address prefixes, each with its length. An empty list allows all peers.
    pub allow: Vec<(IpAddr, u8)>,
    pub limits: Limits,
    /// Runs one iperf3 test at a time, in order of arrival.
    pub queue: bool,
    /// Sockperf datagrams are not counted, because their source may be spoofed.
    pub once: bool,
    /// `None` disables authentication. With it enabled, other protocols are refused, because they cannot
    /// authenticate.
    pub auth: Option<Auth>,
    /// Zero means 30 s; with `once`, it means that the first client has no timeout. When the server sends a
    /// stream, it drops the client if the client's kernel acknowledges nothing for this time, clamped to
    /// between 2 and 10 s.
    pub idle_timeout: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// More iperf3 clients get a "busy" reply; other connections are closed.
    pub clients: usize,
    /// For IPv6, the limit applies to each /64. `None` means a quarter of the total, but at least four.
    pub clients_of_address: Option<usize>,
    /// Maximum total rate of a test. Requests for more are refused; tests that set no rate are ended when
    /// they exceed it.
    pub rate: Option<BitRate>,
    /// Requests for a longer test are refused; tests without an end are ended after this time.
    pub duration: Nanos,
    /// Maximum payload, enforced like the duration.
    pub bytes: Option<Bytes>,
}

impl Limits {
    pub(crate) fn clients_of_one(&self) -> usize {
        self.clients_of_address.unwrap_or((self.clients / 4).max(4))
    }
}

/// Settings for iperf3's RSA user authentication.
#[derive(Clone, PartialEq, Eq)]
pub struct Auth {
    pub private_key: String,
    /// One `user,hash` per line, where the hash is the SHA-256 of `{user}password` in hexadecimal.
    pub users: String,
    pub skew: Nanos,
}

impl std::fmt::Debug for Auth {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Auth").field("skew", &self.skew).finish_non_exhaustive()
    }
}

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
    /// Serves up to 64 clients at a time, each for up to a day.
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
