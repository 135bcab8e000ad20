//! A path: from one endpoint to another through named layers.

use std::{fmt, net::Ipv4Addr};

use serde::{Deserialize, Serialize};

use crate::names::{DeviceRef, HostName, PathName};

/// What a packet passes on its way. The order of the variants is the order of the help text only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// A wire between two hosts.
    Wire,
    /// The veth pair of a guest or pod.
    Veth,
    /// The network device of a virtual machine: its queues, who empties them (the monitor, or vhost), and the tap device.
    Virtio,
    /// A bridge.
    Bridge,
    /// A VXLAN tunnel: encapsulated, sent over a wire, decapsulated.
    Vxlan,
    /// An egress gateway: policy route, forwarding, source translation.
    Gateway,
}

impl Layer {
    /// Every layer.
    pub const ALL: [Self; 6] =
        [Self::Wire, Self::Veth, Self::Virtio, Self::Bridge, Self::Vxlan, Self::Gateway];

    /// The word for it in scenarios and reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Veth => "veth",
            Self::Virtio => "virtio",
            Self::Bridge => "bridge",
            Self::Vxlan => "vxlan",
            Self::Gateway => "gateway",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One end of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathEnd {
    /// The host whose agent sends or receives.
    pub host: HostName,
    /// The device whose address is used.
    pub device: DeviceRef,
    /// That address: bound at the client's end, connected to at the server's.
    pub address: Ipv4Addr,
}

/// A path of the scenario. The client is at `from`; `forward` traffic flows from there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Path {
    /// Its name.
    pub name: PathName,
    /// What it shows, in a few words for the report.
    pub about: String,
    /// The client's end.
    pub from: PathEnd,
    /// The server's end.
    pub to: PathEnd,
    /// The layers between, each once, in the order in which a packet first meets them.
    pub layers: Vec<Layer>,
    /// Every device that a packet passes on its way there, in order.
    pub devices: Vec<DeviceRef>,
    /// Whether the other paths are shown as a share of this one; true for exactly one path.
    pub baseline: bool,
}
