//! VXLAN overlays (RFC 7348), with a tunnel device on each member host. For the attributes, see linux/if_link.h and
//! linux/neighbour.h.

use std::{
    net::IpAddr,
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
    link::{Forwarding, TunnelEnd, Vxlan},
};

use super::{LinkKind, Site, behind};
use crate::{
    device_kind::DeviceKind,
    devices::{Device, Peer},
    error::CreateError,
    message::{Request, append_address, create_link},
    missing_capabilities::Element,
    read_back::{self, u32_at},
    scratch,
    trial::{Attempt, Trial},
};

pub(super) const TRIAL: Trial = Trial {
    name: "vxlan",
    done: "created a VXLAN tunnel between two namespaces",
    needed_for: "overlays",
    remedy: "modprobe vxlan (CONFIG_VXLAN)",
    required: true,
    attempt: Attempt::Lab(smallest),
};

/// `AF_BRIDGE`, for entries in a forwarding table.
const BRIDGE: u8 = 7;
/// `NUD_NOARP | NUD_PERMANENT`.
const PERMANENT: u16 = 0x40 | 0x80;
/// `NTF_SELF` selects the table of the tunnel device rather than the bridge.
const SELF: u8 = 0x02;
/// The entry for addresses without an entry of their own (head-end replication).
const ALL: [u8; 6] = [0; 6];

pub(crate) fn smallest() -> Lab {
    let mut lab = scratch::wire();
    let member = |host, local| TunnelEnd {
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

    fn behind(&self, at: &DeviceRef) -> Vec<Peer> {
        behind(&self.members, at)
    }

    fn create(&self, element: &Element, site: &mut Site<'_>) -> Result<Vec<Request>, CreateError> {
        let devices = &site.devices;
        let mut requests = Vec::new();
        for member in &self.members {
            let Some(namespace) = site.namespaces.get(&member.at.host) else { continue };
            let device = devices.get(&member.at, element)?;
            let operation = format!("create VXLAN device `{}`", member.at);
            if member.existing {
                let mut message = tunnel(self, member, device, None);
                // The kernel creates the device in the other namespace, but the tunnel's socket stays in this one.
                let namespace = namespace.as_fd().as_raw_fd().cast_unsigned();
                message.append_attr_u32(IflaAttr::NetNsFd as u16, namespace);
                site.namespaces.transact_on_host(&message).map_err(|refusal| CreateError::Refused {
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

    /// Sends broadcasts to all other members, and frames for a known address to the member that has this
    /// address behind it.
    fn connect(&self, element: &Element, site: &Site<'_>) -> Result<Vec<Request>, CreateError> {
        let devices = &site.devices;
        let mut requests = Vec::new();
        for member in &self.members {
            let device = devices.get(&member.at, element)?;
            // Skip hosts that have not reported an address. They are not on the run's paths.
            let reported = |other: &&TunnelEnd| other.at != member.at && !other.local.is_unspecified();
            for other in self.members.iter().filter(reported) {
                let behind = devices.macs_behind(devices.get(&other.at, element)?);
                for mac in std::iter::once(ALL).chain(behind) {
                    requests.push(Request {
                        host: member.at.host.clone(),
                        element: element.clone(),
                        needs: vec![member.at.clone()],
                        operation: format!(
                            "add {2} of `{1}` to the forwarding table of `{0}`",
                            member.at, other.at, other.local
                        ),
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

    fn reported(&self, data: &[u8]) -> String {
        reported(data).unwrap_or_default()
    }
}

fn tunnel(overlay: &Vxlan, member: &TunnelEnd, device: &Device, underlay: Option<u32>) -> MessageBuilder {
    let mut message = create_link(device);
    let link = VxlanLink::new(member.at.device.as_str(), overlay.vni);
    let link = match member.local {
        IpAddr::V4(local) => link.local(local),
        IpAddr::V6(local) => link.local6(local),
    };
    link.mtu(overlay.mtu)
        .address(device.mac)
        .port(overlay.port)
        .learning(overlay.forwarding == Forwarding::Learning)
        .write_to(&mut message, underlay);
    message
}

fn described(vni: u32, port: u16, local: IpAddr, learning: bool) -> String {
    let learning = if learning { "learning" } else { "not learning" };
    format!("VNI {vni} on port {port} from {local}, {learning}")
}

fn reported(data: &[u8]) -> Option<String> {
    // The numbers are IFLA_VXLAN_ID, _LOCAL, _LEARNING, _PORT and _LOCAL6.
    let find = |wanted: u16| AttrIter::new(data).find(|(attribute, _)| *attribute == wanted).map(|(_, v)| v);
    let local = read_back::ip(find(4).or_else(|| find(17))?)?;
    let port = u16::from_be_bytes(find(15)?.try_into().ok()?);
    Some(described(u32_at(find(1)?)?, port, local, *find(7)?.first()? != 0))
}

fn entry(device: &Device, mac: [u8; 6], other: &TunnelEnd) -> MessageBuilder {
    // Entries are appended, because the entry for all addresses has a destination per member.
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
