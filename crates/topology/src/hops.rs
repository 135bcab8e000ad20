//! Finds the devices that packets pass through between two namespaces on this machine, without sending any.
//!
//! The search looks up the next hop in the kernel's routes, then follows veth pairs, bridges, tunnels and stacked
//! devices to the device with the next hop's address. Open vSwitch bridges are not visible over netlink, so the
//! caller provides their ports.

mod segment;
mod spaces;

use std::{collections::BTreeMap, net::IpAddr};

use parking_lot::Mutex;
use scenario::{DeviceName, DeviceRef, HostName};
use sys::netns::NetNs;

use self::spaces::{Node, Spaces};
use crate::{
    configure::Originals,
    device_kind::DeviceKind,
    devices::{Device, Devices},
    link::Taps,
    missing_capabilities::Element,
    namespaces::Namespaces,
    refusal::Refusal,
    topology::Topology,
};

/// Ends the search in a routing loop. No reasonable path has this many hops.
const MAX_ROUTERS: usize = 16;
/// Ends the search if a tunnel's packets are routed into the tunnel itself.
const MAX_DEVICES: usize = 4 * MAX_ROUTERS;

#[derive(Debug)]
pub struct NamedNamespace {
    pub name: HostName,
    pub namespace: NetNs,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hops {
    pub devices: Vec<Hop>,
    pub unseen: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    pub at: DeviceRef,
    pub kind: DeviceKind,
    /// The kernel's word for the kind, e.g. `veth`. Empty for a physical device.
    pub kernel_kind: String,
    pub port_of: Option<String>,
    pub switch: Option<String>,
    /// In bytes.
    pub mtu: u32,
    /// Receive and transmit queues.
    pub queues: [u32; 2],
    pub qdisc: String,
    pub(crate) index: u32,
    pub(crate) mac: [u8; 6],
}

/// Follows packets from the first namespace in `known` to the address `to` in the second. `switches` lists the ports
/// of each Open vSwitch bridge, by index and MAC address.
///
/// # Errors
/// If a namespace cannot be read.
pub fn hops_between(
    known: &[NamedNamespace],
    to: IpAddr,
    switches: &BTreeMap<String, Vec<(u32, String)>>,
) -> Result<Hops, Refusal> {
    let spaces = Spaces::read(known, switches)?;
    let mut nodes = Vec::new();
    let unseen = walk(&spaces, 0, to, 1, &mut nodes)?;
    let devices = nodes.into_iter().map(|node| spaces.hop(node)).collect();
    Ok(Hops { devices, unseen })
}

impl Topology {
    /// Reads existing devices, e.g. between two containers. Do not use the result to configure them.
    ///
    /// # Errors
    /// If a namespace cannot be opened.
    pub fn of_hops(known: &[NamedNamespace], hops: &[Hop]) -> Result<Self, Refusal> {
        let needed = known.iter().filter(|one| hops.iter().any(|hop| hop.at.host == one.name));
        let opened = needed.map(|one| Ok((one.name.clone(), one.namespace.try_clone()?)));
        let namespaces = Namespaces::attached(opened.collect::<Result<Vec<_>, sys::Error>>()?)?;
        let by_ref = hops.iter().map(|hop| (hop.at.clone(), hop.device())).collect();
        Ok(Self {
            namespaces,
            devices: Devices { by_ref, behind: BTreeMap::new() },
            gateways: Vec::new(),
            links: Vec::new(),
            taps: Taps::new(),
            missing: Vec::new(),
            originals: Mutex::new(Originals::default()),
        })
    }
}

impl Hop {
    fn device(&self) -> Device {
        Device {
            at: self.at.clone(),
            kind: self.kind,
            index: self.index,
            mac: self.mac,
            mtu: self.mtu,
            element: Element::Host(self.at.host.clone()),
            master: None,
            link: 0,
            depth: 0,
        }
    }
}

/// Appends to `nodes` the devices on the way from namespace `space` to address `to` in namespace `wanted`. If the
/// walk ends early, returns the reason.
fn walk(
    spaces: &Spaces<'_>,
    mut space: usize,
    to: IpAddr,
    wanted: usize,
    nodes: &mut Vec<Node>,
) -> Result<Option<String>, Refusal> {
    for _ in 0..MAX_ROUTERS {
        if space == wanted {
            return Ok(None);
        }
        if nodes.len() > MAX_DEVICES {
            break;
        }
        if spaces.has_address(space, to) {
            return Ok(Some(format!("{} also has the address {to}", spaces.name(space))));
        }
        let Some(hop) = spaces.next_hop(space, to)? else {
            return Ok(Some(format!(
                "{} has no route to {to}, so a user-space switch may forward the packets",
                spaces.name(space)
            )));
        };
        let egress = Node { space, index: hop.device };
        if spaces.link_at(egress).is_none() {
            return Ok(Some(format!("the devices of {} changed during the search", spaces.name(space))));
        }
        let next = hop.gateway.unwrap_or(to);
        let Some(found) = segment::find(spaces, egress, next) else {
            nodes.push(egress);
            let name = spaces.hop(egress).at;
            return Ok(Some(format!(
                "packets leave through {name} towards the next hop {next}, but no visible device has that address; \
                 a user-space switch or another machine may forward them"
            )));
        };
        for pair in found.windows(2) {
            nodes.push(pair[0]);
            if let Some(outer) = spaces.tunnel_between(pair[0], pair[1])
                && let Some(unseen) = walk(spaces, pair[0].space, outer, pair[1].space, nodes)?
            {
                return Ok(Some(unseen));
            }
        }
        nodes.extend(found.last());
        space = found.last().map_or(space, |last| last.space);
    }
    Ok(Some(
        "the path does not end; there is probably a routing loop, or a tunnel that carries itself".to_owned(),
    ))
}

impl Spaces<'_> {
    fn hop(&self, node: Node) -> Hop {
        let link = self.link(node);
        let master = link.master.and_then(|index| self.link_at(Node { index, ..node }));
        Hop {
            at: DeviceRef { host: self.name(node.space).clone(), device: DeviceName::new(&link.name) },
            kind: DeviceKind::of_word(&link.kind),
            kernel_kind: link.kind.clone(),
            port_of: master.map(|master| master.name.clone()),
            switch: self.switch_of(node).map(|(name, _)| name.clone()),
            mtu: link.mtu,
            queues: link.queues,
            qdisc: link.qdisc.clone(),
            index: link.index,
            mac: link.mac.as_slice().try_into().unwrap_or_default(),
        }
    }
}
