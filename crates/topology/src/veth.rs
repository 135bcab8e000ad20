//! Pairs of devices: wires between hosts, and the attachments of guests and pods.
//!
//! A pair is made in one message, each end in its own namespace; the far end's namespace is told by
//! descriptor. Source of the attributes: linux/if_link.h, linux/veth.h.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, AsRawFd},
};

use nlink::netlink::{
    MessageBuilder,
    types::link::{IflaAttr, IflaInfo},
};
use scenario::{DeviceRef, DeviceSettings, Link};

use crate::{
    devices::{Device, Devices},
    error::RaiseError,
    message::{Request, create_link, link_header},
    missing::Element,
    namespaces::Namespaces,
};

/// `VETH_INFO_PEER`.
const PEER: u16 = 1;

/// Makes both ends. The second end's host asks the kernel for it: for an attachment that is the bridge's
/// host, so that all attachments of a bridge are one batch.
pub(crate) fn create(
    link: &Link,
    settings: &BTreeMap<DeviceRef, DeviceSettings>,
    devices: &Devices,
    namespaces: &Namespaces,
) -> Result<Vec<Request>, RaiseError> {
    let element = Element::Link(link.name.clone());
    let [far, near] = &link.ends;
    let (far, near) = (devices.get(&far.at, &element)?, devices.get(&near.at, &element)?);
    let far_namespace = namespaces.get(&far.at.host).expect("every device was checked to be in a host");
    let mut message = create_link(near);
    append_end(&mut message, near, settings.get(&near.at));
    let info = message.nest_start(IflaAttr::Linkinfo as u16);
    message.append_attr_str(IflaInfo::Kind as u16, near.kind.word());
    let data = message.nest_start(IflaInfo::Data as u16);
    let peer = message.nest_start(PEER);
    message.append(&link_header(far.index));
    append_end(&mut message, far, settings.get(&far.at));
    message.append_attr_u32(IflaAttr::NetNsFd as u16, far_namespace.as_fd().as_raw_fd().cast_unsigned());
    message.nest_end(peer);
    message.nest_end(data);
    message.nest_end(info);
    Ok(vec![Request {
        host: near.at.host.clone(),
        element,
        needs: vec![],
        operation: format!("make the veth pair `{}` and `{}`", far.at, near.at),
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
