//! Open vSwitch bridges: a kernel datapath (linux/openvswitch.h) with a flow from each port to each destination, and
//! with flows for multicast frames.

use std::collections::BTreeSet;

use nlink::netlink::{Connection, Generic, MessageBuilder, types::link::IflaAttr};
use scenario::{DeviceRef, Link, link::Bridge};

use super::Site;
use crate::{
    devices::Device,
    error::CreateError,
    message::{Request, change_link},
    missing_capabilities::Element,
    namespaces::Namespaces,
    read_back,
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
/// Packets that match no flow are dropped.
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
    let device = site.devices.get(&bridge.at, element)?;
    let created = Datapath::open(&site.namespaces, &bridge.at, 0).and_then(|datapath| {
        // OVS_DP_ATTR_NAME, _UPCALL_PID and _IFINDEX.
        datapath.add(DATAPATH, |message| {
            message.append_attr_str(1, bridge.at.device.as_str());
            message.append_attr_u32(2, NO_UPCALLS);
            message.append_attr_u32(9, device.index);
        })?;
        match read_back::link_at(site.namespaces.channel(&bridge.at.host), device.index)? {
            Some(_) => Ok(()),
            None => Err(Refusal::new(errno::EOPNOTSUPP, Some("needs Linux 6.1".to_owned()))),
        }
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

pub(super) fn forward(bridge: &Bridge, site: &Site<'_>) -> Result<(), Refusal> {
    let Some(own) = site.devices.find(&bridge.at) else { return Ok(()) };
    let datapath = Datapath::open(&site.namespaces, &bridge.at, own.index)?;
    let mut ports = vec![Port { number: LOCAL, macs: vec![own.mac], is_uplink: false }];
    for (number, at) in (LOCAL + 1..).zip(bridge.port_devices()) {
        if let Some(device) = site.devices.find(&at)
            && datapath.add_port(number, &at)?
        {
            ports.push(Port::new(number, device, site));
        }
    }
    let known: BTreeSet<[u8; 6]> = ports.iter().flat_map(|port| port.macs.iter().copied()).collect();
    let unknown: Vec<_> = site.devices.macs().filter(|mac| !known.contains(mac)).collect();
    for from in &ports {
        let others = || ports.iter().filter(|other| other.number != from.number);
        for to in others() {
            to.macs.iter().try_for_each(|mac| datapath.add_flow(from.number, (*mac, EXACT), &[to.number]))?;
        }
        let uplinks: Vec<u32> = others().filter(|to| to.is_uplink).map(|to| to.number).collect();
        unknown.iter().try_for_each(|mac| datapath.add_flow(from.number, (*mac, EXACT), &uplinks))?;
        let all: Vec<u32> = others().map(|to| to.number).collect();
        datapath.add_flow(from.number, (MULTICAST, MULTICAST), &all)?;
    }
    Ok(())
}

struct Port {
    number: u32,
    macs: Vec<[u8; 6]>,
    /// Whether lab devices that are not in `macs`, such as macvlans, may be behind the port.
    is_uplink: bool,
}

impl Port {
    fn new(number: u32, device: &Device, site: &Site<'_>) -> Self {
        Self {
            number,
            macs: site.devices.macs_of_port(&device.at, &mut BTreeSet::new()),
            is_uplink: !matches!(site.lab.links[device.link], Link::Attachment(_) | Link::Nic(_)),
        }
    }
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

    /// Returns whether the device exists. It may be missing on kernels that do not support its kind.
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

    fn add_flow(
        &self,
        from: u32,
        (destination, mask): ([u8; 6], [u8; 6]),
        to: &[u32],
    ) -> Result<(), Refusal> {
        // OVS_FLOW_ATTR_KEY and _MASK.
        self.add(FLOW, |message| {
            append_key(message, 1, from, destination);
            append_key(message, 7, u32::MAX, mask);
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

/// Appends the key for packets to this destination, or its mask. The source address is ignored.
fn append_key(message: &mut MessageBuilder, attribute: u16, from: u32, destination: [u8; 6]) {
    let key = message.nest_start(attribute);
    // OVS_KEY_ATTR_IN_PORT and _ETHERNET (struct ovs_key_ethernet).
    message.append_attr_u32(3, from);
    message.append_attr(4, &[ANY, destination].concat());
    message.nest_end(key);
}
