//! Server settings: listeners, authentication and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use units::{BitRate, Bytes, Nanos};

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// TCP and UDP listen addresses. With port 0 the kernel chooses a port that is free for both protocols on all
    /// addresses. IPv6 addresses listen for IPv6 only.
    pub listen: Vec<SocketAddr>,
    /// Allowed peer prefixes (address and length); empty allows all.
    pub allow: Vec<(IpAddr, u8)>,
    pub limits: Limits,
    /// Run iperf3 tests one at a time in order of arrival instead of concurrently.
    pub queue: bool,
    /// Exit after the first client. Sockperf datagrams do not count, because their source may be spoofed.
    pub once: bool,
    /// Authentication of iperf3 clients; `None` disables it. Other protocols cannot authenticate and are refused.
    pub auth: Option<Auth>,
    /// Idle time before a client is dropped and, with `once`, how long to wait for the first client. Zero means 30 s
    /// for the former and no limit for the latter. When sending a stream, the client is dropped if its kernel
    /// acknowledges nothing for this time, clamped to 2 to 10 s.
    pub idle_timeout: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Concurrent clients. Beyond the limit iperf3 clients get a "busy" reply; other connections are closed.
    pub clients: usize,
    /// Concurrent clients per address (IPv6: per /64); `None` is a quarter of the total, but at least four.
    pub clients_of_address: Option<usize>,
    /// Total rate of a test. Requests for more are refused; tests without a rate are ended when they exceed it.
    pub rate: Option<BitRate>,
    /// Test duration. Requests for more are refused; tests without an end are ended.
    pub duration: Nanos,
    /// Total payload of a test, enforced like the duration.
    pub bytes: Option<Bytes>,
}

impl Limits {
    /// Concurrent clients per address, within the total.
    pub(crate) fn clients_of_one(&self) -> usize {
        self.clients_of_address.unwrap_or((self.clients / 4).max(4))
    }
}

/// RSA user authentication of iperf3.
#[derive(Clone, PartialEq, Eq)]
pub struct Auth {
    /// Private key of the server, PEM.
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

/// Listen addresses for `bind`, or all addresses of the machine if it is empty.
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
    /// Serves all peers on `listen`, up to 64 clients at a time, for up to a day each.
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

    /// Idle time before a client is dropped.
    pub(crate) fn patience(&self) -> Nanos {
        if self.idle_timeout == Nanos(0) { Nanos::from_secs(30) } else { self.idle_timeout }
    }
}
