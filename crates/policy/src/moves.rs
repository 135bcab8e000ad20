//! Moves with their reasons, and the estimates of all VMs.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::{Bytes, Share};

use crate::{observation::ReportError, tiers::Tiers};

#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub moves: Vec<Move>,
    pub outlooks: Vec<Outlook>,
    pub missing: Bytes,
    pub refused: Vec<ReportError>,
}

/// The growing tier must grow before the other one shrinks, so that the VM is never short of memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    pub vm: String,
    pub from: Tiers,
    pub to: Tiers,
    pub reason: Reason,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    BelowTarget {
        served: Share,
        after: Share,
        target: Share,
    },
    MemoryInUse {
        needs: Bytes,
    },
    Pressure {
        needs: Bytes,
    },
    /// Without access data, the target is `None`.
    Surplus {
        needs: Bytes,
        target: Option<Share>,
    },
    Shortage {
        after: Share,
        target: Share,
    },
    Brake {
        keeps: Bytes,
    },
    BelowFloor {
        floor: Bytes,
    },
    AboveCeiling {
        ceiling: Bytes,
    },
    Stalled {
        ordered: Tiers,
    },
    SlowMemory {
        memory: Bytes,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    pub vm: String,
    pub has: Tiers,
    pub served: Option<Share>,
    pub needs: Option<Bytes>,
    pub goal: Option<Bytes>,
    pub basis: Basis,
}

/// The data from which a VM's need is derived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    Accesses,
    MemoryInUse,
    Pressure,
    Nothing,
    Silent,
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: DRAM {} to {}: {}", self.vm, self.from.fast, self.to.fast, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BelowTarget { served, after, target } => {
                write!(f, "DRAM serves {served} of its accesses, {after} with this move; target {target}")
            }
            Self::MemoryInUse { needs } => {
                write!(f, "no access data; its memory in use needs {needs} of DRAM")
            }
            Self::Pressure { needs } => write!(f, "memory pressure; raising DRAM to {needs}"),
            Self::Surplus { needs, target: Some(target) } => {
                write!(f, "{needs} of DRAM meet its target of {target}; other VMs need the rest")
            }
            Self::Surplus { needs, target: None } => {
                write!(f, "its memory in use needs {needs} of DRAM; other VMs need the rest")
            }
            Self::Shortage { after, target } => write!(
                f,
                "not all targets can be met; its weighted share serves {after} of its accesses, target {target}"
            ),
            Self::Brake { keeps } => {
                write!(f, "memory pressure after giving up DRAM; it keeps {keeps} for now")
            }
            Self::BelowFloor { floor } => write!(f, "less DRAM than its floor of {floor}"),
            Self::AboveCeiling { ceiling } => write!(f, "more DRAM than its ceiling of {ceiling}"),
            Self::Stalled { ordered } => {
                write!(f, "no progress towards {ordered}; move abandoned, pausing this VM")
            }
            Self::SlowMemory { memory } => {
                write!(f, "both tiers together are smaller than its memory of {memory}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn move_is_described_in_one_sentence() {
        let gib = |fast: u64, slow: u64| Tiers { fast: Bytes(fast * GIB), slow: Bytes(slow * GIB) };
        let text = |reason| Move { vm: "db".into(), from: gib(2, 6), to: gib(3, 5), reason }.to_string();
        let below = Reason::BelowTarget { served: Share(0.713), after: Share(0.84), target: Share(0.9) };
        assert_eq!(
            text(below),
            "db: DRAM 2.00 GiB to 3.00 GiB: DRAM serves 71.3 % of its accesses, 84.0 % with this move; target 90.0 %"
        );
        assert_eq!(
            text(Reason::Brake { keeps: Bytes(3 * GIB) }),
            "db: DRAM 2.00 GiB to 3.00 GiB: memory pressure after giving up DRAM; it keeps 3.00 GiB for now"
        );
    }
}
