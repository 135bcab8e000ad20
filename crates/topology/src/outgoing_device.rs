//! The device by which this process reaches an address, and its state.
//!
//! Looks only, at the namespace of the calling thread, and needs no rights. It must not know of a lab.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    message::NLM_F_REQUEST,
    types::route::{RtMsg, RtaAttr},
};
use samples::DeviceState;

use crate::{
    channel::Channel,
    link::DeviceKind,
    message::{INET, INET6},
    namespaces,
    offload::FeatureSet,
    read_back,
    refusal::Refusal,
};

/// `RTN_UNICAST`.
const UNICAST: u8 = 1;

/// The state of the device by which `to` is reached from the calling thread's network namespace, by connections
/// from `from` where that is given. It has its own name, without a host.
///
/// `None` when no device is on the way: the address is this machine's own. Fails when the kernel has no route
/// to the address, or does not tell. Blocks; not to be called from within an async runtime.
pub fn device_towards(to: SocketAddr, from: Option<IpAddr>) -> Result<Option<DeviceState>, Refusal> {
    let runtime = Arc::new(namespaces::runtime()?);
    let channel = Channel::open_here(&runtime)?;
    let route = channel.ask(question(to, from))?;
    let Some(index) = route.as_deref().and_then(device_of) else { return Ok(None) };
    let Some(link) = read_back::link_at(&channel, index)? else { return Ok(None) };
    let (features, beside) = channel.wait(FeatureSet::read_here(&link.name))?;
    Ok(Some(link.state(link.name.clone(), DeviceKind::of_word(&link.kind), &features, beside)))
}

/// Asks which way a packet would take, as `ip route get` does.
fn question(to: SocketAddr, from: Option<IpAddr>) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_GETROUTE, NLM_F_REQUEST);
    let address = to.ip().to_canonical();
    let from = from.map(|from| from.to_canonical()).filter(|from| !from.is_unspecified());
    message.append(&RtMsg {
        rtm_family: if address.is_ipv4() { INET } else { INET6 },
        rtm_dst_len: bits(address),
        rtm_src_len: from.map_or(0, bits),
        ..RtMsg::default()
    });
    append(&mut message, RtaAttr::Dst, address);
    if let Some(from) = from {
        append(&mut message, RtaAttr::Src, from);
    }
    match to {
        // The scope of an address that is only unique on its link is the device.
        SocketAddr::V6(to) if to.scope_id() != 0 => {
            message.append_attr_u32(RtaAttr::Oif as u16, to.scope_id());
        }
        _ => {}
    }
    message
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn append(message: &mut MessageBuilder, attribute: RtaAttr, address: IpAddr) {
    match address {
        IpAddr::V4(address) => message.append_attr(attribute as u16, &address.octets()),
        IpAddr::V6(address) => message.append_attr(attribute as u16, &address.octets()),
    }
}

/// The index of the device that a route leads to; an address of the machine itself has a route of another type.
fn device_of(route: &[u8]) -> Option<u32> {
    /// Where `rtm_type` is in `struct rtmsg`.
    const TYPE: usize = 7;
    if *route.get(TYPE)? != UNICAST {
        return None;
    }
    let mut attributes = AttrIter::new(route.get(RtMsg::SIZE..)?);
    let (_, index) = attributes.find(|(attribute, _)| *attribute == RtaAttr::Oif as u16)?;
    Some(u32::from_ne_bytes(index.try_into().ok()?))
}
