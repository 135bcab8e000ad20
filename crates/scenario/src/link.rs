//! The kinds of link, a file each, and the lists that everything else goes through; CONTRIBUTING.md, walk 1, goes through
//! them for a new one.

mod attachment;
mod bridge;
mod kind;
mod macvlan;
mod nic;
mod vlan;
mod vxlan;
mod wire;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{document::Section, lab::Lab, names::HostName};

pub use attachment::Attachment;
pub(crate) use attachment::GuestTable;
pub use bridge::Bridge;
pub(crate) use bridge::BridgeTable;
pub use kind::LinkDevice;
pub(crate) use kind::{LinkKind, LinkTable, Way, WrittenDevice};
pub use macvlan::Macvlan;
pub(crate) use macvlan::MacvlanTable;
pub use nic::Nic;
pub(crate) use nic::set_queues;
pub use vlan::Vlan;
pub(crate) use vlan::VlanTable;
pub(crate) use vxlan::VxlanTable;
pub use vxlan::{Forwarding, Vxlan, VxlanMember};
pub(crate) use wire::WireTable;
pub use wire::{LinkEnd, Wire};

/// A link of any kind: devices, and what connects them below routing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Link {
    /// A wire between two hosts.
    Wire(Wire),
    /// The veth pair of a guest or pod.
    Attachment(Attachment),
    /// The network device of a virtual machine.
    Nic(Nic),
    Bridge(Bridge),
    /// A macvlan in bridge mode.
    Macvlan(Macvlan),
    /// A VLAN's device.
    Vlan(Vlan),
    /// A VXLAN overlay.
    Vxlan(Vxlan),
}

impl Link {
    pub(crate) fn kind(&self) -> &dyn LinkKind {
        match self {
            Self::Wire(link) => link,
            Self::Attachment(link) => link,
            Self::Nic(link) => link,
            Self::Bridge(link) => link,
            Self::Macvlan(link) => link,
            Self::Vlan(link) => link,
            Self::Vxlan(link) => link,
        }
    }

    /// Takes over what hosts that exist already have told, by the lab that has it.
    pub(crate) fn locate(&mut self, told: &Lab) {
        match self {
            Self::Wire(link) => link.locate(told),
            Self::Attachment(link) => link.locate(told),
            Self::Nic(link) => link.locate(told),
            Self::Bridge(link) => link.locate(told),
            Self::Macvlan(link) => link.locate(told),
            Self::Vlan(link) => link.locate(told),
            Self::Vxlan(link) => link.locate(told),
        }
    }

    /// Its name in the scenario.
    #[must_use]
    pub fn name(&self) -> &str {
        self.kind().name()
    }

    /// What a packet meets that passes it.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.kind().layer()
    }

    /// The devices that it makes.
    #[must_use]
    pub fn devices(&self) -> Vec<LinkDevice<'_>> {
        self.kind().devices()
    }

    /// Whether it is made by the kernel of the virtual machine `host`.
    #[must_use]
    pub fn is_inside(&self, host: &HostName) -> bool {
        self.kind().is_inside(host)
    }
}

macro_rules! sections {
    ($($(#[doc = $doc:literal])* $section:ident: $table:ty,)*) => {
        /// The sections of the document that make links, in the order in which they are resolved.
        #[derive(Debug, Clone, JsonSchema)]
        pub(crate) struct LinkTables {
            $($(#[doc = $doc])* #[schemars(default)] pub(crate) $section: Section<$table>,)*
        }

        impl LinkTables {
            /// Their keys at the top of a document.
            pub(crate) const KEYS: &[&str] = &[$(stringify!($section)),*];

            /// Reads every section.
            pub(crate) fn read(reader: &mut impl crate::document::ReadSection) -> Self {
                Self { $($section: reader.section(stringify!($section)),)* }
            }

            /// Every table.
            pub(crate) fn all(&self) -> impl Iterator<Item = &dyn LinkTable> {
                let mut all: Vec<&dyn LinkTable> = Vec::new();
                $(all.extend(self.$section.iter().map(|entry| -> &dyn LinkTable { entry }));)*
                all.into_iter()
            }
        }
    };
}

sections! {
    /// Wires between hosts, by name.
    wires: WireTable,
    /// Guests, by name: virtual machines behind a bridge, or namespaces that stand for them.
    guests: GuestTable,
    /// Pods, by name: namespaces behind a bridge.
    pods: GuestTable,
    /// Bridges, by name.
    bridges: BridgeTable,
    /// Macvlans, by the name of their devices.
    macvlans: MacvlanTable,
    /// Devices of VLANs, by name.
    vlans: VlanTable,
    /// VXLAN overlays, by the name of their devices.
    vxlans: VxlanTable,
}

/// What a packet passes on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// A wire between two hosts.
    Wire,
    /// The veth pair of a guest or pod.
    Veth,
    /// The network device of a virtual machine: its queues, who empties them (the monitor, or vhost), and the tap device.
    Virtio,
    /// A bridge.
    Bridge,
    /// A macvlan: another device on the end of a wire.
    Macvlan,
    /// A VLAN: tagged, sent over a wire, untagged.
    Vlan,
    /// A VXLAN tunnel: encapsulated, sent over a wire, decapsulated.
    Vxlan,
    /// An egress gateway: policy route, forwarding, source translation.
    Gateway,
    /// The network between hosts that exist already, whatever it is made of.
    Network,
}

impl Layer {
    /// Every layer.
    pub const ALL: &[Self] = &[
        Self::Wire,
        Self::Veth,
        Self::Virtio,
        Self::Bridge,
        Self::Macvlan,
        Self::Vlan,
        Self::Vxlan,
        Self::Gateway,
        Self::Network,
    ];

    /// The word for it in scenarios and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Veth => "veth",
            Self::Virtio => "virtio",
            Self::Bridge => "bridge",
            Self::Macvlan => "macvlan",
            Self::Vlan => "vlan",
            Self::Vxlan => "vxlan",
            Self::Gateway => "gateway",
            Self::Network => "network",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::Layer;

    #[test]
    fn every_layer_is_listed_by_its_word() {
        let schema = schemars::schema_for!(Layer).to_value();
        let written: Vec<_> = schema["oneOf"].as_array().expect("one of words").iter().collect();
        let words: Vec<_> = written.iter().filter_map(|one| one["const"].as_str()).collect();
        assert_eq!(Layer::ALL.iter().map(|layer| layer.word()).collect::<Vec<_>>(), words);
    }
}
