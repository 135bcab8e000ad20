//! Every device of a lab with the index and MAC address that it is made with.
//!
//! Both are chosen here and written into the message that makes the device, so that no device has ever to be
//! looked up, and the forwarding tables of tunnels can be filled before the first packet. It must not know how
//! devices are made.

use std::collections::{BTreeMap, BTreeSet};

use scenario::{DeviceName, DeviceRef, HostName, Lab, Nic};

use crate::{error::RaiseError, missing::Element, state::DeviceKind, virtio};

/// `lo` is 1. No index is used twice in a lab: the two ends of a pair with the same index in their two
/// namespaces look to the kernel like a device of its own, whose carrier it announces up to a second late.
const FIRST_INDEX: u32 = 2;

/// One device as it will be made.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    pub(crate) at: DeviceRef,
    pub(crate) kind: DeviceKind,
    pub(crate) index: u32,
    pub(crate) mac: [u8; 6],
    pub(crate) mtu: u32,
    /// What makes it.
    pub(crate) element: Element,
    /// The bridge that it is a port of.
    pub(crate) master: Option<DeviceRef>,
}

/// The devices of a lab.
#[derive(Debug, Default)]
pub(crate) struct Devices {
    by_ref: BTreeMap<DeviceRef, Device>,
    /// Both directions of every pair.
    far_ends: BTreeMap<DeviceRef, DeviceRef>,
    /// What is behind tap devices.
    guests: BTreeMap<DeviceRef, [u8; 6]>,
}

impl Devices {
    /// Numbers every device of `lab`; says what is named twice or not at all.
    pub(crate) fn of(lab: &Lab) -> Result<Self, RaiseError> {
        let mut devices = Self::default();
        for link in &lab.links {
            for end in &link.ends {
                devices.add(lab, &end.at, DeviceKind::Veth, link.mtu, Element::Link(link.name.clone()))?;
            }
            let [one, other] = link.ends.each_ref().map(|end| end.at.clone());
            devices.far_ends.insert(one.clone(), other.clone());
            devices.far_ends.insert(other, one);
        }
        for nic in &lab.nics {
            devices.add_nic(lab, nic)?;
        }
        for vxlan in &lab.vxlans {
            for member in &vxlan.members {
                let element = Element::Vxlan(vxlan.name.clone());
                devices.add(lab, &member.at, DeviceKind::Vxlan, vxlan.mtu, element)?;
            }
        }
        for bridge in &lab.bridges {
            devices.add(
                lab,
                &bridge.at,
                DeviceKind::Bridge,
                bridge.mtu,
                Element::Bridge(bridge.name.clone()),
            )?;
        }
        devices.enslave(lab)?;
        Ok(devices)
    }

    /// The device at `at`, named by `element`.
    pub(crate) fn get(&self, at: &DeviceRef, element: &Element) -> Result<&Device, RaiseError> {
        self.find(at)
            .ok_or_else(|| RaiseError::Unknown { element: element.clone(), what: format!("device `{at}`") })
    }

    /// The device `name` of `host`, named by `element`.
    pub(crate) fn get_in(
        &self,
        host: &HostName,
        name: &DeviceName,
        element: &Element,
    ) -> Result<&Device, RaiseError> {
        self.get(&DeviceRef { host: host.clone(), device: name.clone() }, element)
    }

    /// The device at `at`, if the lab has it.
    pub(crate) fn find(&self, at: &DeviceRef) -> Option<&Device> {
        self.by_ref.get(at)
    }

