//! VXLAN overlays (RFC 7348): a tunnel device in every member host, and what each knows of the others.
//!
//! Source of the attributes: linux/if_link.h, linux/neighbour.h.

use nlink::netlink::{
    MessageBuilder, NlMsgType,
    link::{LinkConfig, VxlanLink},
    message::{NLM_F_APPEND, NLM_F_CREATE, NLM_F_REQUEST},
    types::neigh::{NdMsg, NdaAttr},
};
use scenario::{Forwarding, Vxlan, VxlanMember};

use crate::{
    devices::{Device, Devices},
    error::RaiseError,
    message::{Request, append_address, create_link},
    missing::Element,
};

/// `AF_BRIDGE`: the neighbour is an entry of a forwarding table.
const BRIDGE: u8 = 7;
/// `NUD_NOARP | NUD_PERMANENT`.
const PERMANENT: u16 = 0x40 | 0x80;
/// `NTF_SELF`: the table of the tunnel device, not of a bridge above it.
const SELF: u8 = 0x02;
/// The entry for every address that has no entry of its own: head-end replication.
const ALL: [u8; 6] = [0; 6];

/// Makes a tunnel device in every member host, on top of the underlay device.
pub(crate) fn create(vxlan: &Vxlan, devices: &Devices) -> Result<Vec<Request>, RaiseError> {
    let element = Element::Vxlan(vxlan.name.clone());
    let members = vxlan.members.iter().map(|member| {
        let device = devices.get(&member.at, &element)?;
        let underlay = devices.get_in(&member.at.host, &member.underlay, &element)?;
        let mut message = create_link(device);
        VxlanLink::new(member.at.device.as_str(), vxlan.vni)
            .mtu(vxlan.mtu)
            .address(device.mac)
            .local(member.local)
            .port(vxlan.port)
            .learning(vxlan.forwarding == Forwarding::Learning)
            .write_to(&mut message, Some(underlay.index));
        Ok(Request {
            host: member.at.host.clone(),
            element: element.clone(),
            needs: vec![underlay.at.clone()],
            operation: format!("make vxlan device `{}`", member.at),
            message,
        })
    });
    members.collect()
}

/// Tells every member where the others are: broadcasts go to each of them, and frames to a known address to
/// the one that it is behind.
pub(crate) fn forward(vxlan: &Vxlan, devices: &Devices) -> Result<Vec<Request>, RaiseError> {
    let element = Element::Vxlan(vxlan.name.clone());
    let mut requests = Vec::new();
    for member in &vxlan.members {
        let device = devices.get(&member.at, &element)?;
        for other in vxlan.members.iter().filter(|other| other.at != member.at) {
            let behind = devices.macs_behind(devices.get(&other.at, &element)?);
            for mac in std::iter::once(ALL).chain(behind) {
                requests.push(Request {
                    host: member.at.host.clone(),
                    element: element.clone(),
                    needs: vec![member.at.clone()],
                    operation: format!("tell `{}` that `{}` is at {}", member.at, other.at, other.local),
                    message: entry(device, mac, other),
                });
            }
        }
    }
    Ok(requests)
}

fn entry(device: &Device, mac: [u8; 6], other: &VxlanMember) -> MessageBuilder {
    // Several members share the entry for all addresses, so entries are appended, not created.
    let flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_APPEND;
    let mut message = MessageBuilder::new(NlMsgType::RTM_NEWNEIGH, flags);
    let header = NdMsg {
        ndm_family: BRIDGE,
        ndm_ifindex: device.index.cast_signed(),
        ndm_state: PERMANENT,
        ndm_flags: SELF,
        ..NdMsg::default()
    };
    message.append(&header);
    message.append_attr(NdaAttr::Lladdr as u16, &mac);
    append_address(&mut message, NdaAttr::Dst as u16, other.local);
    message
}
