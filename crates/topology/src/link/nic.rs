//! Network devices of virtual machines. The monitor creates the guest's device, which is then found by its MAC
//! address.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{File, OpenOptions},
    net::IpAddr,
};

use nlink::netlink::types::link::IflaAttr;
use scenario::{DeviceRef, HostName, Lab, Link, link::Nic};

use super::{LinkKind, Site, carries};
use crate::{
    device_kind::DeviceKind,
    devices::{Device, Devices, Peer},
    error::CreateError,
    ethtool::Ethtool,
    message::{Request, change_link},
    missing_capabilities::Element,
    namespaces::Namespaces,
    read_back::{self, LinkFacts},
    refusal::Refusal,
    rings::QueuesAndRings,
    scratch,
    trial::{Attempt, Trial},
    virtio_features,
};

pub(crate) type Taps = BTreeMap<DeviceRef, Vec<File>>;

#[derive(Debug)]
pub struct Tap {
    pub queues: Vec<File>,
    pub at: DeviceRef,
    pub mac: [u8; 6],
}

/// Derives a locally administered unicast address (IEEE 802, section 8.2) that differs from all generated addresses.
pub(crate) fn mac(address: IpAddr) -> [u8; 6] {
    let [a, b, c, d] = match address {
        IpAddr::V4(address) => address.octets(),
        IpAddr::V6(address) => (address.to_bits() as u32).to_be_bytes(),
    };
    [0x02, 0x56, a, b, c, d]
}

pub(crate) fn opened_by_name(lab: &Lab) -> BTreeSet<HostName> {
    let guests = lab.hosts.iter().filter(|host| host.vm.as_ref().is_some_and(|vm| vm.monitor.opens_taps()));
    guests.map(|host| host.name.clone()).collect()
}

pub(super) const TRIAL: Trial = Trial {
    name: "tun",
    done: "opened /dev/net/tun in a namespace",
    needed_for: "networks with virtual machines",
    remedy: "modprobe tun (CONFIG_TUN)",
    required: false,
    attempt: Attempt::Call(tun),
};

#[expect(clippy::disallowed_methods, reason = "opens /dev/net/tun to check that it works")]
fn tun() -> Result<(), String> {
    let namespaces = Namespaces::create(&scratch::host()).map_err(|error| error.to_string())?;
    let (_, namespace) = namespaces.iter().next().expect("the scratch lab has a host");
    let open = || OpenOptions::new().read(true).write(true).open("/dev/net/tun").map(drop);
    let opened = namespace.run_in(open).map_err(|error| error.to_string())?;
    opened.map_err(|error| format!("cannot open /dev/net/tun: {error}"))
}

impl LinkKind for Nic {
    fn noun(&self) -> &'static str {
        "network device of guest"
    }

    fn needs(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn device(&self, at: &DeviceRef, lab: &Lab) -> Option<DeviceKind> {
        match (*at == self.port, lab.host(&self.port.host).is_some()) {
            (true, true) => Some(DeviceKind::Tap),
            (false, false) => Some(DeviceKind::Virtio),
            _ => None,
        }
    }

    fn mac(&self, at: &DeviceRef) -> Option<[u8; 6]> {
        (*at == self.at).then(|| mac(self.address.addr()))
    }

    fn behind(&self, at: &DeviceRef) -> Vec<Peer> {
        (*at == self.port).then(|| Peer::Mac(mac(self.address.addr()))).into_iter().collect()
    }

    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        if let Some(tap) = site.devices.find(&self.port) {
            let queues = create(self, tap, site).map_err(|refusal| CreateError::Refused {
                element: element.clone(),
                operation: format!("create the tap device `{}` with {} queues", self.port, self.queues),
                refusal,
            })?;
            let configured = configure(self, tap, element);
            site.taps.insert(self.port.clone(), queues);
            return Ok(vec![configured]);
        }
        Ok(site.devices.find(&self.at).map(|device| configure(self, device, element)).into_iter().collect())
    }

    /// A tap device that the monitor opens by name has no carrier until the monitor opens it.
    fn carries(&self, device: &Device, link: &LinkFacts, site: &Site<'_>) -> bool {
        site.by_name.contains(&self.at.host) || carries(device, link)
    }

    fn verify(&self, site: &Site<'_>) -> Result<(), CreateError> {
        let Some(vm) = site.lab.vm(&self.at.host) else { return Ok(()) };
        let features = site.namespaces.negotiated(&self.at);
        let found = Ethtool::new(&site.namespaces)
            .exchange_with(&self.at, async |ethtool, name| Ok(QueuesAndRings::read(ethtool, name).await));
        virtio_features::verify(self, &vm.virtio, features.as_deref(), found.unwrap_or_default())
    }
}

pub(crate) fn nic_of<'l>(links: &'l [Link], guest: &HostName) -> Option<&'l Nic> {
    links.iter().find_map(|link| match link {
        Link::Nic(nic) if nic.at.host == *guest => Some(nic),
        _ => None,
    })
}

fn create(nic: &Nic, tap: &Device, site: &Site<'_>) -> Result<Vec<File>, Refusal> {
    let namespace = site.namespaces.get(&nic.port.host).expect("hosts of devices are checked");
    let name = nic.port.device.as_str();
    let make = || match site.by_name.contains(&nic.at.host) {
        true => sys::tap::create_for_another(name, tap.index).map(|()| Vec::new()),
        false => sys::tap::create(name, tap.index, nic.queues),
    };
    namespace.run_in(make).flatten().map_err(Refusal::from)
}

fn configure(nic: &Nic, device: &Device, element: &Element) -> Request {
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
        operation: format!("set name, address and MTU {} of `{}`", device.mtu, device.at),
        message,
    }
}

pub(crate) fn find(
    lab: &Lab,
    host: &HostName,
    devices: &mut Devices,
    namespaces: &Namespaces,
) -> Result<(), CreateError> {
    let links = read_back::links(namespaces, host, false)?;
    let Some(nic) = nic_of(&lab.links, host) else { return Ok(()) };
    let mac = mac(nic.address.addr());
    let Some(link) = links.values().find(|link| link.mac == mac) else {
        let names: Vec<&str> = links.values().map(|link| link.name.as_str()).collect();
        let mac: Vec<String> = mac.iter().map(|byte| format!("{byte:02x}")).collect();
        return Err(CreateError::NoSuchMac {
            host: host.clone(),
            mac: mac.join(":"),
            found: names.join(", "),
        });
    };
    devices.set_index(&nic.at, link.index);
    Ok(())
}
