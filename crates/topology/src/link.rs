//! The kinds of link, one file each. CONTRIBUTING.md, walk 1, describes how to add one.

mod attachment;
mod bridge;
mod macvlan;
mod nic;
mod rate;
mod veth;
mod vlan;
mod vxlan;
mod wire;

use std::collections::BTreeSet;

use scenario::{DeviceRef, HostName, Lab, Layer, Link};

use crate::{
    devices::{Device, Devices},
    error::CreateError,
    gateway,
    message::Request,
    missing_capabilities::Element,
    namespaces::Namespaces,
    probe::Trial,
    read_back::{FORWARDING, LinkFacts, OPERATIONAL},
};

pub use nic::Tap;
pub(crate) use nic::{Taps, find as find_own, mac as mac_of_guest, nic_of, opened_by_name};
#[cfg(test)]
pub(crate) use vxlan::smallest as smallest_overlay;
pub(crate) use wire::element as element_of_wire;

pub(crate) struct Site<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) devices: Devices,
    pub(crate) namespaces: Namespaces,
    pub(crate) taps: Taps,
    /// Guests whose monitors open tap devices by name.
    pub(crate) by_name: BTreeSet<HostName>,
}

pub(crate) trait LinkKind {
    fn noun(&self) -> &'static str;

    fn needs(&self) -> Vec<&'static str>;

    fn device(&self, at: &DeviceRef, lab: &Lab) -> Option<DeviceKind>;

    /// `None` for a generated address.
    fn mac(&self, _at: &DeviceRef) -> Option<[u8; 6]> {
        None
    }

    fn behind(&self, _at: &DeviceRef) -> Option<Peer> {
        None
    }

    fn ports(&self) -> Vec<DeviceRef> {
        Vec::new()
    }

    /// Devices below exist.
    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError>;

    /// Runs after all devices exist and before any is up.
    fn connect(&self, _element: &Element, _site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        Ok(vec![])
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

    /// Whether `device` can carry traffic.
    fn carries(&self, device: &Device, link: &LinkFacts, _site: &Site<'_>) -> bool {
        carries(device, link)
    }

    fn verify(&self, _site: &Site<'_>) -> Result<(), CreateError> {
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Peer {
    Device(DeviceRef),
    Mac([u8; 6]),
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
    }
}

pub(crate) fn trials(layer: Layer) -> &'static [Trial] {
    match layer {
        Layer::Wire => &[veth::TRIAL, rate::TRIAL],
        Layer::Veth => &[veth::TRIAL],
        Layer::Virtio => &[nic::TRIAL],
        Layer::Bridge => &[bridge::TRIAL],
        Layer::Macvlan => &[macvlan::TRIAL],
        Layer::Vlan => &[vlan::TRIAL],
        Layer::Vxlan => &[vxlan::TRIAL],
        Layer::Gateway => &gateway::TRIALS,
        Layer::Network => &[],
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceKind {
    Veth,
    Macvlan,
    Vlan,
    Vxlan,
    Bridge,
    Tap,
    Virtio,
    /// Any other, such as a network card. Not used in labs.
    Other,
}

impl DeviceKind {
    const ALL: [Self; Self::Other as usize + 1] = [
        Self::Veth,
        Self::Macvlan,
        Self::Vlan,
        Self::Vxlan,
        Self::Bridge,
        Self::Tap,
        Self::Virtio,
        Self::Other,
    ];

    /// The operational state of a tunnel is "unknown", and a bridge without ports has no carrier.
    const fn facts(self) -> (&'static str, &'static str, bool) {
        match self {
            Self::Veth => ("veth", "veth", true),
            Self::Macvlan => ("macvlan", "macvlan", true),
            Self::Vlan => ("vlan", "vlan", true),
            Self::Vxlan => ("vxlan", "vxlan", false),
            Self::Bridge => ("bridge", "bridge", false),
            Self::Tap => ("tap", "tun", false),
            Self::Virtio => ("virtio", "", false),
            Self::Other => ("other", "", false),
        }
    }

    pub(crate) fn of_word(word: &str) -> Self {
        let known = Self::ALL.into_iter().filter(|_| !word.is_empty());
        known.into_iter().find(|kind| kind.kernel_word() == word).unwrap_or(Self::Other)
    }

    #[must_use]
    pub fn word(self) -> &'static str {
        self.facts().0
    }

    pub(crate) fn kernel_word(self) -> &'static str {
        self.facts().1
    }

    pub(crate) fn reports_carrier(self) -> bool {
        self.facts().2
    }
}

pub(crate) fn element(link: &Link) -> Element {
    Element::Link { noun: kind(link).noun(), name: link.name().to_owned() }
}

#[must_use]
pub fn needs(link: &Link) -> Vec<&'static str> {
    kind(link).needs()
}

fn carries(device: &Device, link: &LinkFacts) -> bool {
    let port_forwards = link.port_state.is_none_or(|state| state == FORWARDING);
    port_forwards && (!device.kind.reports_carrier() || link.operstate == OPERATIONAL)
}
