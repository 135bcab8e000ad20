//! Addresses of devices (linux/if_addr.h).

use ipnet::Ipv4Net;
use nlink::netlink::{
    NlMsgType,
    types::addr::{IfAddrMsg, IfaAttr},
};

use crate::{
    devices::Device,
    message::{INET, Request, append_address, create},
    missing_capabilities::Element,
};

pub(crate) fn add(device: &Device, address: Ipv4Net, element: &Element) -> Request {
    let mut message = create(NlMsgType::RTM_NEWADDR);
    let header = IfAddrMsg {
        ifa_family: INET,
        ifa_prefixlen: address.prefix_len(),
        ifa_index: device.index,
        ..IfAddrMsg::default()
    };
    message.append(&header);
    append_address(&mut message, IfaAttr::Local as u16, address.addr());
    append_address(&mut message, IfaAttr::Address as u16, address.addr());
    if address.prefix_len() < 31 {
        append_address(&mut message, IfaAttr::Broadcast as u16, address.broadcast());
    }
    Request {
        host: device.at.host.clone(),
        element: element.clone(),
        needs: vec![device.at.clone()],
        operation: format!("assign {address} to `{}`", device.at),
        message,
    }
}
