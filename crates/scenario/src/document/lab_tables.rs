//! The tables that describe the lab beside its links, as written. Their field docs are the descriptions in the JSON Schema.

use std::{net::Ipv4Addr, ops::Range};

use ipnet::Ipv4Net;
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;
use units::Bytes;
use workload::BalloonMethod;

use super::written::As;
use crate::vm::{Board, Monitor};

/// A host: a network namespace of its own, or with `ssh`, `member` or `local` a machine that exists already. The first gets its
/// devices from wires, bridges and overlays. Of the second its own network is measured; overlays over that, bridges, guests and
/// pods are made beside it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostTable {
    /// Where its agent is started by the system's `ssh`: `user@host`, a name of ssh_config, or `ssh://user@host:22`.
    #[schemars(with = "Option<String>", example = &"user@host")]
    pub(crate) ssh: Option<Spanned<String>>,
    /// The member of a fleet that starts its agent: the name by which `plumb fleet list` shows it.
    #[schemars(with = "Option<String>", example = &"rack-1")]
    pub(crate) member: Option<Spanned<String>>,
    /// `true` of this machine itself, in the network namespace that plumb is started in.
    #[schemars(with = "Option<bool>")]
    pub(crate) local: Option<Spanned<bool>>,
    /// The address that traffic comes from and goes to. Default: that of `interface`, or the one at which SSH arrives.
    #[schemars(with = "Option<As<Ipv4Addr>>")]
    pub(crate) address: Option<Spanned<As<Ipv4Addr>>>,
    /// The device that traffic passes. Default: the one that has the address.
    #[schemars(with = "Option<String>", example = &"eth1")]
    pub(crate) interface: Option<Spanned<String>>,
    /// The port that it listens on while it is the server. Default: the workload's.
    #[schemars(with = "Option<u16>", range(min = 1))]
    pub(crate) port: Option<Spanned<u16>>,
    /// What it shares with other hosts that say the same, such as the uplink of their rack: no two pairs that use it are
    /// measured at the same time. Default: nothing.
    #[schemars(with = "Option<String>", example = &"rack-1")]
    pub(crate) uplink: Option<Spanned<String>>,
}

impl HostTable {
    /// The keys by which it is reached, with their places; none of a host that is made, more than one by mistake.
    pub(crate) fn ways(&self) -> Vec<(&'static str, Range<usize>)> {
        let local = self.local.as_ref().filter(|local| *local.get_ref());
        let ways = [
            ("ssh", self.ssh.as_ref().map(Spanned::span)),
            ("member", self.member.as_ref().map(Spanned::span)),
            ("local", local.map(Spanned::span)),
        ];
        ways.into_iter().filter_map(|(key, place)| Some((key, place?))).collect()
    }
}

