//! VXLAN overlays (RFC 7348): a tunnel device in every member host, and what each knows of the others.
//!
//! Source of the attributes: linux/if_link.h, linux/neighbour.h.

use std::{
    net::Ipv4Addr,
    os::fd::{AsFd, AsRawFd},
};

use nlink::netlink::{
    AttrIter, MessageBuilder, NlMsgType,
    link::{LinkConfig, VxlanLink},
    message::{NLM_F_APPEND, NLM_F_CREATE, NLM_F_REQUEST},
    types::{
        link::IflaAttr,
        neigh::{NdMsg, NdaAttr},
    },
};
use scenario::{
    DeviceName, DeviceRef, Lab,
    link::{Forwarding, Vxlan, VxlanMember},
};

use super::{DeviceKind, LinkKind, Site};
use crate::{
    devices::Device,
    error::CreateError,
    message::{Request, append_address, create_link},
    missing_capabilities::Element,
    probe::{Trial, raised, scratch},
    read_back::u32_at,
};

/// What an overlay takes.
pub(super) const TRIAL: Trial = Trial {
    name: "vxlan",
    done: "made a tunnel between two namespaces",
    needed_for: "overlays",
    remedy: "modprobe vxlan (CONFIG_VXLAN)",
    required: true,
    attempt: || raised(&smallest()),
};

/// `AF_BRIDGE`: the neighbour is an entry of a forwarding table.
const BRIDGE: u8 = 7;
/// `NUD_NOARP | NUD_PERMANENT`.
const PERMANENT: u16 = 0x40 | 0x80;
/// `NTF_SELF`: the table of the tunnel device, not of a bridge above it.
const SELF: u8 = 0x02;
/// The entry for every address that has no entry of its own: head-end replication.
const ALL: [u8; 6] = [0; 6];

/// A tunnel over a wire.
pub(crate) fn smallest() -> Lab {
    let mut lab = scratch::wire();
    let member = |host, local| VxlanMember {
        at: DeviceRef::new(host, "vxlan"),
        underlay: DeviceName::new("eth0"),
        local,
        address: None,
        existing: false,
    };
    let overlay = Vxlan {
        name: "vxlan".into(),
        vni: 1,
        port: 4789,
        forwarding: Forwarding::Unicast,
        mtu: scratch::MTU - 50,
        members: vec![member("near", scratch::NEAR), member("far", scratch::FAR)],
    };
    lab.links.push(overlay.into());
    lab
}

impl LinkKind for Vxlan {
    fn noun(&self) -> &'static str {
        "vxlan"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec![TRIAL.name]
    }

    fn device(&self, _: &DeviceRef, _: &Lab) -> Option<DeviceKind> {
        Some(DeviceKind::Vxlan)
    }

    /// Makes a tunnel device in every member host, on top of the underlay device.
    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        let devices = &site.devices;
        let mut requests = Vec::new();
        for member in &self.members {
            let Some(namespace) = site.namespaces.get(&member.at.host) else { continue };
            let device = devices.get(&member.at, element)?;
            let operation = format!("make vxlan device `{}`", member.at);
            if member.existing {
                let mut message = tunnel(self, member, device, None);
                // The kernel makes it there at once, and keeps the socket of its tunnel where it was asked.
                let namespace = namespace.as_fd().as_raw_fd().cast_unsigned();
                message.append_attr_u32(IflaAttr::NetNsFd as u16, namespace);
                site.namespaces.ask_beside(&message).map_err(|refusal| CreateError::Refused {
                    element: element.clone(),
                    operation,
                    refusal,
                })?;
                continue;
            }
            let underlay = devices.get_in(&member.at.host, &member.underlay, element)?;
            requests.push(Request {
                host: member.at.host.clone(),
                element: element.clone(),
                needs: vec![underlay.at.clone()],
                operation,
                message: tunnel(self, member, device, Some(underlay.index)),
            });
        }
        Ok(requests)
    }

    /// Tells every member where the others are: broadcasts go to each of them, and frames to a known address to
    /// the one that it is behind.
    fn connect(&self, element: &Element, site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        let devices = &site.devices;
        let mut requests = Vec::new();
        for member in &self.members {
            let device = devices.get(&member.at, element)?;
            // One that no path of the run ends at has not told its address.
            let told = |other: &&VxlanMember| other.at != member.at && !other.local.is_unspecified();
            for other in self.members.iter().filter(told) {
                let behind = devices.macs_behind(devices.get(&other.at, element)?);
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

    fn expected(&self, at: &DeviceRef) -> String {
        let member = self.members.iter().find(|member| member.at == *at);
        let learning = self.forwarding == Forwarding::Learning;
        member.map_or_else(String::new, |member| described(self.vni, self.port, member.local, learning))
    }

    fn told(&self, data: &[u8]) -> String {
        told(data).unwrap_or_default()
    }
}

/// Makes the device of a member, over the device with that index. Without one the host's routes alone say where the tunnel's
/// packets go.
fn tunnel(overlay: &Vxlan, member: &VxlanMember, device: &Device, underlay: Option<u32>) -> MessageBuilder {
    let mut message = create_link(device);
    VxlanLink::new(member.at.device.as_str(), overlay.vni)
        .mtu(overlay.mtu)
        .address(device.mac)
        .local(member.local)
        .port(overlay.port)
        .learning(overlay.forwarding == Forwarding::Learning)
        .write_to(&mut message, underlay);
    message
}

fn described(vni: u32, port: u16, local: Ipv4Addr, learning: bool) -> String {
    let learning = if learning { "learning" } else { "not learning" };
    format!("VNI {vni} on port {port} from {local}, {learning}")
}

fn told(data: &[u8]) -> Option<String> {
    // IFLA_VXLAN_ID, _LOCAL, _LEARNING, _PORT.
    let find = |wanted: u16| AttrIter::new(data).find(|(attribute, _)| *attribute == wanted).map(|(_, v)| v);
    let local = Ipv4Addr::from(<[u8; 4]>::try_from(find(4)?).ok()?);
    let port = u16::from_be_bytes(find(15)?.try_into().ok()?);
    Some(described(u32_at(find(1)?)?, port, local, *find(7)?.first()? != 0))
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
