//! The kinds of link, one file each. CONTRIBUTING.md, walk 1, describes how to add one.

mod attachment;
mod bridge;
mod macvlan;
mod nic;
mod ovs;
mod rate;
mod tunnel;
mod veth;
mod vlan;
mod vxlan;
mod wire;

use std::collections::BTreeSet;

use nlink::netlink::MessageBuilder;
use scenario::{DeviceName, DeviceRef, Gateway, HostName, Lab, Layer, Link, link::TunnelEnd};

use crate::{
    device_kind::DeviceKind,
    devices::{Device, Devices, Peer},
    error::CreateError,
    gateway,
    message::{Request, create_link},
    missing_capabilities::Element,
    namespaces::Namespaces,
    read_back::{FORWARDING, LinkFacts, OPERATIONAL},
    refusal::Refusal,
    trial::Trial,
};
pub(crate) use rate::root_qdisc;

pub use nic::Tap;
pub(crate) use nic::{Taps, find as find_own, mac as mac_of_guest, nic_of, opened_by_name};
#[cfg(test)]
pub(crate) use vxlan::smallest as smallest_overlay;
pub(crate) use wire::element as element_of_wire;

pub(crate) struct Site<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) gateways: Vec<Gateway>,
    pub(crate) devices: Devices,
    pub(crate) namespaces: Namespaces,
    pub(crate) taps: Taps,
    pub(crate) by_name: BTreeSet<HostName>,
}

impl Site<'_> {
    /// Creates a device on top of `over`. `write` takes the new device and the index of `over`, and adds attributes
    /// to the message.
    fn create_over(
        &self,
        noun: &str,
        at: &DeviceRef,
        over: &DeviceName,
        element: &Element,
        write: impl FnOnce(&Device, u32, &mut MessageBuilder),
    ) -> Result<Vec<Request>, CreateError> {
        let device = self.devices.get(at, element)?;
        let under = self.devices.get_in(&at.host, over, element)?;
        let mut message = create_link(device);
        write(device, under.index, &mut message);
        Ok(vec![Request {
            host: at.host.clone(),
            element: element.clone(),
            needs: vec![under.at.clone()],
            operation: format!("create {noun} `{at}`"),
            message,
        }])
    }
}

pub(crate) trait LinkKind {
    fn noun(&self) -> &'static str;

    fn needs(&self) -> Vec<&'static str>;

    fn device(&self, at: &DeviceRef, lab: &Lab) -> Option<DeviceKind>;

    fn mac(&self, _at: &DeviceRef) -> Option<[u8; 6]> {
        None
    }

    /// Whether the devices get the MAC addresses that [`Devices`] chooses.
    fn has_mac(&self) -> bool {
        true
    }

    /// Returns the devices that receive the frames sent by a device.
    fn behind(&self, _at: &DeviceRef) -> Vec<Peer> {
        Vec::new()
    }

    fn ports(&self) -> Vec<DeviceRef> {
        Vec::new()
    }

    /// Runs after all underlying devices exist.
    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError>;

    /// Runs after all devices exist and before any is up.
    fn connect(&self, _element: &Element, _site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        Ok(vec![])
    }

    /// Runs after all devices are up.
    fn finish(&self, _site: &Site<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn limit(&self, _site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        Ok(vec![])
    }

    fn expected(&self, _at: &DeviceRef) -> String {
        String::new()
    }

    fn reported(&self, _data: &[u8]) -> String {
        String::new()
    }

    fn carries(&self, device: &Device, link: &LinkFacts, _site: &Site<'_>) -> bool {
        carries(device, link)
    }

    fn verify(&self, _site: &Site<'_>) -> Result<(), CreateError> {
        Ok(())
    }
}

pub(crate) fn kind(link: &Link) -> &dyn LinkKind {
    match link {
        Link::Wire(link) => link,
        Link::Attachment(link) => link,
        Link::Nic(link) => link,
        Link::Bridge(link) => link,
        Link::Macvlan(link) => link,
        Link::Vlan(link) => link,
        Link::Vxlan(link) => link,
        Link::Tunnel(link) => link,
    }
}

pub(crate) fn trials(layer: Layer) -> &'static [Trial] {
    match layer {
        Layer::Wire => &[veth::TRIAL, rate::TRIAL],
        Layer::Veth => &[veth::TRIAL],
        Layer::Netkit => &[veth::NETKIT],
        Layer::Virtio => &[nic::TRIAL],
        Layer::Bridge => &[bridge::TRIAL],
        Layer::Ovs => &[bridge::OVS],
        Layer::Macvlan => &[macvlan::TRIAL],
        Layer::Vlan => &[vlan::TRIAL],
        Layer::Vxlan => &[vxlan::TRIAL],
        Layer::Geneve => &[tunnel::GENEVE],
        Layer::Gre => &[tunnel::GRE],
        Layer::Gretap => &[tunnel::GRETAP],
        Layer::Wireguard => &[tunnel::WIREGUARD],
        Layer::Esp => &[tunnel::ESP],
        Layer::Gateway => &gateway::TRIALS,
        Layer::Network => &[],
    }
}

pub(crate) fn element(link: &Link) -> Element {
    Element::Link { noun: kind(link).noun(), name: link.name().to_owned() }
}

#[must_use]
pub fn needs(link: &Link) -> Vec<&'static str> {
    kind(link).needs()
}

fn behind(ends: &[TunnelEnd], at: &DeviceRef) -> Vec<Peer> {
    let others = ends.iter().filter(|end| end.at != *at);
    others.map(|end| Peer::Device(end.at.clone())).collect()
}

fn carries(device: &Device, link: &LinkFacts) -> bool {
    let port_forwards = link.port_state.is_none_or(|state| state == FORWARDING);
    port_forwards && (!device.kind.reports_carrier() || link.operstate == OPERATIONAL)
}
