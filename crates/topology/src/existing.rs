//! Finds the device that an existing host uses for test traffic, without changing anything on the host.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use ipnet::IpNet;
use parking_lot::Mutex;
use scenario::{DeviceName, DeviceRef, HostName, PathEnd};

use crate::{
    configure::Originals,
    device_kind::DeviceKind,
    devices::{Device, Devices},
    error::FindError,
    link::Taps,
    missing_capabilities::Element,
    namespaces::Namespaces,
    read_back::{self, LinkFacts},
    topology::Topology,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundInterface {
    pub end: PathEnd,
    pub mtu: u32,
}

impl Topology {
    pub fn existing(
        host: &HostName,
        address: Option<IpAddr>,
        interface: Option<&DeviceName>,
    ) -> Result<(Self, FoundInterface), FindError> {
        let namespaces = Namespaces::existing(host)?;
        let links = read_back::links(&namespaces, host, false)?;
        let addresses = read_back::addresses(&namespaces, host)?;
        let (link, address) = choose(host, &links, &addresses, address, interface)?;
        let at = DeviceRef { host: host.clone(), device: DeviceName::new(&link.name) };
        let devices = Devices::of_one(Device {
            at: at.clone(),
            kind: DeviceKind::of_word(&link.kind),
            index: link.index,
            mac: link.mac.as_slice().try_into().unwrap_or_default(),
            mtu: link.mtu,
            element: Element::Host(host.clone()),
            master: None,
            link: 0,
            depth: 0,
        });
        let mtu = link.mtu;
        let topology = Topology {
            namespaces,
            devices,
            gateways: Vec::new(),
            links: Vec::new(),
            taps: Taps::new(),
            missing: Vec::new(),
            originals: Mutex::new(Originals::default()),
        };
        Ok((topology, FoundInterface { end: PathEnd { host: host.clone(), device: at, address }, mtu }))
    }
}

fn choose<'l>(
    host: &HostName,
    links: &'l BTreeMap<u32, LinkFacts>,
    addresses: &BTreeSet<(u32, IpNet)>,
    address: Option<IpAddr>,
    interface: Option<&DeviceName>,
) -> Result<(&'l LinkFacts, IpAddr), FindError> {
    let host = host.clone();
    let known = || {
        let known = addresses.iter().filter_map(|(index, has)| Some((links.get(index)?, has.addr())));
        known.filter(|(_, has)| read_back::is_global(*has))
    };
    let named = |link: &LinkFacts| interface.is_none_or(|name| link.name == name.as_str());
    if let Some(name) = interface.filter(|name| !links.values().any(|link| link.name == name.as_str())) {
        let existing: Vec<&str> = links.values().map(|link| link.name.as_str()).collect();
        return Err(FindError::NoDevice { host, device: name.clone(), existing: existing.join(", ") });
    }
    let matches =
        |(link, has): &(&LinkFacts, IpAddr)| named(link) && address.is_none_or(|requested| requested == *has);
    known().find(matches).ok_or_else(|| {
        let existing: Vec<String> = known().map(|(link, has)| format!("{has} ({})", link.name)).collect();
        let existing = if existing.is_empty() { "none".to_owned() } else { existing.join(", ") };
        match address {
            Some(address) => FindError::NoAddress { host, address, existing },
            None => FindError::Unaddressed { host, existing },
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(address: Option<&str>, interface: Option<&str>) -> Result<(String, String), String> {
        let link =
            |index, name: &str| (index, LinkFacts { index, name: name.to_owned(), ..LinkFacts::default() });
        let links = BTreeMap::from([link(1, "lo"), link(2, "eth0"), link(3, "eth1")]);
        let has = |index, text: &str| (index, text.parse().unwrap());
        let addresses =
            BTreeSet::from([has(1, "127.0.0.1/8"), has(2, "198.18.0.1/24"), has(2, "198.18.0.9/24")]);
        let address = address.map(|text| text.parse().unwrap());
        let interface = interface.map(DeviceName::new);
        choose(&HostName::new("a"), &links, &addresses, address, interface.as_ref())
            .map(|(link, address)| (link.name.clone(), address.to_string()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn finds_interface_by_name_and_address() {
        for (address, interface, wanted) in [
            (None, Some("eth0"), "198.18.0.1"),
            (Some("198.18.0.9"), None, "198.18.0.9"),
            (Some("198.18.0.9"), Some("eth0"), "198.18.0.9"),
        ] {
            assert_eq!(found(address, interface), Ok(("eth0".to_owned(), wanted.to_owned())));
        }
    }

    #[test]
    fn error_lists_existing_devices_and_addresses() {
        for (address, interface, message, existing) in [
            (None, Some("eth7"), "no device `eth7`", "lo, eth0, eth1"),
            (
                None,
                Some("eth1"),
                "has no address besides link-local ones",
                "198.18.0.1 (eth0), 198.18.0.9 (eth0)",
            ),
            (Some("198.18.0.2"), None, "does not have the address 198.18.0.2", "198.18.0.1 (eth0)"),
            (Some("198.18.0.1"), Some("eth1"), "does not have the address 198.18.0.1", "198.18.0.1 (eth0)"),
        ] {
            let error = found(address, interface).unwrap_err();
            assert!(error.contains(message) && error.contains(existing), "{error}");
        }
    }
}
