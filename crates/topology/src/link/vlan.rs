//! VLAN devices (IEEE 802.1Q; linux/if_link.h).

use nlink::netlink::{
    AttrIter,
    link::{LinkConfig, VlanLink},
};
use scenario::{DeviceName, DeviceRef, Lab, link::Vlan};

use super::{LinkKind, Site};
use crate::{
    device_kind::DeviceKind,
    error::CreateError,
    message::Request,
    missing_capabilities::Element,
    scratch,
    trial::{Attempt, Trial},
};

/// `IFLA_VLAN_ID`.
const ID: u16 = 1;

pub(super) const TRIAL: Trial = Trial {
    name: "vlan",
    done: "created a VLAN device on a veth device",
    needed_for: "VLANs",
    remedy: "modprobe 8021q (CONFIG_VLAN_8021Q)",
    required: false,
    attempt: Attempt::Lab(smallest),
};

fn smallest() -> Lab {
    let (at, over) = (DeviceRef::new("near", "vlan2"), DeviceName::new("eth0"));
    let vlan = Vlan { name: "vlan2".into(), at, over, id: 2, address: None, mtu: scratch::MTU };
    let mut lab = scratch::wire();
    lab.links.push(vlan.into());
    lab
}

impl LinkKind for Vlan {
    fn noun(&self) -> &'static str {
        "vlan"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec![TRIAL.name]
    }

    fn device(&self, _: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        Some(DeviceKind::Vlan)
    }

    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        site.create_over("VLAN device", &self.at, &self.over, element, |device, under, message| {
            VlanLink::with_parent_index(self.at.device.as_str(), under, self.id)
                .mtu(device.mtu)
                .address(device.mac)
                .write_to(message, Some(under));
        })
    }

    fn expected(&self, _: &DeviceRef) -> String {
        format!("VLAN ID {}", self.id)
    }

    fn reported(&self, data: &[u8]) -> String {
        let id = AttrIter::new(data).find(|(attribute, _)| *attribute == ID);
        let id = id.and_then(|(_, value)| Some(u16::from_ne_bytes(value.get(..2)?.try_into().ok()?)));
        id.map_or_else(String::new, |id| format!("VLAN ID {id}"))
    }
}
