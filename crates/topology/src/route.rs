//! Static routes (linux/rtnetlink.h).

use std::net::IpAddr;

use ipnet::IpNet;
use nlink::netlink::{
    MessageBuilder, NlMsgType,
    types::route::{RtMsg, RtaAttr},
};
use scenario::Route;

use crate::{
    message::{Request, append_address, create, family},
    missing_capabilities::Element,
};

/// `RT_TABLE_MAIN`.
const MAIN: u32 = 254;
/// `RTPROT_STATIC`.
const STATIC: u8 = 4;
/// `RTN_UNICAST`.
const UNICAST: u8 = 1;

pub(crate) fn create_route(route: &Route) -> Request {
    Request {
        host: route.host.clone(),
        element: element(route),
        needs: vec![],
        operation: format!("add a route to {} via {}", route.to, route.via),
        message: message(route.to, route.via, MAIN, None),
    }
}

pub(crate) fn element(route: &Route) -> Element {
    Element::Route(route.host.clone(), format!("{} via {}", route.to, route.via))
}

pub(crate) fn message(to: IpNet, via: IpAddr, table: u32, device: Option<u32>) -> MessageBuilder {
    let mut message = create(NlMsgType::RTM_NEWROUTE);
    let header = RtMsg {
        rtm_family: family(via),
        rtm_dst_len: to.prefix_len(),
        // Table numbers that do not fit into this field are set by the attribute below.
        rtm_table: u8::try_from(table).unwrap_or(0),
        rtm_protocol: STATIC,
        rtm_type: UNICAST,
        ..RtMsg::default()
    };
    message.append(&header);
    if to.prefix_len() > 0 {
        append_address(&mut message, RtaAttr::Dst as u16, to.network());
    }
    append_address(&mut message, RtaAttr::Gateway as u16, via);
    message.append_attr_u32(RtaAttr::Table as u16, table);
    if let Some(index) = device {
        message.append_attr_u32(RtaAttr::Oif as u16, index);
    }
    message
}
