//! A path between two endpoints through named layers, or a single host for single-ended workloads.

use std::{collections::BTreeMap, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::{
    family::Family,
    lab::{DeviceSettings, Lab},
    link::Layer,
    names::{DeviceName, DeviceRef, HostName, PathName},
};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathEnd {
    pub host: HostName,
    pub device: DeviceRef,
    pub address: IpAddr,
}

impl PathEnd {
    #[must_use]
    pub fn address_in(&self, family: Option<Family>) -> IpAddr {
        family.and_then(|family| family.address(self.address)).unwrap_or(self.address)
    }
}

/// The client runs at `from` and sends the `forward` traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    pub name: PathName,
    pub about: String,
    pub from: PathEnd,
    pub to: PathEnd,
    pub layers: Vec<Layer>,
    pub devices: Vec<DeviceRef>,
    /// Whether other paths are shown relative to this one. Exactly one path is the baseline.
    pub baseline: bool,
}

impl Path {
    pub(crate) fn at(host: &HostName) -> Self {
        let device = DeviceRef { host: host.clone(), device: DeviceName::new("lo") };
        let end = PathEnd { host: host.clone(), device, address: IpAddr::from([127, 0, 0, 1]) };
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

    #[must_use]
    pub fn mtu(&self, lab: &Lab, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> u32 {
        self.devices.iter().filter_map(|device| lab.mtu(device, settings)).min().unwrap_or(1500)
    }

    #[must_use]
    pub fn is_host(&self) -> bool {
        self.from == self.to
    }
}
