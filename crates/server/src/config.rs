//! Server settings: listeners, authentication and limits.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

use units::{BitRate, Bytes, Nanos};

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The addresses to listen on. For port 0, the kernel picks a port that is free for both protocols on all
    /// addresses. IPv6 sockets accept only IPv6.
    pub listen: Vec<SocketAddr>,
    pub allow: Vec<(IpAddr, u8)>,
    pub limits: Limits,
    pub queue: bool,
    /// Exits after one client. Sockperf datagrams do not count, because their source may be spoofed.
    pub once: bool,
    /// `None` disables authentication. Otherwise, the server serves only iperf3 clients, because the other protocols
    /// cannot authenticate.
    pub auth: Option<Auth>,
    /// Zero means 30 s. If `once` is set, zero also means that the server waits for its first client without a timeout.
    /// A client that receives a stream is dropped if its kernel acknowledges nothing for this time (at least 2 s and at
    /// most 10 s).
    pub idle_timeout: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Beyond this number, iperf3 clients get a "busy" reply, and other connections are closed.
    pub clients: usize,
    /// The limit per IPv4 address or IPv6 /64 network. `None` means a quarter of the total, but at least four.
    pub clients_of_address: Option<usize>,
    /// The maximum total rate of a test. Requests for a higher rate are refused, and a test without a rate ends if it
    /// exceeds the limit.
    pub rate: Option<BitRate>,
    /// Requests for a longer test are refused, and a test of unlimited duration ends after this time.
    pub duration: Nanos,
    pub bytes: Option<Bytes>,
}

impl Limits {
    pub(crate) fn clients_of_one(&self) -> usize {
        self.clients_of_address.unwrap_or((self.clients / 4).max(4))
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct Auth {
    pub private_key: String,
    /// The contents of the users file. Each line is `user,sha256hex("{user}password")`.
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
    // A kernel without IPv6 support refuses to listen on `::`.
    if Path::new("/proc/net/if_inet6").exists() {
        all.push(Ipv6Addr::UNSPECIFIED.into());
    }
    let chosen = if bind.is_empty() { &all } else { bind };
    chosen.iter().map(|address| SocketAddr::new(*address, port)).collect()
}

impl Config {
    /// Allows up to 64 concurrent clients, each for up to a day.
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
