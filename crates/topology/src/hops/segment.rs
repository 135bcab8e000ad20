//! Finds the devices between two neighbouring routers.

use std::{
    collections::{BTreeMap, VecDeque},
    net::IpAddr,
};

use super::spaces::{Node, Spaces};
use crate::device_kind::Connection;

/// Returns the devices from `egress` to the device with the address `next`. If no device has this address, the peer of
/// `egress` is the router and answers ARP requests by proxy, e.g. with Calico.
pub(super) fn find(spaces: &Spaces<'_>, egress: Node, next: IpAddr) -> Option<Vec<Node>> {
    let by_address = spaces.with_address(next).find_map(|owner| shortest(spaces, egress, owner));
    by_address.or_else(|| {
        let peer = spaces.lower(egress).filter(|_| spaces.connection(egress) == Connection::Pair)?;
        let is_port = spaces.link(peer).master.is_some() || spaces.switch_of(peer).is_some();
        (!is_port).then(|| vec![egress, peer])
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

/// Omits bridges that only forward from one port to another: no packet passes through the bridge's own device.
fn passed(spaces: &Spaces<'_>, before: &BTreeMap<Node, Option<Node>>, to: Node) -> Vec<Node> {
    let mut path: Vec<Node> = std::iter::successors(Some(to), |node| before[node]).collect();
    path.reverse();
    let last = path.len() - 1;
    let is_passed = |(place, node): &(usize, Node)| {
        *place == 0 || *place == last || spaces.connection(*node) != Connection::Ports
    };
    path.into_iter().enumerate().filter(is_passed).map(|(_, node)| node).collect()
}

fn neighbours(spaces: &Spaces<'_>, node: Node) -> Vec<Node> {
    let Some(link) = spaces.link_at(node) else { return Vec::new() };
    let connection = spaces.connection(node);
    let mut found = Vec::new();
    let master = link.master.map(|index| Node { index, ..node });
    found.extend(master.filter(|master| spaces.connection(*master) == Connection::Ports));
    if matches!(connection, Connection::Pair | Connection::Lower) {
        found.extend(spaces.lower(node));
    }
    found.extend(spaces.switch_of(node).into_iter().flat_map(|(_, ports)| ports.iter().copied()));
    for (other, facts) in spaces.devices().filter(|(other, _)| *other != node) {
        let is_here = other.space == node.space;
        let is_port = connection == Connection::Ports && is_here && facts.master == Some(node.index);
        let is_above = spaces.connection(other) == Connection::Lower && spaces.lower(other) == Some(node);
        let is_far_end = connection == Connection::Tunnel && spaces.is_same_tunnel(node, other);
        if is_port || is_above || is_far_end {
            found.push(other);
        }
    }
    found
}
