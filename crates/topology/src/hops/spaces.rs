//! The devices and addresses of all namespaces that a path may cross.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::Arc,
};

use ipnet::IpNet;
use nlink::netlink::AttrIter;
use scenario::HostName;

use super::NamedNamespace;
use crate::{
    device_kind::{Connection, DeviceKind},
    namespaces,
    outgoing_device::NextHop,
    read_back::{self, LinkFacts},
    refusal::Refusal,
    view::View,
};

/// `IFLA_VXLAN_ID`.
const ID: u16 = 1;
/// `IFLA_VXLAN_GROUP` and `IFLA_VXLAN_GROUP6`.
const REMOTE: [u16; 2] = [2, 16];
/// `IFLA_VXLAN_LOCAL` and `IFLA_VXLAN_LOCAL6`.
const LOCAL: [u16; 2] = [4, 17];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Node {
    pub(super) space: usize,
    pub(super) index: u32,
}

pub(super) struct Spaces<'k> {
    all: Vec<Space<'k>>,
    switches: Vec<(String, Vec<Node>)>,
}

struct Space<'k> {
    name: &'k HostName,
    view: View,
    links: BTreeMap<u32, LinkFacts>,
    addresses: BTreeSet<(u32, IpNet)>,
    /// Indexes of namespaces, by the ID that this namespace uses for them.
    ids: BTreeMap<i32, usize>,
}

impl<'k> Spaces<'k> {
    pub(super) fn read(
        known: &'k [NamedNamespace],
        switches: &BTreeMap<String, Vec<(u32, String)>>,
    ) -> Result<Self, Refusal> {
        let runtime = Arc::new(namespaces::runtime()?);
        let mut all = Vec::new();
        for one in known {
            let view = View::open(&runtime, &one.namespace)?;
            // Reading the devices first makes the kernel assign IDs to the namespaces of their peers.
            let (links, addresses) = (view.links()?, view.addresses()?);
            let mut ids = BTreeMap::new();
            for (place, other) in known.iter().enumerate() {
                if let Some(id) = view.id_of(&other.namespace)? {
                    ids.insert(id, place);
                }
            }
            all.push(Space { name: &one.name, view, links, addresses, ids });
        }
        let mut spaces = Self { all, switches: Vec::new() };
        spaces.switches = switches.iter().map(|(name, ports)| (name.clone(), spaces.ports(ports))).collect();
        Ok(spaces)
    }

    fn ports(&self, ports: &[(u32, String)]) -> Vec<Node> {
        // Devices in different namespaces may have the same index.
        let is_port = |link: &LinkFacts| {
            let mac = link.mac.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":");
            ports.contains(&(link.index, mac))
        };
        self.devices().filter(|(_, link)| is_port(link)).map(|(node, _)| node).collect()
    }

    pub(super) fn switch_of(&self, node: Node) -> Option<&(String, Vec<Node>)> {
        self.switches.iter().find(|(_, ports)| ports.contains(&node))
    }

    pub(super) fn name(&self, space: usize) -> &HostName {
        self.all[space].name
    }

    pub(super) fn has_address(&self, space: usize, address: IpAddr) -> bool {
        self.all[space].addresses.iter().any(|(_, net)| net.addr() == address)
    }

    pub(super) fn next_hop(&self, space: usize, to: IpAddr) -> Result<Option<NextHop>, Refusal> {
        self.all[space].view.next_hop(to)
    }

    /// # Panics
    /// If the namespace does not have the device.
    pub(super) fn link(&self, node: Node) -> &LinkFacts {
        &self.all[node.space].links[&node.index]
    }

    pub(super) fn link_at(&self, node: Node) -> Option<&LinkFacts> {
        self.all[node.space].links.get(&node.index)
    }

    pub(super) fn with_address(&self, address: IpAddr) -> impl Iterator<Item = Node> {
        let in_space = move |(space, it): (usize, &Space<'_>)| {
            let found = it.addresses.iter().filter(|(_, net)| net.addr() == address);
            found.map(|(index, _)| Node { space, index: *index }).collect::<Vec<_>>()
        };
        self.all.iter().enumerate().flat_map(in_space)
    }

    pub(super) fn connection(&self, node: Node) -> Connection {
        self.link_at(node).map_or(Connection::Lower, |link| DeviceKind::of_word(&link.kind).connection())
    }

    pub(super) fn lower(&self, node: Node) -> Option<Node> {
        let link = self.link_at(node)?;
        let space = match link.lower_namespace {
            None => node.space,
            Some(id) => *self.all[node.space].ids.get(&id)?,
        };
        let lower = Node { space, index: link.lower? };
        self.link_at(lower).map(|_| lower)
    }

    pub(super) fn devices(&self) -> impl Iterator<Item = (Node, &LinkFacts)> {
        self.all.iter().enumerate().flat_map(|(space, it)| {
            it.links.iter().map(move |(index, facts)| (Node { space, index: *index }, facts))
        })
    }

    /// Returns the outer destination of tunnel packets from `near` to `far`, or `None` if they are not the ends of
    /// one tunnel.
    pub(super) fn tunnel_between(&self, near: Node, far: Node) -> Option<IpAddr> {
        if near.space == far.space || !self.is_same_tunnel(near, far) {
            return None;
        }
        let local = vxlan(self.link(far), &LOCAL);
        local.or_else(|| vxlan(self.link(near), &REMOTE)).and_then(read_back::ip)
    }

    pub(super) fn is_same_tunnel(&self, near: Node, far: Node) -> bool {
        let [near, far] = [near, far].map(|node| vxlan(self.link(node), &[ID]));
        near.is_some() && near == far
    }
}

fn vxlan<'l>(link: &'l LinkFacts, attributes: &[u16]) -> Option<&'l [u8]> {
    if DeviceKind::of_word(&link.kind).connection() != Connection::Tunnel {
        return None;
    }
    let found = AttrIter::new(&link.data).find(|(found, _)| attributes.contains(found));
    found.map(|(_, value)| value)
}
