//! Network devices of virtual machines: tap devices on the side of the bridge, and the device in the guest, which its
//! monitor has made and which is found by its MAC address. Must not know what runs the guest.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    net::Ipv4Addr,
};

use nlink::netlink::types::link::IflaAttr;
use scenario::{DeviceRef, HostName, Lab, Nic};

use crate::{
    devices::{Device, Devices},
    error::RaiseError,
    message::{Request, change_link},
    missing::Element,
    namespaces::Namespaces,
    read_back,
    refusal::Refusal,
};

/// The descriptors of the queues of every tap device.
pub(crate) type Taps = BTreeMap<DeviceRef, Vec<File>>;

/// What a monitor needs to give a guest its network device.
#[derive(Debug)]
pub struct Tap {
    /// A descriptor for each queue; none where the monitor opens it by its name.
    pub queues: Vec<File>,
    /// The tap device, and the host that it is in.
    pub at: DeviceRef,
    /// The MAC address that the guest's device must have.
    pub mac: [u8; 6],
}

/// The MAC address of a guest's device: locally administered and unicast (IEEE 802, section 8.2), other than those that
/// are numbered, and known to both sides of the machine.
pub(crate) fn mac(address: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = address.octets();
    [0x02, 0x56, a, b, c, d]
}

/// The guests of `lab` whose monitors open their tap devices by name.
pub(crate) fn opened_by_name(lab: &Lab) -> BTreeSet<HostName> {
    let guests = lab.hosts.iter().filter(|host| host.vm.as_ref().is_some_and(|vm| vm.monitor.opens_taps()));
    guests.map(|host| host.name.clone()).collect()
}

/// Makes the tap device of `nic`; nobody holds one that is opened `by_name`.
pub(crate) fn create(
    nic: &Nic,
    by_name: bool,
    devices: &Devices,
    namespaces: &Namespaces,
) -> Result<Vec<File>, Refusal> {
    let Some(device) = devices.find(&nic.port) else { return Ok(Vec::new()) };
    let namespace = namespaces.get(&nic.port.host).expect("every device was checked to be in a host");
    let name = nic.port.device.as_str();
    let make = || match by_name {
        true => sys::tap::create_for_another(name, device.index).map(|()| Vec::new()),
        false => sys::tap::create(name, device.index, nic.queues),
    };
    namespace.run_in(make).flatten().map_err(Refusal::from)
}

/// What a device is given once it is there: its MTU and the tap's MAC address; a guest's also its name.
pub(crate) fn dress(nic: &Nic, device: &Device, element: &Element) -> Request {
    let mut message = change_link(device.index);
    message.append_attr_u32(IflaAttr::Mtu as u16, device.mtu);
    if device.at == nic.port {
        message.append_attr(IflaAttr::Address as u16, &device.mac);
    } else {
        message.append_attr_str(IflaAttr::Ifname as u16, device.at.device.as_str());
    }
    Request {
        host: device.at.host.clone(),
        element: element.clone(),
        needs: vec![],
        operation: format!("give `{}` its name, address and MTU {}", device.at, device.mtu),
        message,
    }
}

/// Finds a guest's devices by their MAC addresses.
pub(crate) fn find(
    lab: &Lab,
    host: &HostName,
    devices: &mut Devices,
    namespaces: &Namespaces,
) -> Result<(), RaiseError> {
    let links = read_back::links(namespaces, host, false)?;
    for nic in lab.nics.iter().filter(|nic| nic.at.host == *host) {
        let mac = mac(nic.address.addr());
        let Some(link) = links.values().find(|link| link.mac == mac) else {
            let seen: Vec<&str> = links.values().map(|link| link.name.as_str()).collect();
            let mac: Vec<String> = mac.iter().map(|byte| format!("{byte:02x}")).collect();
            return Err(RaiseError::NoSuchMac {
                host: host.clone(),
                mac: mac.join(":"),
                found: seen.join(", "),
            });
        };
        devices.found_at(&nic.at, link.index);
    }
    Ok(())
}
