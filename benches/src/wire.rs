//! The path of the benches that send: two hosts and a veth pair between them, in anonymous namespaces.
//!
//! It must not know what is sent.

use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    process::{Child, Command, Stdio},
};

use anyhow::{Context, ensure};
use ipnet::Ipv4Net;
use scenario::{DeviceRef, Host, HostKind, HostName, Lab, Link, LinkEnd, LinkRole};
use topology::Topology;

const PREFIX: u8 = 30;

/// One end of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Where the first byte comes from.
    Client,
    /// Where something listens.
    Server,
}

impl End {
    /// Its address.
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

/// A veth pair, up and addressed.
pub(crate) struct Wire {
    topology: Topology,
}

impl Wire {
    /// Raises it.
    pub(crate) fn raise() -> anyhow::Result<Self> {
        Ok(Self { topology: Topology::raise(&lab()).context("raise a wire")? })
    }

    /// Starts a process at `end`, its standard output and error to be read. It ends with this process.
    pub(crate) fn start(&self, end: End, command: &mut Command) -> anyhow::Result<Running> {
        let namespace =
            self.topology.namespace(&HostName::new(end.host())).context("the wire has both ends")?;
        let label = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let process = sys::child::spawn_in(command, Some(namespace), &label)?;
        Ok(Running { process, label })
    }

    /// Runs a process at `end`, and gives what it wrote when it succeeds.
    pub(crate) fn run(&self, end: End, command: &mut Command) -> anyhow::Result<String> {
        self.start(end, command)?.output()
    }
}

/// A process at one end; ended when dropped.
pub(crate) struct Running {
    pub(crate) process: Child,
    label: String,
}

impl Running {
    /// Waits for its end, and gives what it wrote when it succeeded.
    pub(crate) fn output(mut self) -> anyhow::Result<String> {
        let (mut text, mut complaint) = (String::new(), String::new());
        read_all(self.process.stdout.take(), &mut text)?;
        read_all(self.process.stderr.take(), &mut complaint)?;
        let status = self.process.wait()?;
        ensure!(status.success(), "{} failed ({status}): {}{}", self.label, complaint.trim(), text.trim());
        Ok(text)
    }
}

fn read_all(from: Option<impl std::io::Read>, to: &mut String) -> std::io::Result<()> {
    from.map_or(Ok(0), |mut from| from.read_to_string(to)).map(drop)
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when it has ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn lab() -> Lab {
    let ends = [End::Client, End::Server];
    let host = |end: End| Host { name: HostName::new(end.host()), kind: HostKind::Host, forwards: false };
    let link_end = |end: End| LinkEnd {
        at: DeviceRef::new(end.host(), "eth0"),
        address: Some(Ipv4Net::new(end.address(), PREFIX).expect("30 is a length of a prefix")),
    };
    let link =
        Link { name: "wire".into(), role: LinkRole::Wire, ends: ends.map(link_end), mtu: 1500, rate: None };
    Lab {
        hosts: ends.map(host).into(),
        links: vec![link],
        bridges: vec![],
        vxlans: vec![],
        gateways: vec![],
        routes: vec![],
        devices: BTreeMap::new(),
    }
}
