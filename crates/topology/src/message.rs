//! A request to the kernel and the part of the lab that it is made for.
//!
//! Owns the frame of rtnetlink messages (rtnetlink(7)); what is inside belongs to the link kinds.

use std::net::Ipv4Addr;

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
/// `IFF_UP`.
const UP: u32 = 1;

/// A message to the kernel of one host.
pub(crate) struct Request {
    /// In whose namespace it is carried out.
    pub(crate) host: HostName,
    /// The part of the lab that it is made for.
    pub(crate) element: Element,
    /// The devices that it needs; without one of them there is nothing to ask for.
    pub(crate) needs: Vec<DeviceRef>,
    /// What it does, as a verb phrase for an error message.
    pub(crate) operation: String,
    /// What is sent.
    pub(crate) message: MessageBuilder,
}

/// Which message makes a new object of a type: fails when there is one already.
pub(crate) fn create(message_type: u16) -> MessageBuilder {
    MessageBuilder::new(message_type, NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL)
}

/// A message that makes a link with the index that the lab chose for `device`.
pub(crate) fn create_link(device: &Device) -> MessageBuilder {
    let mut message = create(NlMsgType::RTM_NEWLINK);
    message.append(&link_header(device.index));
    message
}

/// A message that changes the link with that index.
pub(crate) fn change_link(index: u32) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWLINK, NLM_F_REQUEST);
    message.append(&link_header(index));
    message
}

/// A message that brings the link with that index up.
pub(crate) fn link_up(index: u32) -> MessageBuilder {
    let mut header = link_header(index);
    header.ifi_flags = UP;
    header.ifi_change = UP;
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWLINK, NLM_F_REQUEST);
    message.append(&header);
    message
}

/// The fixed part of a link message.
pub(crate) fn link_header(index: u32) -> IfInfoMsg {
    // An interface index is a positive int in the kernel; the lab's are small.
    IfInfoMsg::new().with_index(index.cast_signed())
}

/// The attribute of an IPv4 address.
pub(crate) fn append_address(message: &mut MessageBuilder, attribute: u16, address: Ipv4Addr) {
    message.append_attr(attribute, &address.octets());
}
