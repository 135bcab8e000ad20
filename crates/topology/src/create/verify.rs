//! Waits until a new lab can carry traffic.
//!
//! A bridge learns of a port's carrier through a kernel work queue. With more than a hundred devices, this can take
//! up to a second.

use std::{collections::BTreeMap, time::Duration};

use ipnet::IpNet;
use scenario::{DeviceRef, HostName};

use super::Creator;
use crate::{
    devices::Device,
    error::CreateError,
    link::{self, LinkKind},
    read_back::{self, LinkFacts},
};

/// The number of links to request at once, so that the replies fit the socket's receive buffer.
const ANSWERS_AT_ONCE: usize = 16;
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(2);
/// The kernel processes link events at least once a second.
const LOOKS: u32 = 1_500;

impl Creator<'_> {
    pub(super) fn verify(&self) -> Result<(), CreateError> {
        for host in self.site.lab.hosts.iter().filter(|host| self.is_local(&host.name)) {
            let links = self.settle(&host.name)?;
            for device in self.existing(&host.name) {
                self.verify_device(device, links.get(&device.index))?;
            }
            self.verify_addresses(&host.name)?;
        }
        self.links().try_for_each(|link| link::kind(link).verify(&self.site))
    }

    fn settle(&self, host: &HostName) -> Result<BTreeMap<u32, LinkFacts>, CreateError> {
        let channel = self.site.namespaces.channel(host);
        let mut links = read_back::links(&self.site.namespaces, host, false)?;
        for _ in 0..LOOKS {
            let without_carrier = self.without_carrier(host, &links);
            if without_carrier.is_empty() {
                break;
            }
            for some in without_carrier.chunks(ANSWERS_AT_ONCE) {
                // Ignore errors, because all links are read again below.
                let _ = channel.transact(read_back::link_requests(some));
            }
            links = read_back::links(&self.site.namespaces, host, false)?;
            if !self.without_carrier(host, &links).is_empty() {
                channel.pause(LOOK_AGAIN_AFTER);
            }
        }
        Ok(links)
    }

    fn without_carrier(&self, host: &HostName, links: &BTreeMap<u32, LinkFacts>) -> Vec<u32> {
        let carries =
            |device: &Device| links.get(&device.index).is_some_and(|link| self.carries(device, link));
        self.existing(host).filter(|device| !carries(device)).map(|device| device.index).collect()
    }

    fn existing<'a>(&'a self, host: &'a HostName) -> impl Iterator<Item = &'a Device> {
        self.site.devices.of_host(host).filter(|device| !self.is_absent(&device.at))
    }

    fn verify_device(&self, device: &Device, link: Option<&LinkFacts>) -> Result<(), CreateError> {
        let Some(link) = link else {
            return Err(differs(&device.at, "state", "present", "missing"));
        };
        let at = &device.at;
        compare(at, "name", at.device.as_str(), link.name.as_str())?;
        compare(at, "kind", device.kind.kernel_word(), link.kind.as_str())?;
        compare(at, "MTU", &device.mtu, &link.mtu)?;
        let kind = self.kind_of(device);
        if kind.has_mac() {
            compare(at, "MAC address", &format!("{:02x?}", device.mac), &format!("{:02x?}", link.mac))?;
        }
        let master = device.master.as_ref().filter(|at| !self.is_absent(at));
        let index = master.and_then(|at| self.site.devices.find(at)).map_or(0, |bridge| bridge.index);
        compare(at, "the bridge with index", &index, &link.master.unwrap_or(0))?;
        compare(at, "carrier", &true, &self.carries(device, link))?;
        compare(at, kind.noun(), &kind.expected(at), &kind.reported(&link.data))
    }

    fn carries(&self, device: &Device, link: &LinkFacts) -> bool {
        self.kind_of(device).carries(device, link, &self.site)
    }

    fn kind_of(&self, device: &Device) -> &dyn LinkKind {
        link::kind(&self.site.lab.links[device.link])
    }

    fn verify_addresses(&self, host: &HostName) -> Result<(), CreateError> {
        let wanted: Vec<(&DeviceRef, IpNet)> =
            self.site.lab.all_addresses().filter(|(at, _)| at.host == *host && !self.is_absent(at)).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let found = read_back::addresses(&self.site.namespaces, host)?;
        for (at, address) in wanted {
            let index = self.site.devices.find(at).map(|device| device.index).unwrap_or_default();
            if !found.contains(&(index, address)) {
                let there: Vec<_> =
                    found.iter().filter(|(owner, _)| *owner == index).map(|(_, net)| *net).collect();
                return Err(differs(at, "address", &address, &format!("{there:?}")));
            }
        }
        Ok(())
    }
}

fn compare<T: PartialEq + ToString + ?Sized>(
    device: &DeviceRef,
    what: &'static str,
    wanted: &T,
    found: &T,
) -> Result<(), CreateError> {
    if wanted == found { Ok(()) } else { Err(differs(device, what, wanted, found)) }
}

fn differs(
    device: &DeviceRef,
    what: &'static str,
    wanted: &(impl ToString + ?Sized),
    found: &(impl ToString + ?Sized),
) -> CreateError {
    CreateError::Differs {
        device: device.clone(),
        what,
        wanted: wanted.to_string().into(),
        found: found.to_string().into(),
    }
}
