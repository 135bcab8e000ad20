//! The tables that describe faults.

use schemars::JsonSchema;
use serde::Deserialize;
use units::{BitRate, Bytes, Nanos, Share};

use super::spanned::Spanned;
use super::written::As;

/// A fault. Device settings and factors use it by name: `fault = "NAME"`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FaultTable {
    /// The kind of fault.
    pub(crate) kind: Spanned<FaultKind>,
    /// The rate of a `policed-port` or a `queue-limit`.
    pub(crate) rate: Option<Spanned<As<BitRate>>>,
    /// The queue size of a `queue-limit`. A packet with segmentation offload needs up to 64KiB.
    pub(crate) queue: Option<Spanned<As<Bytes>>>,
    /// The largest IP packet that an `mtu-hole` lets through, in bytes.
    #[schemars(range(min = 576, max = 65535))]
    pub(crate) mtu: Option<Spanned<u32>>,
    /// The limit of a `cpu-limit`, in percent of one CPU.
    pub(crate) cpu: Option<Spanned<As<Share>>>,
    /// The number of source ports of `snat-ports`.
    #[schemars(range(min = 1, max = 20000))]
    pub(crate) ports: Option<Spanned<u16>>,
    /// The number of connections that a `conntrack-full` can track.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub(crate) connections: Option<Spanned<u32>>,
    /// The delay of an `impairment`.
    pub(crate) delay: Option<Spanned<As<Nanos>>>,
    /// The largest deviation from an `impairment`'s `delay`.
    pub(crate) jitter: Option<Spanned<As<Nanos>>>,
    /// The share of packets that an `impairment` drops.
    pub(crate) loss: Option<Spanned<As<Share>>>,
    /// The share of packets that an `impairment` sends twice.
    pub(crate) duplicate: Option<Spanned<As<Share>>>,
    /// The share of packets that an `impairment` does not delay, so that they overtake others.
    pub(crate) reorder: Option<Spanned<As<Share>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FaultKind {
    /// A policer drops packets that arrive at the device above a rate.
    PolicedPort,
    /// A short queue limits the rate at which packets leave the device.
    QueueLimit,
    /// Packets above a size are lost when they leave the device, without an ICMP error.
    MtuHole,
    /// A firewall on the host drops the ICMP errors that would leave through the device.
    IcmpHole,
    /// A cgroup limits the CPU time of this end of the path.
    CpuLimit,
    /// Source NAT at the device has few ports.
    SnatPorts,
    /// The connection tracking table of a virtual machine is small.
    ConntrackFull,
    /// The device does not complete the checksums of packets that it sends.
    LostChecksum,
    /// Netem delays, drops, duplicates or reorders packets that leave the device.
    Impairment,
}
