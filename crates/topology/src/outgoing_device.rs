//! Finds the device that this process uses to reach an address, and reads its state. This needs no privileges.

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
    device_kind::DeviceKind,
    message::{append_address, family},
    namespaces,
    offload::FeatureSet,
    read_back,
    refusal::Refusal,
};

/// `RTN_UNICAST`.
const UNICAST: u8 = 1;

/// Returns `None` if the address is local. This blocks, so do not call it from an async runtime.
pub fn device_towards(to: SocketAddr, from: Option<IpAddr>) -> Result<Option<DeviceState>, Refusal> {
    let runtime = Arc::new(namespaces::runtime()?);
    let channel = Channel::open_here(&runtime)?;
    let route = channel.request_one(route_request(to, from))?;
    let Some(index) = route.as_deref().and_then(device_of) else { return Ok(None) };
    let Some(link) = read_back::link_at(&channel, index)? else { return Ok(None) };
    let (features, queues_and_rings) = channel.wait(FeatureSet::read_here(&link.name))?;
    Ok(Some(link.state(link.name.clone(), DeviceKind::of_word(&link.kind), &features, queues_and_rings)))
}

fn route_request(to: SocketAddr, from: Option<IpAddr>) -> MessageBuilder {
    let mut message = MessageBuilder::new(NlMsgType::RTM_GETROUTE, NLM_F_REQUEST);
    let address = to.ip().to_canonical();
    let from = from.map(|from| from.to_canonical()).filter(|from| !from.is_unspecified());
    message.append(&RtMsg {
        rtm_family: family(address),
        rtm_dst_len: bits(address),
        rtm_src_len: from.map_or(0, bits),
        ..RtMsg::default()
    });
    append_address(&mut message, RtaAttr::Dst as u16, address);
    if let Some(from) = from {
        append_address(&mut message, RtaAttr::Src as u16, from);
    }
    match to {
        // The scope ID of a link-local address is the index of its device.
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

/// Returns `None` for a local address, because its route has a different type.
fn device_of(route: &[u8]) -> Option<u32> {
    const TYPE: usize = 7;
    if *route.get(TYPE)? != UNICAST {
        return None;
    }
    read_back::u32_at(attribute(route, RtaAttr::Oif)?)
}

fn attribute(route: &[u8], wanted: RtaAttr) -> Option<&[u8]> {
    let mut attributes = AttrIter::new(route.get(RtMsg::SIZE..)?);
    attributes.find(|(attribute, _)| *attribute == wanted as u16).map(|(_, value)| value)
}

fn address(route: &[u8], wanted: RtaAttr) -> Option<IpAddr> {
    read_back::ip(attribute(route, wanted)?)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextHop {
    pub(crate) device: u32,
    /// `None` if the address is in the device's own network.
    pub(crate) gateway: Option<IpAddr>,
    pub(crate) source: Option<IpAddr>,
}

/// Returns `None` if there is no route, or if the address is local.
pub(crate) fn next_hop(channel: &Channel, to: IpAddr) -> Result<Option<NextHop>, Refusal> {
    let route = match channel.request_one(route_request(SocketAddr::new(to, 0), None)) {
        Err(refusal) if refusal.is_unreachable() => return Ok(None),
        route => route?,
    };
    let hop = |route: &[u8]| {
        Some(NextHop {
            device: device_of(route)?,
            gateway: address(route, RtaAttr::Gateway),
            source: address(route, RtaAttr::Prefsrc),
        })
    };
    Ok(route.as_deref().and_then(hop))
}
