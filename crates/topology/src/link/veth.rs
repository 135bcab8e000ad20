//! Creates pairs of veth or netkit devices. A single netlink message sets up both ends. For the attributes, see
//! linux/if_link.h and linux/veth.h.

use std::os::fd::{AsFd, AsRawFd};

use nlink::netlink::{
    MessageBuilder,
    link::NetkitMode,
    types::link::{IflaAttr, IflaInfo},
};
use scenario::{DeviceRef, DeviceSettings, link::PairKind};

use super::Site;
use crate::{
    device_kind::DeviceKind,
    devices::Device,
    error::CreateError,
    message::{Request, create_link, link_header},
    missing_capabilities::Element,
    scratch,
    trial::{Attempt, Trial},
};

/// `VETH_INFO_PEER` and `IFLA_NETKIT_PEER_INFO`.
const PEER: u16 = 1;
/// `IFLA_NETKIT_MODE`.
const MODE: u16 = 5;

pub(super) const TRIAL: Trial = Trial {
    name: "veth",
    done: "created a veth pair between two namespaces",
    needed_for: "wires, guests and pods",
    remedy: "modprobe veth (CONFIG_VETH)",
    required: true,
    attempt: Attempt::Lab(scratch::wire),
};

pub(super) const NETKIT: Trial = Trial {
    name: "netkit",
    done: "created a netkit pair between two namespaces",
    needed_for: "netkit pairs",
    remedy: "use Linux 6.10 or newer (CONFIG_NETKIT)",
    required: false,
    attempt: Attempt::Lab(|| scratch::wire_with(|wire| wire.pair = PairKind::Netkit)),
};

pub(super) fn needs(pair: PairKind) -> Vec<&'static str> {
    match pair {
        PairKind::Veth => vec![TRIAL.name],
        PairKind::Netkit => vec![NETKIT.name],
    }
}

pub(super) fn device(pair: PairKind) -> DeviceKind {
    match pair {
        PairKind::Veth => DeviceKind::Veth,
        PairKind::Netkit => DeviceKind::Netkit,
    }
}

pub(super) fn create(
    [far, near]: [&DeviceRef; 2],
    element: &Element,
    site: &Site<'_>,
) -> Result<Vec<Request>, CreateError> {
    let (devices, settings) = (&site.devices, &site.lab.devices);
    let (far, near) = (devices.get(far, element)?, devices.get(near, element)?);
    let far_namespace = site.namespaces.get(&far.at.host).expect("hosts of devices are checked");
    let mut message = create_link(near);
    append_end(&mut message, near, settings.get(&near.at));
    let info = message.nest_start(IflaAttr::Linkinfo as u16);
    message.append_attr_str(IflaInfo::Kind as u16, near.kind.kernel_word());
    let data = message.nest_start(IflaInfo::Data as u16);
    let peer = message.nest_start(PEER);
    message.append(&link_header(far.index));
    append_end(&mut message, far, settings.get(&far.at));
    message.append_attr_u32(IflaAttr::NetNsFd as u16, far_namespace.as_fd().as_raw_fd().cast_unsigned());
    message.nest_end(peer);
    if near.kind == DeviceKind::Netkit {
        message.append_attr_u32(MODE, NetkitMode::L2 as u32);
    }
    message.nest_end(data);
    message.nest_end(info);
    Ok(vec![Request {
        host: near.at.host.clone(),
        element: element.clone(),
        needs: vec![],
        operation: format!("create the {} pair `{}` and `{}`", near.kind.word(), far.at, near.at),
        message,
    }])
}

fn append_end(message: &mut MessageBuilder, end: &Device, settings: Option<&DeviceSettings>) {
    message.append_attr_str(IflaAttr::Ifname as u16, end.at.device.as_str());
    message.append_attr_u32(IflaAttr::Mtu as u16, end.mtu);
    message.append_attr(IflaAttr::Address as u16, &end.mac);
    if let Some(queues) = settings.and_then(|settings| settings.queues) {
        message.append_attr_u32(IflaAttr::NumTxQueues as u16, queues);
        message.append_attr_u32(IflaAttr::NumRxQueues as u16, queues);
    }
}
