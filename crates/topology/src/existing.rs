//! A host that exists already: the device of its traffic is found in the namespace of this process, and read like one of a
//! lab. Nothing of the host is changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    sync::Mutex,
};

use ipnet::Ipv4Net;
use scenario::{DeviceName, DeviceRef, HostName, PathEnd};

use crate::{
    configure::Originals,
    devices::Devices,
    error::FindError,
    link::Taps,
    namespaces::Namespaces,
    read_back::{self, LinkFacts},
    topology::Topology,
};

/// Where the traffic of a host that exists already goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundInterface {
    pub end: PathEnd,
    /// The MTU of its device, in bytes of IP packet.
    pub mtu: u32,
}

/// Looks for the device of `host`, which this process is on, that has `address` or that name; of an interface with several
/// addresses the first.
pub(crate) fn find(
    host: &HostName,
    address: Option<Ipv4Addr>,
    interface: Option<&DeviceName>,
) -> Result<(Topology, FoundInterface), FindError> {
    let namespaces = Namespaces::existing(host)?;
    let links = read_back::links(&namespaces, host, false)?;
    let addresses = read_back::addresses(&namespaces, host)?;
    let (link, address) = chosen(host, &links, &addresses, address, interface)?;
    let at = DeviceRef { host: host.clone(), device: DeviceName::new(&link.name) };
    let devices = Devices::existing(at.clone(), link);
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

fn chosen<'l>(
    host: &HostName,
    links: &'l BTreeMap<u32, LinkFacts>,
    addresses: &BTreeSet<(u32, Ipv4Net)>,
    address: Option<Ipv4Addr>,
    interface: Option<&DeviceName>,
) -> Result<(&'l LinkFacts, Ipv4Addr), FindError> {
    let host = host.clone();
    let known = || {
        let known = addresses.iter().filter_map(|(index, has)| Some((links.get(index)?, has.addr())));
        known.filter(|(_, has)| !has.is_loopback())
    };
    let named = |link: &LinkFacts| interface.is_none_or(|name| link.name == name.as_str());
    if let Some(name) = interface.filter(|name| !links.values().any(|link| link.name == name.as_str())) {
        let there: Vec<&str> = links.values().map(|link| link.name.as_str()).collect();
        return Err(FindError::NoDevice { host, device: name.clone(), there: there.join(", ") });
    }
    let has = |(link, has): &(&LinkFacts, Ipv4Addr)| named(link) && address.is_none_or(|asked| asked == *has);
    known().find(has).ok_or_else(|| {
        let there: Vec<String> = known().map(|(link, has)| format!("{has} ({})", link.name)).collect();
        let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
        match address {
            Some(address) => FindError::NoAddress { host, address, there },
            None => FindError::Unaddressed { host, there },
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
        chosen(&HostName::new("a"), &links, &addresses, address, interface.as_ref())
            .map(|(link, address)| (link.name.clone(), address.to_string()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn an_interface_is_found_by_its_name_its_address_or_both() {
        for (address, interface, wanted) in [
            (None, Some("eth0"), "198.18.0.1"),
            (Some("198.18.0.9"), None, "198.18.0.9"),
            (Some("198.18.0.9"), Some("eth0"), "198.18.0.9"),
        ] {
            assert_eq!(found(address, interface), Ok(("eth0".to_owned(), wanted.to_owned())));
        }
    }

    #[test]
    fn what_is_not_there_is_told_with_what_is() {
        for (address, interface, message, there) in [
            (None, Some("eth7"), "no device `eth7`", "lo, eth0, eth1"),
            (None, Some("eth1"), "has no IPv4 address", "198.18.0.1 (eth0), 198.18.0.9 (eth0)"),
            (Some("198.18.0.2"), None, "has not the address 198.18.0.2", "198.18.0.1 (eth0)"),
            (Some("198.18.0.1"), Some("eth1"), "has not the address 198.18.0.1", "198.18.0.1 (eth0)"),
        ] {
            let error = found(address, interface).unwrap_err();
            assert!(error.contains(message) && error.contains(there), "{error}");
        }
    }
}
