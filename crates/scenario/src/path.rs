//! A path: from one endpoint to another through named layers; or a host alone, for what has one end.

use std::{collections::BTreeMap, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::{
    lab::{DeviceSettings, Lab},
    link::Layer,
    names::{DeviceName, DeviceRef, HostName, PathName},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathEnd {
    /// The host whose agent sends or receives.
    pub host: HostName,
    /// The device whose address is used.
    pub device: DeviceRef,
    /// That address: bound at the client's end, connected to at the server's.
    pub address: Ipv4Addr,
}

/// A path of the scenario. The client is at `from`; `forward` traffic flows from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    pub name: PathName,
    /// What it shows, in a few words for the report.
    pub about: String,
    /// The client's end.
    pub from: PathEnd,
    /// The server's end.
    pub to: PathEnd,
    /// The layers between, each once, in the order in which a packet first meets them.
    pub layers: Vec<Layer>,
    /// Every device that a packet passes on its way there, in order.
    pub devices: Vec<DeviceRef>,
    /// Whether the other paths are shown as a share of this one; true for exactly one path.
    pub baseline: bool,
}

impl Path {
    /// A host alone, where workloads with one end run: its agent's orders go there, and nothing is carried.
    pub(crate) fn at(host: &HostName) -> Self {
        let device = DeviceRef { host: host.clone(), device: DeviceName::new("lo") };
        let end = PathEnd { host: host.clone(), device, address: Ipv4Addr::LOCALHOST };
        Self {
            name: PathName::new(host.as_str()),
            about: String::new(),
            from: end.clone(),
            to: end,
            layers: Vec::new(),
            devices: Vec::new(),
            baseline: false,
        }
    }

    /// The MTU that it carries end to end under `settings`, in bytes of IP packet: the least of the devices that it passes.
    #[must_use]
    pub fn mtu(&self, lab: &Lab, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> u32 {
        self.devices.iter().filter_map(|device| lab.mtu(device, settings)).min().unwrap_or(1500)
    }

    /// Whether it is a host alone.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.from == self.to
    }
}
