//! The lab as meant: hosts and what connects them, every name resolved and every default filled in.
//!
//! This is what `topology` raises. It says nothing of how (netlink, taps) and nothing of traffic.

mod settings;

use std::{collections::BTreeMap, net::Ipv4Addr};

use ipnet::Ipv4Net;
use serde::{Deserialize, Serialize};
use units::BitRate;

pub use settings::{DeviceSettingKind, DeviceSettings, Offloads, of_host};
pub(crate) use settings::{MTUS, make_room};

use crate::{
    names::{DeviceName, DeviceRef, HostName},
    vm::Vm,
};

/// A lab: all that has to stand before traffic can flow.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Lab {
    /// Every host, in the order of the document; guests and pods after the hosts.
    pub hosts: Vec<Host>,
    /// Pairs of devices: wires between hosts, and the attachments of guests and pods to bridges.
    pub links: Vec<Link>,
    /// Network devices of virtual machines.
    #[serde(default)]
    pub nics: Vec<Nic>,
    /// Bridges, each in one host.
    pub bridges: Vec<Bridge>,
    /// VXLAN overlays, each with a device in every member host.
    pub vxlans: Vec<Vxlan>,
    /// Egress gateways: a policy route into a tunnel and a source translation at its end.
    pub gateways: Vec<Gateway>,
    /// Static routes.
    pub routes: Vec<Route>,
    /// Settings of devices, for every device that has any; a device without an entry keeps the kernel's.
    pub devices: BTreeMap<DeviceRef, DeviceSettings>,
}

impl Lab {
    /// The host of that name.
    #[must_use]
    pub fn host(&self, name: &HostName) -> Option<&Host> {
        self.hosts.iter().find(|host| host.name == *name)
    }

    /// Every address and its device, as assigned by links, bridges, overlays and gateways.
    pub fn addresses(&self) -> impl Iterator<Item = (&DeviceRef, Ipv4Net)> {
        let links = self.links.iter().flat_map(|link| &link.ends).map(|end| (&end.at, end.address));
        let nics = self.nics.iter().map(|nic| (&nic.at, Some(nic.address)));
        let bridges = self.bridges.iter().map(|bridge| (&bridge.at, bridge.address));
        let overlays =
            self.vxlans.iter().flat_map(|vxlan| &vxlan.members).map(|member| (&member.at, member.address));
        let all = links.chain(nics).chain(bridges).chain(overlays);
        all.filter_map(|(at, address)| Some((at, address?)))
    }

    /// Every device of the lab and the MTU that it is made with.
    pub fn made_mtus(&self) -> impl Iterator<Item = (&DeviceRef, u32)> {
        let links = self.links.iter().flat_map(|link| link.ends.iter().map(|end| (&end.at, link.mtu)));
        let nics = self.nics.iter().flat_map(|nic| [(&nic.at, nic.mtu), (&nic.port, nic.mtu)]);
        let bridges = self.bridges.iter().map(|bridge| (&bridge.at, bridge.mtu));
        let overlays =
            self.vxlans.iter().flat_map(|vxlan| vxlan.members.iter().map(|member| (&member.at, vxlan.mtu)));
        links.chain(nics).chain(bridges).chain(overlays)
    }

    /// The virtual machine that a host is; `None` for one that is a namespace.
    #[must_use]
    pub fn vm(&self, host: &HostName) -> Option<&Vm> {
        self.host(host)?.vm.as_ref()
    }

    /// The part of the lab that this machine's kernel makes: everything but the insides of virtual machines.
    #[must_use]
    pub fn outside(&self) -> Self {
        let outside = |host: &HostName| self.vm(host).is_none();
        let mut lab = self.clone();
        lab.hosts.retain(|host| host.vm.is_none());
        lab.routes.retain(|route| outside(&route.host));
        lab.devices.retain(|at, _| outside(&at.host));
        lab
    }

    /// The part of the lab that the kernel of a virtual machine's guest makes: its own devices, addresses and routes.
    #[must_use]
    pub fn inside(&self, host: &HostName) -> Self {
        Self {
            hosts: self.hosts.iter().filter(|known| known.name == *host).cloned().collect(),
            links: Vec::new(),
            nics: self.nics.iter().filter(|nic| nic.at.host == *host).cloned().collect(),
            bridges: Vec::new(),
            vxlans: Vec::new(),
            gateways: Vec::new(),
            routes: self.routes.iter().filter(|route| route.host == *host).cloned().collect(),
            devices: of_host(&self.devices, host),
        }
    }

    /// The MTU of a device under `settings`, in bytes of IP packet; `None` if the lab has no such device.
    #[must_use]
    pub fn mtu(&self, device: &DeviceRef, settings: &BTreeMap<DeviceRef, DeviceSettings>) -> Option<u32> {
        let (_, made) = self.made_mtus().find(|(at, _)| *at == device)?;
        Some(settings.get(device).and_then(|settings| settings.mtu).unwrap_or(made))
    }
}

