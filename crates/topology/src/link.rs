//! The kinds of link: what each asks of the kernel, and what is looked at when it stands; a file each. CONTRIBUTING.md,
//! walk 1, goes through the lists for a new one.

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

/// Where links are made.
pub(crate) struct Site<'a> {
    pub(crate) lab: &'a Lab,
    pub(crate) devices: Devices,
    pub(crate) namespaces: Namespaces,
    pub(crate) taps: Taps,
    /// Guests whose monitors open their tap devices by name.
    pub(crate) by_name: BTreeSet<HostName>,
}

/// What a kind of link asks of the kernel.
pub(crate) trait LinkKind {
    /// What it is called in messages, before its name.
    fn noun(&self) -> &'static str;

    /// The capabilities that it needs, by their names.
    fn needs(&self) -> Vec<&'static str>;

    /// The kind of its device `at`; `None` for one that another kernel makes.
    fn device(&self, at: &DeviceRef, lab: &Lab) -> Option<DeviceKind>;

    /// The MAC address of `at`, where the lab's numbers are not to give one.
    fn mac(&self, _at: &DeviceRef) -> Option<[u8; 6]> {
        None
    }

    /// What a frame reaches that is sent out of `at`, where that is known without looking further.
    fn behind(&self, _at: &DeviceRef) -> Option<Peer> {
        None
    }

    /// The devices that are ports of its own.
    fn ports(&self) -> Vec<DeviceRef> {
        Vec::new()
    }

    /// Makes its devices; what they stand on is there.
    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError>;

    /// Connects them, when all devices are there and none is up yet.
    fn connect(&self, _element: &Element, _site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        Ok(vec![])
    }

    /// Limits what they send, when they are up.
    fn limit(&self, _site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        Ok(vec![])
    }

    /// What the kernel is to say of `at` that it says of devices of this kind only.
    fn expected(&self, _at: &DeviceRef) -> String {
        String::new()
    }

    /// The same as it says it, in the link's `IFLA_INFO_DATA`.
    fn told(&self, _data: &[u8]) -> String {
        String::new()
    }

    /// Whether frames pass `device`.
    fn carries(&self, device: &Device, link: &LinkFacts, _site: &Site<'_>) -> bool {
        carries(device, link)
    }

    /// Looks at what a link does not tell, when all of them carry.
    fn verify(&self, _site: &Site<'_>) -> Result<(), CreateError> {
        Ok(())
    }
}

/// What a frame reaches that is sent out of a device.
#[derive(Debug, Clone)]
pub(crate) enum Peer {
    /// The device at the other end.
    Device(DeviceRef),
    /// A device of another kernel.
    Mac([u8; 6]),
}

/// What is asked of the kernel for a link.
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

/// What is tried to see whether this kernel has what a layer takes.
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
    /// One end of a pair.
    Veth,
    Macvlan,
    /// A VLAN's device.
    Vlan,
    /// A VXLAN tunnel's device.
    Vxlan,
    Bridge,
    /// The host's side of a virtual machine's network device.
    Tap,
    /// The guest's side of it.
    Virtio,
    /// Any other, such as a network card; no lab has one.
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

    /// Its word in records and reports, the kernel's (a network card and a guest's device have none), and whether its
    /// operational state says when frames pass: a tunnel's says nothing of itself ("unknown"), and a bridge without ports has
    /// no carrier to wait for.
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

    /// The kind that the kernel has this word for; a network card's is empty.
    pub(crate) fn of_word(word: &str) -> Self {
        let known = Self::ALL.into_iter().filter(|_| !word.is_empty());
        known.into_iter().find(|kind| kind.kernel_word() == word).unwrap_or(Self::Other)
    }

    /// The word for it in records and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.facts().0
    }

    /// The kernel's word for it; it has none for a network card.
    pub(crate) fn kernel_word(self) -> &'static str {
        self.facts().1
    }

    /// Whether its operational state says when frames pass.
    pub(crate) fn tells_state(self) -> bool {
        self.facts().2
    }
}

/// The part of a lab that a link is.
pub(crate) fn element(link: &Link) -> Element {
    Element::Link { noun: kind(link).noun(), name: link.name().to_owned() }
}

/// The capabilities that a link needs, by their names.
#[must_use]
pub fn needs(link: &Link) -> Vec<&'static str> {
    kind(link).needs()
}

fn carries(device: &Device, link: &LinkFacts) -> bool {
    let port_forwards = link.port_state.is_none_or(|state| state == FORWARDING);
    port_forwards && (!device.kind.tells_state() || link.operstate == OPERATIONAL)
}
