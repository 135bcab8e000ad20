//! Addresses of devices (linux/if_addr.h).

use ipnet::IpNet;
use nlink::netlink::{
    NlMsgType,
    types::addr::{IfAddrMsg, IfaAttr},
};

use crate::{
    devices::Device,
    message::{Request, append_address, create, family},
    missing_capabilities::Element,
};

/// `IFA_F_NODAD` disables the check for duplicate addresses. The address would be unusable for a second during
/// the check.
const NODAD: u8 = 0x02;

pub(crate) fn add(device: &Device, address: IpNet, element: &Element) -> Request {
    let mut message = create(NlMsgType::RTM_NEWADDR);
    let header = IfAddrMsg {
        ifa_family: family(address.addr()),
        // Only IPv6 has this flag.
        ifa_flags: if address.addr().is_ipv6() { NODAD } else { 0 },
        ifa_prefixlen: address.prefix_len(),
        ifa_index: device.index,
        ..IfAddrMsg::default()
    };
    message.append(&header);
    append_address(&mut message, IfaAttr::Local as u16, address.addr());
    append_address(&mut message, IfaAttr::Address as u16, address.addr());
    if address.addr().is_ipv4() && address.prefix_len() < 31 {
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
