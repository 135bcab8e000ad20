//! The MTU with which every device is made: written, derived from what it stands on, or the default.

use std::collections::BTreeMap;

use super::{GUEST_DEVICE, bridge_device, device_settings, port_of, ports};
use crate::{
    document::{BridgeTable, Document, Entry, VxlanTable},
    names::DeviceRef,
};

/// Ethernet's.
pub(super) const DEFAULT: u32 = 1500;

/// What VXLAN over IPv4 adds to a packet (RFC 7348, section 5): IPv4 20, UDP 8, VXLAN 8, Ethernet 14.
pub(crate) const ENCAPSULATION: u32 = 50;

/// How deep overlays may stand on bridges that stand on overlays before the default is taken.
const DEPTH: usize = 8;

/// MTUs by device.
pub(super) struct Mtus {
    made: BTreeMap<DeviceRef, u32>,
    set: BTreeMap<DeviceRef, u32>,
}

impl Mtus {
    /// The MTUs of all devices of the document.
    pub(super) fn of(document: &Document) -> Self {
        let set = document.devices.iter().filter_map(|entry| {
            let (settings, _) = device_settings(&entry.table);
            Some((entry.name().parse().ok()?, settings.mtu?))
        });
        let mut mtus = Self { made: BTreeMap::new(), set: set.collect() };
        mtus.wires(document);
        for _ in 0..DEPTH {
            mtus.overlays(document);
            mtus.bridges(document);
        }
        mtus.guests(document);
        mtus
    }

    /// The MTU with which the device is made.
    pub(super) fn made(&self, device: &DeviceRef) -> u32 {
        self.made.get(device).copied().unwrap_or(DEFAULT)
    }

    /// The MTU that it has in the end, if it is known yet.
    fn effective(&self, device: &DeviceRef) -> Option<u32> {
        self.set.get(device).or_else(|| self.made.get(device)).copied()
    }

    fn wires(&mut self, document: &Document) {
        for entry in document.wires.iter() {
            let [one, other] = entry.table.between.each_ref().map(|end| &end.get_ref().0);
            let written = entry.table.mtu.as_ref().map_or(DEFAULT, |mtu| *mtu.get_ref());
            // Made as both ends will be, so that what stands on the wire is made to fit that.
            let set = self.set.get(one).filter(|mtu| self.set.get(other) == Some(mtu));
            let mtu = set.copied().unwrap_or(written);
            self.made.extend([(one.clone(), mtu), (other.clone(), mtu)]);
        }
    }

    fn overlays(&mut self, document: &Document) {
        for entry in document.vxlans.iter() {
            if let Some(mtu) = self.overlay(entry) {
                let devices =
                    entry.table.members.iter().map(|member| DeviceRef::new(member.name(), entry.name()));
                self.made.extend(devices.map(|device| (device, mtu)));
            }
        }
    }

    fn overlay(&self, entry: &Entry<VxlanTable>) -> Option<u32> {
        if let Some(mtu) = &entry.table.mtu {
            return Some(*mtu.get_ref());
        }
        let under = entry.table.members.iter();
        let under = under.map(|member| DeviceRef::new(member.name(), member.table.over.get_ref()));
        // A tunnel is made before settings are: it can be no larger than what its underlay is made with.
        under
            .filter_map(|over| Some(self.effective(&over)?.min(self.made(&over))))
            .min()
            .map(|least| least.saturating_sub(ENCAPSULATION))
    }

    fn bridges(&mut self, document: &Document) {
        for entry in document.bridges.iter() {
            let mtu = self.bridge(document, entry);
            self.made.insert(bridge_device(entry), mtu);
        }
    }

    fn bridge(&self, document: &Document, entry: &Entry<BridgeTable>) -> u32 {
        if let Some(mtu) = &entry.table.mtu {
            return *mtu.get_ref();
        }
        let host = entry.table.host.get_ref();
        let ports = ports(document, entry);
        let known = ports.iter().filter_map(|port| self.effective(&DeviceRef::new(host, port.as_str())));
        known.min().unwrap_or(DEFAULT)
    }

    fn guests(&mut self, document: &Document) {
        for guest in document.attached() {
            let Some(port) = port_of(document, guest) else { continue };
            let bridge = document.bridges.get(guest.table.bridge.get_ref()).map(bridge_device);
            let inherited = bridge.and_then(|bridge| self.effective(&bridge)).unwrap_or(DEFAULT);
            let mtu = guest.table.mtu.as_ref().map_or(inherited, |mtu| *mtu.get_ref());
            self.made.insert(DeviceRef::new(guest.name(), GUEST_DEVICE), mtu);
            self.made.insert(port, mtu);
        }
    }
}