/// What a host stands for. The kind changes no setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostKind {
    /// A node, hypervisor, router or switch.
    Host,
    /// A guest behind a bridge.
    Guest,
    /// A pod behind a bridge.
    Pod,
}

/// A host of the lab.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: HostName,
    /// What it stands for.
    pub kind: HostKind,
    /// Whether it forwards packets between its devices; set where a route or gateway needs it.
    pub forwards: bool,
    /// The virtual machine that it is; `None` for a namespace.
    #[serde(default)]
    pub vm: Option<Vm>,
}

/// What a link stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkRole {
    /// A wire between two hosts: layer `wire`.
    Wire,
    /// The attachment of a guest or pod to a bridge: layer `veth`. The second end is the bridge's port.
    Attachment,
}

/// Two devices that are each other's far end (a veth pair).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// Its name in the scenario: the wire's, or the guest's or pod's.
    pub name: String,
    /// What it stands for.
    pub role: LinkRole,
    /// Both ends.
    pub ends: [LinkEnd; 2],
    /// The MTU of both ends, in bytes of IP packet.
    pub mtu: u32,
    /// A limit on what each end sends, if the wire is to be slower than memory.
    pub rate: Option<BitRate>,
}

/// One end of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// The device, made for this link.
    pub at: DeviceRef,
    /// Its address, if it has one.
    pub address: Option<Ipv4Net>,
}

/// The network device of a virtual machine: virtio in the guest, a tap device where its bridge is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nic {
    /// The guest's name.
    pub name: String,
    /// The device in the guest.
    pub at: DeviceRef,
    /// The tap device, the bridge's port.
    pub port: DeviceRef,
    /// The guest's address.
    pub address: Ipv4Net,
    /// The MTU of both, in bytes of IP packet.
    pub mtu: u32,
    /// Queues of each direction that it is made with.
    pub queues: u32,
}

/// A bridge in a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bridge {
    /// Its name in the scenario.
    pub name: String,
    /// The bridge device.
    pub at: DeviceRef,
    /// Its ports: devices of the same host, made by links or overlays.
    pub ports: Vec<DeviceName>,
    /// The host's own address on the bridge.
    pub address: Option<Ipv4Net>,
    /// Its MTU.
    pub mtu: u32,
}

/// How an overlay knows where a MAC address lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forwarding {
    /// Unicast entries for every member, flooding to all of them, and learning of the rest.
    Learning,
    /// Unicast entries only (head-end replication for broadcasts); nothing is learned.
    Unicast,
}

/// A VXLAN overlay (RFC 7348).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vxlan {
    /// Its name in the scenario; also the name of its devices.
    pub name: String,
    /// The VXLAN network identifier, below 2^24.
    pub vni: u32,
    /// The UDP port; 4789 is IANA's.
    pub port: u16,
    /// How destinations are known.
    pub forwarding: Forwarding,
    /// The MTU of its devices: the underlay's less 50 bytes of encapsulation, unless the scenario says less.
    pub mtu: u32,
    /// Its devices, one a host.
    pub members: Vec<VxlanMember>,
}

/// An overlay's device in one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VxlanMember {
    /// The VXLAN device.
    pub at: DeviceRef,
    /// The host's device that carries the encapsulated packets.
    pub underlay: DeviceName,
    /// The host's address on it: the tunnel's end.
    pub local: Ipv4Addr,
    /// The device's own address inside the overlay; none when it is only a bridge's port.
    pub address: Option<Ipv4Net>,
}

/// An egress gateway: traffic of `sources` at `node` is routed through a tunnel to `egress`, and leaves from
/// there with the egress address as its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gateway {
    /// Its name in the scenario.
    pub name: String,
    /// The node whose pods' traffic is diverted.
    pub node: HostName,
    /// Whose traffic: matched by a policy rule on the source address.
    pub sources: Ipv4Net,
    /// What traffic: only destinations inside this prefix are diverted.
    pub destinations: Ipv4Net,
    /// The tunnel's device at the node.
    pub tunnel: DeviceName,
    /// The egress host's address inside the tunnel: the next hop.
    pub next_hop: Ipv4Addr,
    /// The routing table that holds the diverting route at the node; unique per gateway.
    pub table: u32,
    /// The host where traffic leaves.
    pub egress: HostName,
    /// The device it leaves by.
    pub egress_device: DeviceName,
    /// The source address that it gets there; an address of its own on the egress device.
    pub egress_address: Ipv4Addr,
}

/// A static route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Whose routing table.
    pub host: HostName,
    /// Which destinations; `0.0.0.0/0` is the default route.
    pub to: Ipv4Net,
    /// The next hop, an address that the host reaches directly.
    pub via: Ipv4Addr,
}
