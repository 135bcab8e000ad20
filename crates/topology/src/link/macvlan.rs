//! Macvlans in bridge mode (linux/if_link.h).

use std::net::IpAddr;

use ipnet::IpNet;
use nlink::netlink::{
    AttrIter,
    link::{LinkConfig, MacvlanLink, MacvlanMode},
};
use scenario::{DeviceName, DeviceRef, Lab, link::Macvlan};

use super::{LinkKind, Site};
use crate::{
    device_kind::DeviceKind,
    error::CreateError,
    message::Request,
    missing_capabilities::Element,
    read_back::u32_at,
    scratch,
    trial::{Attempt, Trial},
};

/// `IFLA_MACVLAN_MODE`.
const MODE: u16 = 1;

pub(super) const TRIAL: Trial = Trial {
    name: "macvlan",
    done: "created a macvlan on a veth device",
    needed_for: "macvlans",
    remedy: "modprobe macvlan (CONFIG_MACVLAN)",
    required: false,
    attempt: Attempt::Lab(smallest),
};

fn smallest() -> Lab {
    let (at, over) = (DeviceRef::new("near", "mv0"), DeviceName::new("eth0"));
    let address = IpNet::new_assert(IpAddr::from([198, 18, 1, 1]), 24);
    let mut lab = scratch::wire();
    lab.links.push(Macvlan { name: "mv0".into(), at, over, address, mtu: scratch::MTU }.into());
    lab
}

impl LinkKind for Macvlan {
    fn noun(&self) -> &'static str {
        "macvlan"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec![TRIAL.name]
    }

    fn device(&self, _: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        Some(DeviceKind::Macvlan)
    }

    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        site.create_over("macvlan", &self.at, &self.over, element, |device, under, message| {
            MacvlanLink::with_parent_index(self.at.device.as_str(), under)
                .mode(MacvlanMode::Bridge)
                .mtu(device.mtu)
                .address(device.mac)
                .write_to(message, Some(under));
        })
    }

    fn expected(&self, _: &DeviceRef) -> String {
        format!("mode {}", MacvlanMode::Bridge as u32)
    }

    fn reported(&self, data: &[u8]) -> String {
        let mode = AttrIter::new(data).find(|(attribute, _)| *attribute == MODE);
        mode.and_then(|(_, value)| u32_at(value)).map_or_else(String::new, |mode| format!("mode {mode}"))
    }
}
