//! Finds the devices between two neighbouring routers.

use std::{
    collections::{BTreeMap, VecDeque},
    net::Ipv4Addr,
};

use super::spaces::{Node, Spaces};

const BRIDGE: &str = "bridge";
const VETH: &str = "veth";
const VXLAN: &str = "vxlan";
/// Devices on top of another one.
const STACKED: [&str; 5] = ["macvlan", "macvtap", "ipvlan", "ipvtap", "vlan"];

/// Returns the devices from `egress` to the device that has the address `next`. A router whose address only answers
/// ARP requests on behalf of others, as in Calico, is the peer of `egress`.
pub(super) fn find(spaces: &Spaces<'_>, egress: Node, next: Ipv4Addr) -> Option<Vec<Node>> {
    let by_address = spaces.with_address(next).find_map(|owner| shortest(spaces, egress, owner));
    by_address.or_else(|| {
        let peer = spaces.lower(egress).filter(|_| is(spaces, egress, VETH))?;
        spaces.link(peer).master.is_none().then(|| vec![egress, peer])
    })
}

/// A breadth-first search, because the layer-2 network may have loops.
fn shortest(spaces: &Spaces<'_>, from: Node, to: Node) -> Option<Vec<Node>> {
    let mut before: BTreeMap<Node, Option<Node>> = BTreeMap::from([(from, None)]);
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        if node == to {
            return Some(passed(spaces, &before, to));
        }
        for next in neighbours(spaces, node) {
            before.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                Some(node)
            });
        }
    }
    None
}

/// Omits bridges that only forward from one port to another: no packet passes the bridge's own device.
fn passed(spaces: &Spaces<'_>, before: &BTreeMap<Node, Option<Node>>, to: Node) -> Vec<Node> {
    let mut path: Vec<Node> = std::iter::successors(Some(to), |node| before[node]).collect();
    path.reverse();
    let last = path.len() - 1;
    let is_passed =
        |(place, node): &(usize, Node)| *place == 0 || *place == last || !is(spaces, *node, BRIDGE);
    path.into_iter().enumerate().filter(is_passed).map(|(_, node)| node).collect()
}

fn neighbours(spaces: &Spaces<'_>, node: Node) -> Vec<Node> {
    let Some(link) = spaces.link_at(node) else { return Vec::new() };
    let mut found = Vec::new();
    let master = link.master.map(|index| Node { index, ..node });
    found.extend(master.filter(|master| is(spaces, *master, BRIDGE)));
    if link.kind == VETH || STACKED.contains(&link.kind.as_str()) {
        found.extend(spaces.lower(node));
    }
    for (other, facts) in spaces.devices() {
        let is_port = link.kind == BRIDGE && other.space == node.space && facts.master == Some(node.index);
        let is_stacked = STACKED.contains(&facts.kind.as_str()) && spaces.lower(other) == Some(node);
        let is_far_end = link.kind == VXLAN && other != node && spaces.is_same_tunnel(node, other);
        if is_port || is_stacked || is_far_end {
            found.push(other);
        }
    }
    found
}

fn is(spaces: &Spaces<'_>, node: Node, kind: &str) -> bool {
    spaces.link_at(node).is_some_and(|link| link.kind == kind)
}
