//! Faults that a lab can build, to check that a run finds their cause.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos, Share};

pub(crate) const NONE: &str = "none";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Packets that arrive at the device above this rate are dropped.
    PolicedPort {
        bits_per_second: u64,
    },
    /// Packets leave the device at this rate, through a queue of this size.
    QueueLimit {
        bits_per_second: u64,
        queue: Bytes,
    },
    /// IP packets larger than this are lost when they leave the device, without an ICMP error.
    MtuHole {
        mtu: u32,
    },
    /// The host sends no ICMP errors through the device.
    IcmpHole,
    /// The agent on the device's host may use this many thousandths of a CPU.
    CpuLimit {
        millicpus: u32,
    },
    SnatPorts {
        ports: u16,
    },
    /// The kernel tracks this many connections, and drops packets of others.
    ConntrackFull {
        connections: u32,
    },
    LostChecksum,
    PacketDelay {
        delay: Nanos,
    },
    PacketLoss {
        per_million: u32,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = |bits: u64| BitRate(bits as f64);
        match *self {
            Self::PolicedPort { bits_per_second } => write!(f, "policer at {}", rate(bits_per_second)),
            Self::QueueLimit { bits_per_second, queue } => {
                write!(f, "queue of {queue} at {}", rate(bits_per_second))
            }
            Self::MtuHole { mtu } => write!(f, "MTU hole above {mtu} bytes"),
            Self::IcmpHole => f.write_str("ICMP filter"),
            Self::CpuLimit { millicpus } => write!(f, "limit of {} CPUs", f64::from(millicpus) / 1e3),
            Self::SnatPorts { ports } => write!(f, "source NAT to {ports} ports"),
            Self::ConntrackFull { connections } => write!(f, "limit of {connections} tracked connections"),
            Self::LostChecksum => f.write_str("loss of checksums"),
            Self::PacketDelay { delay } => write!(f, "delay of {delay}"),
            Self::PacketLoss { per_million } => write!(f, "loss of {}", Share(f64::from(per_million) / 1e6)),
        }
    }
}

/// A fault with its name in the scenario. `fault` is `None` for the level `none`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedFault {
    pub name: String,
    pub fault: Option<Fault>,
}
