//! Assigns indexes to the devices of a lab.

use std::collections::BTreeMap;

use scenario::{DeviceRef, Lab, LinkDevice};

use crate::{
    device_kind::DeviceKind,
    devices::{Device, Devices},
    error::CreateError,
    link,
    missing_capabilities::Element,
};

/// The first index, above those of `lo` and of the devices that loaded tunnel modules create in each namespace, e.g.
/// `gre0` and `sit0`. Indexes are unique in a lab: if both devices of a pair have the same index, the kernel mistakes
/// them for one device and delays the carrier event by up to a second.
const FIRST_INDEX: u32 = 32;
/// The first index on an existing host, above the indexes of its own devices. Before Linux 6.15, an index must also be
/// free in the requesting namespace.
const FIRST_ON_EXISTING: u32 = 1 << 30;

impl Devices {
    pub(crate) fn of(lab: &Lab) -> Result<Self, CreateError> {
        let mut devices = Self::default();
        let mut under = BTreeMap::new();
        for (number, link) in lab.links.iter().enumerate() {
            let (kind, element) = (link::kind(link), link::element(link));
            for created in link.devices() {
                if let Some(device_kind) = kind.device(created.at, lab) {
                    let device = devices.add(lab, created, device_kind, &element)?;
                    (device.link, device.mac) = (number, kind.mac(created.at).unwrap_or(device.mac));
                }
                devices.behind.insert(created.at.clone(), kind.behind(created.at));
                under.extend(created.under().map(|under| (created.at.clone(), under)));
            }
        }
        for device in devices.by_ref.values_mut() {
            // Limiting the depth breaks cycles.
            let below = |at: &DeviceRef| under.get(at).cloned();
            device.depth = std::iter::successors(below(&device.at), below).take(under.len()).count();
        }
        devices.assign_ports(lab)?;
        Ok(devices)
    }

    fn add(
        &mut self,
        lab: &Lab,
        created: LinkDevice<'_>,
        kind: DeviceKind,
        element: &Element,
    ) -> Result<&mut Device, CreateError> {
        let (at, element) = (created.at.clone(), element.clone());
        if lab.host(&at.host).is_none() {
            return Err(CreateError::Unknown { element, what: format!("host `{}`", at.host) });
        }
        if self.by_ref.contains_key(&at) {
            return Err(CreateError::Twice { element, device: at });
        }
        let number = u32::try_from(self.by_ref.len()).expect("a lab has fewer than 2^32 devices");
        let [a, b, c, d] = number.to_be_bytes();
        // A locally administered unicast address (IEEE 802, section 8.2).
        let mac = [0x02, 0x50, a, b, c, d];
        let first = if lab.seat(&at.host).is_some() { FIRST_ON_EXISTING } else { FIRST_INDEX };
        let (index, mtu) = (first + number, created.mtu);
        let device =
            Device { at: at.clone(), kind, index, mac, mtu, element, master: None, link: 0, depth: 0 };
        Ok(self.by_ref.entry(at).or_insert(device))
    }

    fn assign_ports(&mut self, lab: &Lab) -> Result<(), CreateError> {
        for link in &lab.links {
            let master = link.devices().first().map(|device| device.at.clone());
            for at in link::kind(link).ports() {
                let port = self.by_ref.get_mut(&at).ok_or_else(|| CreateError::Unknown {
                    element: link::element(link),
                    what: format!("port `{at}`"),
                })?;
                port.master.clone_from(&master);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use scenario::{
        DeviceName, Link,
        link::{Bridge, LinkEnd, Wire},
    };

    use super::*;
    use crate::scratch;

    fn pair(name: &str, ends: [&str; 2]) -> Link {
        Wire::new(name, ends.map(|at| LinkEnd::new(at.parse().unwrap(), None)), 1500).into()
    }

    #[test]
    fn devices_have_unique_indexes_and_macs() {
        let lab = link::smallest_overlay();
        let devices = Devices::of(&lab).unwrap();
        let indexes: BTreeSet<_> = devices.all().map(|device| device.index).collect();
        let macs: BTreeSet<_> = devices.all().map(|device| device.mac).collect();
        assert_eq!((indexes.len(), macs.len()), (4, 4));
        assert!(devices.all().all(|device| device.mac[0] & 3 == 2), "locally administered, unicast");
    }

    #[test]
    fn finds_macs_behind_tunnel_on_bridge() {
        let mut lab = link::smallest_overlay();
        lab.hosts.push(scratch::named("guest"));
        lab.links.push(pair("guest", ["guest:eth0", "near:guest"]));
        let ports = ["vxlan", "guest"].map(DeviceName::new).into();
        lab.links.push(Bridge::new("bridge", "near:br0".parse().unwrap(), ports, 1450).into());
        let devices = Devices::of(&lab).unwrap();
        let mac = |at: &str| devices.find(&at.parse().unwrap()).unwrap().mac;
        let behind = |at: &str| devices.macs_behind(devices.find(&at.parse().unwrap()).unwrap());
        assert_eq!(behind("near:vxlan"), [mac("near:br0"), mac("guest:eth0")]);
        assert_eq!(behind("far:vxlan"), [mac("far:vxlan")]);
        let behind_port = |at: &str| devices.macs_of_port(&at.parse().unwrap(), &mut BTreeSet::new());
        assert_eq!(behind_port("near:vxlan"), [mac("far:vxlan")]);
        assert_eq!(behind_port("near:guest"), [mac("guest:eth0")]);
    }

    #[test]
    fn rejects_duplicate_device() {
        let mut lab = scratch::wire();
        lab.links.push(pair("again", ["near:eth1", "near:eth0"]));
        let error = Devices::of(&lab).unwrap_err().to_string();
        assert!(error.contains("`again`") && error.contains("near:eth0"), "{error}");
    }

    #[test]
    fn rejects_unknown_port() {
        let mut lab = scratch::wire();
        let ports = vec![DeviceName::new("eth7")];
        lab.links.push(Bridge::new("bridge", "near:br0".parse().unwrap(), ports, 1500).into());
        let error = Devices::of(&lab).unwrap_err().to_string();
        assert!(error.contains("near:eth7"), "{error}");
    }
}
