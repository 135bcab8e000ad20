//! The kinds of link, each in its own file. Walk 1 in CONTRIBUTING.md describes how to add one.

mod attachment;
mod bridge;
mod encapsulation;
mod kind;
mod macvlan;
mod nic;
mod pair;
mod tunnel;
mod tunnel_end;
mod vlan;
mod vxlan;
mod wire;

use std::fmt;

use derive_more::From;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

use crate::{
    document::{Converter, Section},
    lab::Lab,
    names::HostName,
};

pub use attachment::Attachment;
pub(crate) use attachment::GuestTable;
pub(crate) use bridge::BridgeTable;
pub use bridge::{Bridge, BridgeKind};
pub use encapsulation::Encapsulation;
pub use kind::LinkDevice;
pub(crate) use kind::{LinkKind, LinkTable, Way, WrittenDevice};
pub use macvlan::Macvlan;
pub(crate) use macvlan::MacvlanTable;
pub use nic::Nic;
pub(crate) use nic::set_queues;
pub use pair::PairKind;
pub use tunnel::Tunnel;
pub(crate) use tunnel::TunnelTable;
pub use tunnel_end::TunnelEnd;
pub use vlan::Vlan;
pub(crate) use vlan::VlanTable;
pub(crate) use vxlan::VxlanTable;
pub use vxlan::{Forwarding, Vxlan};
pub(crate) use wire::WireTable;
pub use wire::{LinkEnd, Wire};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, From)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Link {
    Wire(Wire),
    Attachment(Attachment),
    Nic(Nic),
    Bridge(Bridge),
    Macvlan(Macvlan),
    Vlan(Vlan),
    Vxlan(Vxlan),
    Tunnel(Tunnel),
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
            Self::Tunnel(link) => link,
        }
    }

    pub(crate) fn locate(&mut self, lab: &Lab) {
        match self {
            Self::Wire(link) => link.locate(lab),
            Self::Attachment(link) => link.locate(lab),
            Self::Nic(link) => link.locate(lab),
            Self::Bridge(link) => link.locate(lab),
            Self::Macvlan(link) => link.locate(lab),
            Self::Vlan(link) => link.locate(lab),
            Self::Vxlan(link) => link.locate(lab),
            Self::Tunnel(link) => link.locate(lab),
        }
    }

    #[must_use]
    pub fn name(&self) -> &str {
        self.kind().name()
    }

    #[must_use]
    pub fn layers(&self) -> Vec<Layer> {
        self.kind().layers()
    }

    #[must_use]
    pub fn devices(&self) -> Vec<LinkDevice<'_>> {
        self.kind().devices()
    }

    #[must_use]
    pub fn modules(&self) -> Vec<&'static str> {
        self.kind().modules()
    }

    #[must_use]
    pub fn is_inside(&self, host: &HostName) -> bool {
        self.kind().is_inside(host)
    }
}

macro_rules! sections {
    ($($(#[doc = $doc:literal])* $section:ident: $table:ty,)*) => {
        #[derive(Debug, Clone, JsonSchema)]
        pub(crate) struct LinkTables {
            $($(#[doc = $doc])* #[schemars(default)] pub(crate) $section: Section<$table>,)*
        }

        impl LinkTables {
            pub(crate) const KEYS: &[&str] = &[$(stringify!($section)),*];

            pub(crate) fn read(reader: &mut impl crate::document::ReadSection) -> Self {
                Self { $($section: reader.section(stringify!($section)),)* }
            }

            pub(crate) fn all(&self) -> impl Iterator<Item = &dyn LinkTable> {
                let mut all: Vec<&dyn LinkTable> = Vec::new();
                $(all.extend(self.$section.iter().map(|entry| -> &dyn LinkTable { entry }));)*
                all.into_iter()
            }

            pub(crate) fn convert(&mut self, converter: &mut Converter) {
                $(self.$section.0.iter_mut().for_each(|entry| entry.convert(converter));)*
            }
        }
    };
}

sections! {
    /// Wires between hosts, by name.
    wires: WireTable,
    /// Guests, by name: virtual machines or namespaces on a bridge.
    guests: GuestTable,
    /// Pods, by name: namespaces on a bridge.
    pods: GuestTable,
    /// Bridges, by name.
    bridges: BridgeTable,
    /// Macvlans, by device name.
    macvlans: MacvlanTable,
    /// VLAN devices, by name.
    vlans: VlanTable,
    /// VXLAN overlays, by device name.
    vxlans: VxlanTable,
    /// Point-to-point tunnels, by device name.
    tunnels: TunnelTable,
}

/// A layer that packets pass through.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Layer {
    /// A wire between two hosts.
    Wire,
    /// The veth pair of a guest or pod.
    Veth,
    /// A pair of netkit devices.
    Netkit,
    /// The network device of a virtual machine: its queues, the process that serves them (the monitor, or vhost), and
    /// the tap device.
    Virtio,
    /// A bridge.
    Bridge,
    /// An Open vSwitch bridge.
    Ovs,
    /// A macvlan on the end of a wire.
    Macvlan,
    /// A VLAN: tagging, transmission over a wire, untagging.
    Vlan,
    /// A VXLAN tunnel: encapsulation, transmission over a wire, decapsulation.
    Vxlan,
    /// A GENEVE tunnel.
    Geneve,
    /// A GRE tunnel for IP packets.
    Gre,
    /// A GRE tunnel for Ethernet frames.
    Gretap,
    /// A WireGuard tunnel: encryption, transmission over a wire, decryption.
    Wireguard,
    /// IPsec: ESP in tunnel mode, or in transport mode for another tunnel's packets.
    Esp,
    /// An egress gateway: policy route, forwarding, source NAT.
    Gateway,
    /// The network between existing hosts, whatever its structure.
    Network,
}

impl Layer {
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    #[must_use]
    pub fn word(self) -> &'static str {
        self.into()
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
    fn lists_each_layer_under_its_word() {
        let schema = schemars::schema_for!(Layer).to_value();
        let written: Vec<_> = schema["oneOf"].as_array().expect("one of words").iter().collect();
        let words: Vec<_> = written.iter().filter_map(|one| one["const"].as_str()).collect();
        assert_eq!(Layer::ALL.iter().map(|layer| layer.word()).collect::<Vec<_>>(), words);
    }
}
