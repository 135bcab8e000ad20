//! Open vSwitch bridges: a kernel datapath (linux/openvswitch.h) with a flow for each destination, and one for the
//! multicast frames of each port.

use std::collections::BTreeSet;

use nlink::netlink::{Connection, Generic, MessageBuilder, types::link::IflaAttr};
use scenario::{DeviceRef, Link, link::Bridge};

use super::Site;
use crate::{
    error::CreateError,
    message::{Request, change_link},
    missing_capabilities::Element,
    namespaces::Namespaces,
    refusal::{Refusal, errno},
};

const DATAPATH: &str = "ovs_datapath";
const PORT: &str = "ovs_vport";
const FLOW: &str = "ovs_flow";
const VERSION: u8 = 1;
/// `OVS_DP_CMD_NEW`, `OVS_VPORT_CMD_NEW` and `OVS_FLOW_CMD_NEW`.
const NEW: u8 = 1;
/// `OVS_VPORT_TYPE_NETDEV`.
const NETDEV: u32 = 1;
/// A packet without a flow is dropped.
const NO_UPCALLS: u32 = 0;
const LOCAL: u32 = 0;

const ANY: [u8; 6] = [0; 6];
const EXACT: [u8; 6] = [0xff; 6];
const MULTICAST: [u8; 6] = [1, 0, 0, 0, 0, 0];

/// The bridge's own device is the local port of the datapath.
pub(super) fn create(
    bridge: &Bridge,
    element: &Element,
    site: &Site<'_>,
) -> Result<Vec<Request>, CreateError> {
    if site.namespaces.get(&bridge.at.host).is_none() {
        return Ok(vec![]);
    }
    let device = site.devices.get(&bridge.at, element)?;
    let created = Datapath::open(&site.namespaces, &bridge.at, 0).and_then(|datapath| {
        // OVS_DP_ATTR_NAME, _UPCALL_PID and _IFINDEX.
        datapath.add(DATAPATH, |message| {
            message.append_attr_str(1, bridge.at.device.as_str());
            message.append_attr_u32(2, NO_UPCALLS);
            message.append_attr_u32(9, device.index);
        })
    });
    created.map_err(|refusal| CreateError::Refused {
        element: element.clone(),
        operation: format!("create Open vSwitch bridge `{}`", bridge.at),
        refusal,
    })?;
    let mut message = change_link(device.index);
    message.append_attr_u32(IflaAttr::Mtu as u16, device.mtu);
    message.append_attr(IflaAttr::Address as u16, &device.mac);
    Ok(vec![Request {
        host: bridge.at.host.clone(),
        element: element.clone(),
        needs: vec![],
        operation: format!("set the MTU and MAC address of bridge `{}`", bridge.at),
        message,
    }])
}

/// Adds the ports and flows.
pub(super) fn forward(bridge: &Bridge, site: &Site<'_>) -> Result<(), Refusal> {
    let Some(own) = site.devices.find(&bridge.at) else { return Ok(()) };
    let datapath = Datapath::open(&site.namespaces, &bridge.at, own.index)?;
    let mut ports = vec![(LOCAL, BTreeSet::from([own.mac]))];
    for (number, port) in (LOCAL + 1..).zip(bridge.port_devices()) {
        if datapath.add_port(number, &port)? {
            ports.push((number, destinations(&port, site)));
        }
    }
    for (number, macs) in &ports {
        for mac in macs {
            datapath.add_flow((None, *mac, EXACT), &[*number])?;
        }
        let others: Vec<_> = ports.iter().map(|(other, _)| *other).filter(|other| other != number).collect();
        datapath.add_flow((Some(*number), MULTICAST, MULTICAST), &others)?;
    }
    Ok(())
}

/// Returns the MAC addresses behind a port, including those behind the other ends of a tunnel.
fn destinations(port: &DeviceRef, site: &Site<'_>) -> BTreeSet<[u8; 6]> {
    let ends = site.lab.links.iter().filter_map(|link| match link {
        Link::Tunnel(tunnel) => Some(&tunnel.ends),
        Link::Vxlan(overlay) => Some(&overlay.members),
        _ => None,
    });
    let ends = ends.filter(|ends| ends.iter().any(|end| end.at == *port));
    let far = ends.flatten().filter(|end| end.at != *port);
    let behind_tunnels = far.filter_map(|end| site.devices.find(&end.at));
    let behind_tunnels = behind_tunnels.flat_map(|far| site.devices.macs_behind(far));
    let here = site.devices.macs_of_port(port, &mut BTreeSet::new());
    behind_tunnels.chain(here).collect()
}

struct Datapath<'a> {
    namespaces: &'a Namespaces,
    connection: Connection<Generic>,
    index: u32,
}

impl<'a> Datapath<'a> {
    fn open(namespaces: &'a Namespaces, at: &DeviceRef, index: u32) -> Result<Self, Refusal> {
        Ok(Self { namespaces, connection: namespaces.generic(&at.host)?, index })
    }

    /// Returns whether the device exists.
    fn add_port(&self, number: u32, port: &DeviceRef) -> Result<bool, Refusal> {
        // OVS_VPORT_ATTR_PORT_NO, _TYPE, _NAME and _UPCALL_PID.
        let added = self.add(PORT, |message| {
            message.append_attr_u32(1, number);
            message.append_attr_u32(2, NETDEV);
            message.append_attr_str(3, port.device.as_str());
            message.append_attr_u32(5, NO_UPCALLS);
        });
        match added {
            Err(refusal) if refusal.errno() == errno::ENODEV => Ok(false),
            added => added.map(|()| true),
        }
    }

    /// `destination` and `mask` are MAC addresses.
    fn add_flow(
        &self,
        (from, destination, mask): (Option<u32>, [u8; 6], [u8; 6]),
        to: &[u32],
    ) -> Result<(), Refusal> {
        // OVS_FLOW_ATTR_KEY and _MASK.
        self.add(FLOW, |message| {
            append_key(message, 1, from, destination);
            append_key(message, 7, from.map(|_| u32::MAX), mask);
            let actions = message.nest_start(2); // OVS_FLOW_ATTR_ACTIONS
            to.iter().for_each(|port| message.append_attr_u32(1, *port)); // OVS_ACTION_ATTR_OUTPUT
            message.nest_end(actions);
        })
    }

    fn add(&self, family: &str, append: impl FnOnce(&mut MessageBuilder)) -> Result<(), Refusal> {
        let id =
            self.namespaces.wait(self.connection.get_family_id(family)).map_err(|error| match error {
                absent if absent.is_not_found() => Refusal::new(errno::ENOENT, Some(absent.to_string())),
                other => other.into(),
            })?;
        let command = self.connection.command(id, NEW, VERSION, |message| {
            message.append(&self.index); // struct ovs_header
            append(message);
        });
        self.namespaces.wait(command)?;
        Ok(())
    }
}

/// The key of a packet with this destination, or its mask. The source address is ignored.
fn append_key(message: &mut MessageBuilder, attribute: u16, from: Option<u32>, destination: [u8; 6]) {
    let key = message.nest_start(attribute);
    // OVS_KEY_ATTR_IN_PORT and _ETHERNET (struct ovs_key_ethernet).
    from.into_iter().for_each(|port| message.append_attr_u32(3, port));
    message.append_attr(4, &[ANY, destination].concat());
    message.nest_end(key);
}
