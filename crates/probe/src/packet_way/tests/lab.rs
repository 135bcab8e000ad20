//! Network namespaces with devices, for tests.

use std::process::Command;

use protocol::{BreakdownOrder, Subject, WatchedDevice};
use samples::CpuConsumer;
use sys::netns::NetNs;
use units::Bytes;

use super::play::Play;
use crate::observe::Watch;

pub(super) struct Lab {
    hosts: Vec<(&'static str, NetNs)>,
    devices: Vec<WatchedDevice>,
}

impl Lab {
    pub(super) fn new(hosts: &[&'static str]) -> Option<Self> {
        match NetNs::create_many(hosts.len()) {
            Ok(made) => Some(Self { hosts: hosts.iter().copied().zip(made).collect(), devices: vec![] }),
            Err(error) => {
                skip(&error);
                None
            }
        }
    }

    pub(super) fn host(&self, name: &str) -> &NetNs {
        &self.hosts.iter().find(|(host, _)| *host == name).expect("host of the lab").1
    }

    pub(super) fn ip(&self, host: &str, commands: &str) {
        for line in commands.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            let done = self
                .inside(host, || Command::new("ip").args(&words).output())
                .expect("iproute2 is installed");
            assert!(done.status.success(), "{host}: ip {line}: {}", String::from_utf8_lossy(&done.stderr));
        }
    }

    pub(super) fn wire(&mut self, one: &str, other: &str) {
        let ((host, device), (peer_host, peer)) = (parts(one), parts(other));
        let there = plumb_tests::path_of(self.host(peer_host));
        let words = format!("link add {device} type veth peer name {peer} netns {there}");
        self.ip(host, &words);
        self.devices.extend([self.device(one, "veth"), self.device(other, "veth")]);
    }

    pub(super) fn add(&mut self, name: &str, kind: &str, settings: &str) {
        let (host, device) = parts(name);
        self.ip(host, &format!("link add {device} type {kind} {settings}"));
        self.devices.push(self.device(name, kind));
    }

    pub(super) fn up(&self, name: &str, address: Option<&str>) -> &Self {
        let (host, device) = parts(name);
        if let Some(address) = address {
            self.ip(
                host,
                &format!(
                    "addr add {address} dev {device} {}",
                    if address.contains(':') { "nodad" } else { "" }
                ),
            );
        }
        self.ip(host, &format!("link set {device} up"));
        self
    }

    #[expect(clippy::disallowed_methods, reason = "namespace settings are files in /proc/sys")]
    pub(super) fn forward(&self, host: &str) {
        self.inside(host, || {
            for file in ["ip_forward", "conf/all/rp_filter", "conf/default/rp_filter"] {
                let value = if file == "ip_forward" { "1" } else { "0" };
                std::fs::write(format!("/proc/sys/net/ipv4/{file}"), value).expect("root of the namespace");
            }
        });
    }

    pub(super) fn nft(&self, host: &str, rules: &str) -> Option<()> {
        match self.inside(host, || Command::new("nft").arg(rules).output()) {
            Ok(done) if done.status.success() => Some(()),
            Ok(done) => {
                let output = String::from_utf8_lossy(&done.stderr);
                assert!(!output.contains("syntax error"), "{output}");
                skip(&output);
                None
            }
            Err(error) => {
                skip(&format!("nft: {error}"));
                None
            }
        }
    }

    pub(super) fn inside<T: Send>(&self, host: &str, work: impl FnOnce() -> T + Send) -> T {
        self.host(host).run_in(work).expect("own namespace")
    }

    fn device(&self, name: &str, kind: &str) -> WatchedDevice {
        let (host, device) = parts(name);
        let link =
            self.inside(host, || Command::new("ip").args(["-o", "link", "show", "dev", device]).output());
        let link = String::from_utf8(link.expect("iproute2 is installed").stdout).expect("text");
        let index = link.split(':').next().and_then(|index| index.parse().ok());
        WatchedDevice {
            name: name.into(),
            kind: kind.into(),
            namespace: self.host(host).inode(),
            index: index.unwrap_or_else(|| panic!("{name}: {link}")),
        }
    }

    pub(super) fn watch(&self, ends: [&str; 2], play: &Play) -> Watch {
        let subject = |consumer, host: &str| Subject {
            consumer,
            pids: vec![],
            namespaces: vec![self.host(host).inode()],
            cgroups: vec![],
            syscalls: false,
        };
        let latency_breakdown = BreakdownOrder {
            transport: play.transport,
            server: play.server,
            port: play.port,
            message: Bytes(play.length as u64),
            every: play.every,
            devices: self.devices.clone(),
        };
        Watch {
            subjects: vec![subject(CpuConsumer::Client, ends[0]), subject(CpuConsumer::Server, ends[1])],
            latency_breakdown: Some(latency_breakdown),
        }
    }
}

fn parts(name: &str) -> (&str, &str) {
    name.split_once(':').expect("host:device")
}

#[expect(clippy::disallowed_macros, reason = "reports skipped tests")]
pub(super) fn skip(reason: &dyn std::fmt::Display) {
    println!("skipped: {reason}");
}