/// A kind of virtual machine. Its guest boots from this program and a kernel that is installed on the host.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct VmTable {
    /// What runs it: `qemu`, or `firecracker`, which has one board, one queue each way, no vhost-net, and needs KVM.
    /// Default: `qemu`.
    #[schemars(with = "Option<Monitor>")]
    pub(crate) monitor: Option<Spanned<Monitor>>,
    /// What its devices are attached to: `q35` (a PC) or `microvm` (virtio-mmio, as Firecracker has). Default: `q35`.
    #[schemars(with = "Option<Board>")]
    pub(crate) board: Option<Spanned<Board>>,
    /// CPUs of the guest. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 255))]
    pub(crate) vcpus: Option<Spanned<u32>>,
    /// Memory of the guest. Default: 512MiB.
    #[schemars(with = "Option<As<Bytes>>")]
    pub(crate) memory: Option<Spanned<As<Bytes>>>,
    /// How memory can be taken from it while it runs: `virtio-balloon` (page by page), `virtio-mem` (blocks of 2 MiB; half of
    /// its memory is then such a device's, and it is a `q35`) or `agent` (huge pages that its agent takes). Default: not at all.
    #[schemars(with = "Option<BalloonMethod>")]
    pub(crate) balloon: Option<Spanned<BalloonMethod>>,
    /// Queues of its network device in each direction, at most one a CPU of the guest. Default: 1.
    #[schemars(with = "Option<u32>", range(min = 1, max = 255))]
    pub(crate) queues: Option<Spanned<u32>>,
    /// Whether the host's kernel moves its packets (vhost-net) instead of QEMU. Default: `off`.
    #[schemars(with = "Option<Switch>")]
    pub(crate) vhost: Option<Spanned<Switch>>,
    /// Whether packets pass its network device without their checksums, both ways. `off` switches `tso`, `ufo` and `gro`
    /// off too. Default: QEMU's own, as for each of the following.
    pub(crate) csum: Option<Switch>,
    /// Whether the guest hands out TCP packets larger than the MTU.
    #[schemars(with = "Option<Switch>")]
    pub(crate) tso: Option<Spanned<Switch>>,
    /// Whether UDP packets larger than the MTU pass whole, both ways.
    #[schemars(with = "Option<Switch>")]
    pub(crate) ufo: Option<Spanned<Switch>>,
    /// Whether the guest takes in TCP packets larger than the MTU.
    #[schemars(with = "Option<Switch>")]
    pub(crate) gro: Option<Spanned<Switch>>,
    /// Whether a packet that comes in may take several of the guest's buffers.
    pub(crate) mrg_rxbuf: Option<Switch>,
    /// Places in the ring of each receive queue: 256, 512 or 1024.
    #[schemars(with = "Option<u32>", range(min = 256, max = 1024))]
    pub(crate) rx_ring: Option<Spanned<u32>>,
    /// Places in the ring of each transmit queue: 256, 512 or 1024. QEMU makes more than 256 only where another process
    /// moves the packets.
    #[schemars(with = "Option<u32>", range(min = 256, max = 1024))]
    pub(crate) tx_ring: Option<Spanned<u32>>,
    /// CPUs of the host that the guest's CPUs run on: the first on the first, and so on, from the first again where
    /// there are fewer. Default: wherever there is room.
    #[serde(default)]
    #[schemars(with = "Vec<u32>")]
    pub(crate) cpus: Vec<Spanned<u32>>,
    /// CPUs of the host for QEMU's other threads and for vhost. Default: wherever there is room.
    #[serde(default)]
    #[schemars(with = "Vec<u32>")]
    pub(crate) monitor_cpus: Vec<Spanned<u32>>,
}

/// An egress gateway: what pods of a node send to some destinations is routed through a tunnel to the egress host, and
/// leaves from there with the egress address as its source. The way back is routed of itself.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatewayTable {
    /// The node whose pods' traffic is diverted.
    #[schemars(with = "String")]
    pub(crate) node: Spanned<String>,
    /// Whose traffic: a prefix of source addresses.
    #[schemars(with = "As<Ipv4Net>")]
    pub(crate) pods: Spanned<As<Ipv4Net>>,
    /// Which traffic: a prefix of destinations.
    #[schemars(with = "As<Ipv4Net>")]
    pub(crate) destinations: Spanned<As<Ipv4Net>>,
    /// The VXLAN overlay that it goes through; node and egress host are members with an address.
    #[schemars(with = "String")]
    pub(crate) tunnel: Spanned<String>,
    /// The host where the traffic leaves.
    #[schemars(with = "String")]
    pub(crate) egress: Spanned<String>,
    /// The device of the egress host that it leaves by.
    #[schemars(with = "String")]
    pub(crate) device: Spanned<String>,
    /// The source address that it leaves with: one more address of that device, in its network.
    #[schemars(with = "As<Ipv4Addr>")]
    pub(crate) address: Spanned<As<Ipv4Addr>>,
}

/// A static route.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteTable {
    /// The host whose route it is.
    #[schemars(with = "String")]
    pub(crate) host: Spanned<String>,
    /// The destinations; `0.0.0.0/0` is the default route.
    #[schemars(with = "As<Ipv4Net>")]
    pub(crate) to: Spanned<As<Ipv4Net>>,
    /// The next hop: an address on one of the host's networks.
    #[schemars(with = "As<Ipv4Addr>")]
    pub(crate) via: Spanned<As<Ipv4Addr>>,
}

/// On or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Switch {
    /// On.
    On,
    /// Off.
    Off,
}

impl Switch {
    /// Whether it is on.
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}
