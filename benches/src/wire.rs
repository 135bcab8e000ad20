//! The path of benches that send traffic: two hosts connected by a veth pair, in anonymous namespaces.

use std::{
    collections::BTreeMap,
    fs,
    net::Ipv4Addr,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use ipnet::Ipv4Net;
use scenario::{
    DeviceRef, DeviceSettings, Host, HostKind, HostName, Lab,
    link::{self, LinkEnd},
};
use sys::netns::NetNs;
use topology::Topology;
use units::Bytes;
use workload::Transport;

use crate::process::Running;

const PREFIX: u8 = 30;
const DEVICE: &str = "eth0";

const LARGEST: Bytes = Bytes(524_280);

const PATIENCE: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    const BOTH: [Self; 2] = [Self::Client, Self::Server];

    pub(crate) const fn address(self) -> Ipv4Addr {
        match self {
            Self::Client => Ipv4Addr::new(198, 18, 0, 1),
            Self::Server => Ipv4Addr::new(198, 18, 0, 2),
        }
    }

    const fn host(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

pub(crate) struct Wire {
    topology: Topology,
}

impl Wire {
    pub(crate) fn create() -> anyhow::Result<Self> {
        Ok(Self { topology: Topology::create(&lab()).context("create a wire")? })
    }

    pub(crate) fn create_with_big_tcp() -> anyhow::Result<Self> {
        let wire = Self::create()?;
        let big = DeviceSettings { big_tcp: Some(LARGEST), ..DeviceSettings::default() };
        let settings: BTreeMap<_, _> =
            End::BOTH.map(|end| (DeviceRef::new(end.host(), DEVICE), big.clone())).into();
        wire.topology.configure(&settings).context("enable BIG TCP")?;
        Ok(wire)
    }

    /// Starts a process that is killed when the calling thread ends.
    pub(crate) fn start(&self, end: End, command: &mut Command) -> anyhow::Result<Running> {
        Running::start(command, self.namespace(end)?)
    }

    pub(crate) fn await_listener(
        &self,
        transport: Transport,
        port: u16,
        server: &mut Running,
    ) -> anyhow::Result<()> {
        let wait = || {
            let begin = Instant::now();
            while !listens(transport, port) {
                ensure!(server.is_running(), "the server exited before it listened");
                ensure!(begin.elapsed() < PATIENCE, "no listener on port {port}");
                thread::sleep(GLANCE);
            }
            Ok(())
        };
        self.namespace(End::Server)?.run_in(wait)?
    }

    pub(crate) fn run_at<T: Send>(
        &self,
        end: End,
        work: impl FnOnce() -> anyhow::Result<T> + Send,
    ) -> anyhow::Result<T> {
        self.namespace(end)?.run_in(work)?
    }

    fn namespace(&self, end: End) -> anyhow::Result<&NetNs> {
        self.topology.namespace(&HostName::new(end.host())).context("the path has both ends")
    }
}

/// Reads the counter in the calling thread's namespace. The headers of each packet count once, even if the packet
/// becomes several segments.
pub(crate) fn received() -> anyhow::Result<u64> {
    let path = "/proc/thread-self/net/dev";
    let text = fs::read_to_string(path).with_context(|| format!("read {path}"))?;
    let counters = text.lines().find_map(|line| line.trim_start().strip_prefix(DEVICE)?.strip_prefix(':'));
    let first = counters.and_then(|counters| counters.split_whitespace().next()?.parse().ok());
    first.with_context(|| format!("{path} does not show {DEVICE}"))
}

fn listens(transport: Transport, port: u16) -> bool {
    let (tables, state) = match transport {
        Transport::Tcp => (["tcp", "tcp6"], "0A"),
        Transport::Udp => (["udp", "udp6"], "07"),
    };
    let port = format!(":{port:04X}");
    tables.into_iter().any(|table| {
        // This file is missing in kernels without IPv6.
        let text = fs::read_to_string(format!("/proc/thread-self/net/{table}")).unwrap_or_default();
        let mut sockets = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        sockets.any(|fields| matches!(fields[..], [_, at, _, is, ..] if at.ends_with(&port) && is == state))
    })
}

fn lab() -> Lab {
    let link_end = |end: End| {
        let address = Ipv4Net::new(end.address(), PREFIX).expect("30 is a valid prefix length").into();
        LinkEnd::new(DeviceRef::new(end.host(), DEVICE), Some(address))
    };
    let hosts = End::BOTH.map(|end| Host::new(end.host(), HostKind::Host)).into();
    let wire = link::Wire::new("wire", End::BOTH.map(link_end), 1500);
    Lab { hosts, links: vec![wire.into()], ..Lab::default() }
}