    /// Every device, by host.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Device> {
        self.by_ref.values()
    }

    /// The devices of one host.
    pub(crate) fn of_host<'a>(&'a self, host: &'a HostName) -> impl Iterator<Item = &'a Device> {
        self.all().filter(move |device| device.at.host == *host)
    }

    /// The devices that `element` makes.
    pub(crate) fn made_by(&self, element: &Element) -> Vec<DeviceRef> {
        self.all().filter(|device| device.element == *element).map(|device| device.at.clone()).collect()
    }

    /// The MAC addresses that a frame can reach by entering `host` through the tunnel device `tunnel`: its
    /// own, or those of the bridge that it is a port of and of everything behind the other ports.
    pub(crate) fn macs_behind(&self, tunnel: &Device) -> Vec<[u8; 6]> {
        let Some(bridge) = &tunnel.master else { return vec![tunnel.mac] };
        let mut seen = BTreeSet::from([tunnel.at.clone()]);
        self.macs_of_bridge(bridge, &mut seen)
    }

    fn macs_of_bridge(&self, bridge: &DeviceRef, seen: &mut BTreeSet<DeviceRef>) -> Vec<[u8; 6]> {
        let mut macs: Vec<_> = self.find(bridge).map(|device| device.mac).into_iter().collect();
        for port in self.all().filter(|device| device.master.as_ref() == Some(bridge)) {
            macs.extend(self.guests.get(&port.at));
            let far = self.far_ends.get(&port.at).and_then(|at| self.find(at));
            if let Some(far) = far.filter(|_| seen.insert(port.at.clone())) {
                seen.insert(far.at.clone());
                match &far.master {
                    Some(next) => macs.extend(self.macs_of_bridge(next, seen)),
                    None => macs.push(far.mac),
                }
            }
        }
        macs
    }

    /// Notes the index of a device that was there before.
    pub(crate) fn found_at(&mut self, at: &DeviceRef, index: u32) {
        if let Some(device) = self.by_ref.get_mut(at) {
            device.index = index;
        }
    }

    /// Whoever has the bridge makes the tap device; the guest has the other one.
    fn add_nic(&mut self, lab: &Lab, nic: &Nic) -> Result<(), RaiseError> {
        let element = Element::Nic(nic.name.clone());
        let mac = virtio::mac(nic.address.addr());
        if lab.host(&nic.port.host).is_some() {
            self.guests.insert(nic.port.clone(), mac);
            return self.add(lab, &nic.port, DeviceKind::Tap, nic.mtu, element);
        }
        self.add(lab, &nic.at, DeviceKind::Virtio, nic.mtu, element)?;
        if let Some(device) = self.by_ref.get_mut(&nic.at) {
            device.mac = mac;
        }
        Ok(())
    }

    fn add(
        &mut self,
        lab: &Lab,
        at: &DeviceRef,
        kind: DeviceKind,
        mtu: u32,
        element: Element,
    ) -> Result<(), RaiseError> {
        if lab.host(&at.host).is_none() {
            return Err(RaiseError::Unknown { element, what: format!("host `{}`", at.host) });
        }
        if self.by_ref.contains_key(at) {
            return Err(RaiseError::Twice { element, device: at.clone() });
        }
        let number = u32::try_from(self.by_ref.len()).expect("a lab has far fewer than 2^32 devices");
        let [a, b, c, d] = number.to_be_bytes();
        // Locally administered and unicast (IEEE 802, section 8.2).
        let mac = [0x02, 0x50, a, b, c, d];
        let index = FIRST_INDEX + number;
        let device = Device { at: at.clone(), kind, index, mac, mtu, element, master: None };
        self.by_ref.insert(at.clone(), device);
        Ok(())
    }

    fn enslave(&mut self, lab: &Lab) -> Result<(), RaiseError> {
        for bridge in &lab.bridges {
            for port in &bridge.ports {
                let at = DeviceRef { host: bridge.at.host.clone(), device: port.clone() };
                let port = self.by_ref.get_mut(&at).ok_or_else(|| RaiseError::Unknown {
                    element: Element::Bridge(bridge.name.clone()),
                    what: format!("port `{at}`"),
                })?;
                port.master = Some(bridge.at.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use scenario::{Bridge, Link, LinkEnd, LinkRole};

    use super::*;
    use crate::probe::scratch;

    fn pair(name: &str, ends: [&str; 2]) -> Link {
        let ends = ends.map(|at| LinkEnd { at: at.parse().unwrap(), address: None });
        Link { name: name.into(), role: LinkRole::Attachment, ends, mtu: 1500, rate: None }
    }

    #[test]
    fn no_two_devices_share_an_index_or_a_mac_address() {
        let lab = scratch::vxlan();
        let devices = Devices::of(&lab).unwrap();
        let indexes: BTreeSet<_> = devices.all().map(|device| device.index).collect();
        let macs: BTreeSet<_> = devices.all().map(|device| device.mac).collect();
        assert_eq!((indexes.len(), macs.len()), (4, 4));
        assert!(devices.all().all(|device| device.mac[0] & 3 == 2), "locally administered, unicast");
    }

    #[test]
    fn behind_a_tunnel_on_a_bridge_are_the_bridge_and_the_far_ends_of_its_other_ports() {
        let mut lab = scratch::vxlan();
        lab.hosts.push(scratch::named("guest", false));
        lab.links.push(pair("guest", ["guest:eth0", "near:guest"]));
        lab.bridges.push(Bridge {
            name: "bridge".into(),
            at: "near:br0".parse().unwrap(),
            ports: vec![DeviceName::new("vxlan"), DeviceName::new("guest")],
            address: None,
            mtu: 1450,
        });
        let devices = Devices::of(&lab).unwrap();
        let mac = |at: &str| devices.find(&at.parse().unwrap()).unwrap().mac;
        let behind = |at: &str| devices.macs_behind(devices.find(&at.parse().unwrap()).unwrap());
        assert_eq!(behind("near:vxlan"), [mac("near:br0"), mac("guest:eth0")]);
        assert_eq!(behind("far:vxlan"), [mac("far:vxlan")]);
    }

    #[test]
    fn a_device_that_two_parts_make_is_refused() {
        let mut lab = scratch::wire();
        lab.links.push(pair("again", ["near:eth1", "near:eth0"]));
        let error = Devices::of(&lab).unwrap_err().to_string();
        assert!(error.contains("`again`") && error.contains("near:eth0"), "{error}");
    }

    #[test]
    fn a_port_that_nothing_makes_is_refused() {
        let mut lab = scratch::bridge();
        lab.bridges[0].ports.push(DeviceName::new("eth7"));
        let error = Devices::of(&lab).unwrap_err().to_string();
        assert!(error.contains("near:eth7"), "{error}");
    }
}
