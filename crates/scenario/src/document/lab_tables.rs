//! The tables that describe the lab, except links.

use std::net::IpAddr;

use ipnet::IpNet;
use schemars::JsonSchema;
use serde::Deserialize;
use units::Bytes;
use workload::BalloonMethod;

use super::spanned::Spanned;
use super::written::As;
use crate::vm::{Board, Monitor};

/// A host: a network namespace, or an existing host if it has `at`. A namespace gets its devices from wires, bridges
/// and overlays. An existing host uses its own network; overlays, bridges, guests and pods on it are created in a
/// separate namespace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostTable {
    /// The existing host: `local`, `netns:PATH`, `pid:N`, `container:NAME` (Docker, Podman), `pod:NAMESPACE/NAME` (on
    /// this Kubernetes node), `ssh:DESTINATION` or `member:NAME`.
    #[schemars(example = &"ssh:user@host", example = &"container:web")]
    pub(crate) at: Option<Spanned<String>>,
    /// Address for test traffic. Default: the address of `interface`, or the address that SSH connects to.
    pub(crate) address: Option<Spanned<As<IpAddr>>>,
    /// Device for test traffic. Default: the device with the address.
    #[schemars(example = &"eth1")]
    pub(crate) interface: Option<Spanned<String>>,
    /// Port to listen on as a server. Default: the workload's.
    #[schemars(range(min = 1))]
    pub(crate) port: Option<Spanned<u16>>,
    /// A shared resource, e.g. a rack's uplink: all hosts with the same value share it. Two pairs of hosts that use
    /// the same uplink are never measured at the same time. Default: none.
    #[schemars(example = &"rack-1")]
    pub(crate) uplink: Option<Spanned<String>>,
}

/// A kind of virtual machine. Its guests boot from the plumb binary and a kernel installed on the host.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct VmTable {
    /// The monitor: `qemu` or `firecracker`. Firecracker has a single board and queue pair, does not support
    /// vhost-net, and needs KVM. Default: `qemu`.
    pub(crate) monitor: Option<Spanned<Monitor>>,
    /// The guest's kernel: a file, or the release or series of an installed kernel, e.g. `6.12`. Default: the newest
    /// installed kernel.
    pub(crate) kernel: Option<Spanned<String>>,
    /// The machine type: `q35` (a PC) or `microvm` (virtio-mmio, like Firecracker). Default: `q35`.
    pub(crate) board: Option<Spanned<Board>>,
    /// Guest CPUs. Default: 1.
    #[schemars(range(min = 1, max = 255))]
    pub(crate) vcpus: Option<Spanned<u32>>,
    /// Guest memory. Default: 512MiB.
    pub(crate) memory: Option<Spanned<As<Bytes>>>,
    /// How memory can be reclaimed from the running guest: `virtio-balloon` (by page), `virtio-mem` (in blocks of 2
    /// MiB; needs `q35`; half of the guest's memory is hotplugged) or `agent` (huge pages allocated by the guest's
    /// agent). Default: not at all.
    pub(crate) balloon: Option<Spanned<BalloonMethod>>,
    /// Queue pairs of the guest's network device, at most one per guest CPU. Default: 1.
    #[schemars(range(min = 1, max = 255))]
    pub(crate) queues: Option<Spanned<u32>>,
    /// Whether the host kernel (vhost-net) processes packets instead of QEMU. Default: `off`.
    pub(crate) vhost: Option<Spanned<Switch>>,
    /// Checksum offload, in both directions. `off` also disables `tso`, `ufo` and `gro`. For this and the
    /// following settings, the default is QEMU's.
    pub(crate) csum: Option<Switch>,
    /// Whether the guest may send TCP packets larger than the MTU.
    pub(crate) tso: Option<Spanned<Switch>>,
    /// Whether UDP packets larger than the MTU pass unsegmented, in both directions.
    pub(crate) ufo: Option<Spanned<Switch>>,
    /// Whether the guest may receive TCP packets larger than the MTU.
    pub(crate) gro: Option<Spanned<Switch>>,
    /// Whether a received packet may span several guest buffers.
    pub(crate) mrg_rxbuf: Option<Switch>,
    /// Entries per receive ring: 256, 512 or 1024.
    #[schemars(range(min = 256, max = 1024))]
    pub(crate) rx_ring: Option<Spanned<u32>>,
    /// Entries per transmit ring: 256, 512 or 1024. QEMU supports more than 256 only if another
    /// process handles the packets.
    #[schemars(range(min = 256, max = 1024))]
    pub(crate) tx_ring: Option<Spanned<u32>>,
    /// Host CPUs to pin the guest's CPUs to, reused in order if there are too few. Default: not pinned.
    #[serde(default)]
    pub(crate) cpus: Vec<Spanned<u32>>,
    /// Host CPUs for QEMU's other threads and for vhost. Default: not pinned.
    #[serde(default)]
    pub(crate) monitor_cpus: Vec<Spanned<u32>>,
}

/// An egress gateway: traffic from a node's pods to some destinations is tunneled to the egress host and leaves there
/// with the egress address as its source. Replies follow normal routing.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GatewayTable {
    /// The node with the pods that use the gateway.
    pub(crate) node: Spanned<String>,
    /// Source prefix of the traffic.
    pub(crate) pods: Spanned<As<IpNet>>,
    /// Destination prefix of the traffic.
    pub(crate) destinations: Spanned<As<IpNet>>,
    /// The VXLAN overlay to the egress host. The node and the egress host must be members with an address.
    pub(crate) tunnel: Spanned<String>,
    /// The host where the traffic leaves.
    pub(crate) egress: Spanned<String>,
    /// The device on the egress host that the traffic leaves through.
    pub(crate) device: Spanned<String>,
    /// The source address of the traffic: an additional address of `device`, in the device's network.
    pub(crate) address: Spanned<As<IpAddr>>,
}

/// A static route.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteTable {
    /// The host that has the route.
    pub(crate) host: Spanned<String>,
    /// The destination prefix; `0.0.0.0/0` is the default route.
    pub(crate) to: Spanned<As<IpNet>>,
    /// The next hop: an address in one of the host's networks.
    pub(crate) via: Spanned<As<IpAddr>>,
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
    pub(crate) fn is_on(self) -> bool {
        self == Self::On
    }
}
