//! Requests to the kernel, and the headers of rtnetlink messages (rtnetlink(7)).

use std::net::IpAddr;

use nlink::netlink::{
    MessageBuilder, NlMsgType,
    message::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST},
    types::link::IfInfoMsg,
};
use scenario::{DeviceRef, HostName};

use crate::{devices::Device, missing_capabilities::Element};

/// `AF_INET`.
pub(crate) const INET: u8 = 2;
/// `AF_INET6`.
pub(crate) const INET6: u8 = 10;

pub(crate) fn family(address: IpAddr) -> u8 {
    if address.is_ipv4() { INET } else { INET6 }
}

/// `IFF_UP`.
const UP: u32 = 1;

pub(crate) struct Request {
    pub(crate) host: HostName,
    pub(crate) element: Element,
    pub(crate) needs: Vec<DeviceRef>,
    pub(crate) operation: String,
    pub(crate) message: MessageBuilder,
}

/// The kernel rejects the request if the object exists.
pub(crate) fn create(message_type: u16) -> MessageBuilder {
    MessageBuilder::new(message_type, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL)
}

pub(crate) fn create_link(device: &Device) -> MessageBuilder {
    let mut message = create(NlMsgType::RTM_NEWLINK);
    message.append(&link_header(device.index));
    message
}

pub(crate) fn change_link(index: u32) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWLINK, NLM_F_REQUEST);
    message.append(&link_header(index));
    message
}

pub(crate) fn link_up(index: u32) -> MessageBuilder {
    let mut header = link_header(index);
    header.ifi_flags = UP;
    header.ifi_change = UP;
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWLINK, NLM_F_REQUEST);
    message.append(&header);
    message
}

pub(crate) fn link_header(index: u32) -> IfInfoMsg {
    // Indexes are small in a lab, so the cast cannot overflow.
    IfInfoMsg::new().with_index(index.cast_signed())
}

pub(crate) fn append_address(message: &mut MessageBuilder, attribute: u16, address: IpAddr) {
    match address {
        IpAddr::V4(address) => message.append_attr(attribute, &address.octets()),
        IpAddr::V6(address) => message.append_attr(attribute, &address.octets()),
    }
}
