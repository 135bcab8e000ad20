//! Faults that can be built into a lab, to check that a run identifies them.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::{BitRate, Bytes, Nanos, Share};

pub(crate) const NONE: &str = "none";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Drops packets that arrive at the device above this rate.
    PolicedPort {
        bits_per_second: u64,
    },
    /// Packets leave the device at this rate, through a queue of this size.
    QueueLimit {
        bits_per_second: u64,
        queue: Bytes,
    },
    /// Drops IP packets larger than this when they leave the device, without an ICMP error.
    MtuHole {
        mtu: u32,
    },
    /// The host sends no ICMP errors through the device.
    IcmpHole,
    /// Limits the CPU time of the agent on the device's host.
    CpuLimit {
        millicpus: u32,
    },
    SnatPorts {
        ports: u16,
    },
    /// The kernel tracks this many connections, and drops the packets of all others.
    ConntrackFull {
        connections: u32,
    },
    LostChecksum,
    Impairment(Impairment),
}

/// Shares are in packets per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Impairment {
    pub delay: Nanos,
    /// Delays are distributed uniformly from `delay - jitter` to `delay + jitter`.
    pub jitter: Nanos,
    pub loss: u32,
    pub duplicate: u32,
    /// These packets are not delayed, so they overtake others.
    pub reorder: u32,
}

impl fmt::Display for Impairment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |per_million: u32| Share(f64::from(per_million) / 1e6).to_string();
        let parts = [
            (self.delay.0 > 0, "delay", self.delay.to_string()),
            (self.jitter.0 > 0, "jitter", self.jitter.to_string()),
            (self.loss > 0, "loss", share(self.loss)),
            (self.duplicate > 0, "duplication", share(self.duplicate)),
            (self.reorder > 0, "reordering", share(self.reorder)),
        ];
        let parts = parts.iter().filter(|(is_set, ..)| *is_set);
        let parts: Vec<String> = parts.map(|(_, noun, value)| format!("{noun} of {value}")).collect();
        f.write_str(&parts.join(", "))
    }
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
            Self::Impairment(impairment) => impairment.fmt(f),
        }
    }
}

/// `fault` is `None` for the level `none`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedFault {
    pub name: String,
    pub fault: Option<Fault>,
}
