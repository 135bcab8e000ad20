//! Chooses the indexes and MAC addresses of devices, so that the forwarding tables of tunnels can be filled before
//! the first packet.

use std::collections::{BTreeMap, BTreeSet};

use scenario::{DeviceName, DeviceRef, HostName, Link};

use crate::{device_kind::DeviceKind, error::CreateError, missing_capabilities::Element};

#[derive(Debug, Clone)]
pub(crate) struct Device {
    pub(crate) at: DeviceRef,
    pub(crate) kind: DeviceKind,
    pub(crate) index: u32,
    pub(crate) mac: [u8; 6],
    pub(crate) mtu: u32,
    pub(crate) element: Element,
    pub(crate) master: Option<DeviceRef>,
    pub(crate) link: usize,
    pub(crate) depth: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Devices {
    pub(crate) by_ref: BTreeMap<DeviceRef, Device>,
    pub(crate) behind: BTreeMap<DeviceRef, Vec<Peer>>,
}

impl Devices {
    pub(crate) fn of_one(device: Device) -> Self {
        Self { by_ref: BTreeMap::from([(device.at.clone(), device)]), behind: BTreeMap::new() }
    }

    pub(crate) fn depth_of(&self, link: &Link) -> usize {
        let devices = link.devices();
        devices.iter().filter_map(|device| Some(self.find(device.at)?.depth)).max().unwrap_or(0)
    }

    pub(crate) fn get(&self, at: &DeviceRef, element: &Element) -> Result<&Device, CreateError> {
        self.find(at)
            .ok_or_else(|| CreateError::Unknown { element: element.clone(), what: format!("device `{at}`") })
    }

    pub(crate) fn get_in(
        &self,
        host: &HostName,
        name: &DeviceName,
        element: &Element,
    ) -> Result<&Device, CreateError> {
        self.get(&DeviceRef { host: host.clone(), device: name.clone() }, element)
    }

    pub(crate) fn find(&self, at: &DeviceRef) -> Option<&Device> {
        self.by_ref.get(at)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Device> {
        self.by_ref.values()
    }

    pub(crate) fn macs(&self) -> impl Iterator<Item = [u8; 6]> {
        let guests = self.behind.values().flatten().filter_map(|peer| match peer {
            Peer::Mac(mac) => Some(*mac),
            Peer::Device(_) => None,
        });
        self.all().map(|device| device.mac).chain(guests)
    }

    pub(crate) fn of_host<'a>(&'a self, host: &'a HostName) -> impl Iterator<Item = &'a Device> {
        self.all().filter(move |device| device.at.host == *host)
    }

    pub(crate) fn created_by(&self, element: &Element) -> Vec<DeviceRef> {
        self.all().filter(|device| device.element == *element).map(|device| device.at.clone()).collect()
    }

    pub(crate) fn macs_behind(&self, tunnel: &Device) -> Vec<[u8; 6]> {
        let Some(bridge) = &tunnel.master else { return vec![tunnel.mac] };
        let mut seen = BTreeSet::from([tunnel.at.clone()]);
        self.macs_of_bridge(bridge, &mut seen)
    }

    fn macs_of_bridge(&self, bridge: &DeviceRef, seen: &mut BTreeSet<DeviceRef>) -> Vec<[u8; 6]> {
        let mut macs: Vec<_> = self.find(bridge).map(|device| device.mac).into_iter().collect();
        for port in self.all().filter(|device| device.master.as_ref() == Some(bridge)) {
            macs.extend(self.macs_of_port(&port.at, seen));
        }
        macs
    }

    pub(crate) fn macs_of_port(&self, port: &DeviceRef, seen: &mut BTreeSet<DeviceRef>) -> Vec<[u8; 6]> {
        let mut macs = Vec::new();
        if !seen.insert(port.clone()) {
            return macs;
        }
        for peer in self.behind.get(port).into_iter().flatten() {
            let far = match peer {
                Peer::Mac(mac) => {
                    macs.push(*mac);
                    continue;
                }
                Peer::Device(at) => self.find(at),
            };
            let Some(far) = far.filter(|far| seen.insert(far.at.clone())) else { continue };
            match &far.master {
                Some(next) => macs.extend(self.macs_of_bridge(next, seen)),
                None => macs.push(far.mac),
            }
        }
        macs
    }

    pub(crate) fn set_index(&mut self, at: &DeviceRef, index: u32) {
        if let Some(device) = self.by_ref.get_mut(at) {
            device.index = index;
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Peer {
    Device(DeviceRef),
    Mac([u8; 6]),
}
