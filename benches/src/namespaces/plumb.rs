//! Plumb's contender: [`Topology::create`], which reads everything back and waits for carrier before it returns.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use anyhow::{Context, ensure};
use ipnet::Ipv4Net;
use scenario::{
    DeviceName, DeviceRef, Host, HostKind, HostName, Lab, Link,
    link::{Attachment, Bridge, PairKind},
};
use topology::Topology;

use super::{CHECK, GUESTS, milliseconds, verify};
use crate::rounds::{Contender, Measured};

pub(super) const NAME: &str = "plumb";

const MTU: u32 = 1500;

pub(super) struct Plumb {
    lab: Lab,
}

impl Plumb {
    pub(super) fn new() -> Self {
        Self { lab: lab() }
    }
}

impl Contender for Plumb {
    fn name(&self) -> &'static str {
        NAME
    }

    fn measure(&mut self) -> anyhow::Result<Measured> {
        let begin = Instant::now();
        let topology = Topology::create(&self.lab)?;
        let time = begin.elapsed();
        ensure!(topology.missing().is_empty(), "the kernel lacks {:?}", topology.missing());
        let ports = count(&topology, "switch", "ports br0")?;
        let answers = count(&topology, "guest1", "answers")?;
        verify(&format!("{ports} {answers}"))?;
        Ok(vec![milliseconds(time)].into())
    }
}

fn count(topology: &Topology, host: &str, what: &str) -> anyhow::Result<String> {
    let namespace = topology.namespace(&HostName::new(host)).context("the host has no namespace")?;
    let mut command = Command::new("sh");
    command.args(["-c", &format!("PATH=\"$PATH:/usr/sbin:/sbin\"\n{CHECK}\n{what}")]).stdout(Stdio::piped());
    let output = sys::child::spawn_in(&mut command, Some(namespace), what)?.wait_with_output()?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn lab() -> Lab {
    let host = |name: String| Host::new(name, HostKind::Host);
    let guests = || (1..=GUESTS).map(|number| (format!("guest{number}"), number));
    let ports = guests().map(|(_, number)| DeviceName::new(format!("port{number}"))).collect();
    let bridge = Bridge::new("bridge", DeviceRef::new("switch", "br0"), ports, MTU);
    Lab {
        hosts: [host("switch".into())].into_iter().chain(guests().map(|(name, _)| host(name))).collect(),
        links: guests().map(|(name, number)| attachment(name, number)).chain([bridge.into()]).collect(),
        ..Lab::default()
    }
}

fn attachment(name: String, number: u8) -> Link {
    let address = Ipv4Net::new([198, 18, 0, number].into(), 24).expect("24 is a valid prefix length").into();
    let at = DeviceRef::new(name.clone(), "eth0");
    let port = DeviceRef::new("switch", format!("port{number}"));
    Attachment { name, at, port, pair: PairKind::Veth, address, mtu: MTU }.into()
}
