//! What a decision says: moves, each with its reason, and what is believed of every VM. Must not know how it was reached.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::{Bytes, Share};

use crate::{observation::ReportError, tiers::Tiers};

/// All that one decision says.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// At most one a VM. Squeezes come first.
    pub moves: Vec<Move>,
    /// Each VM of the settings.
    pub outlooks: Vec<Outlook>,
    /// DRAM that all targets together need beyond what there is; 0 where they can all be met.
    pub missing: Bytes,
    /// Observations that could not be used.
    pub refused: Vec<ReportError>,
}

/// What a VM is told to have. Whichever tier grows is to grow before the other shrinks, so that the VM is never short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Move {
    pub vm: String,
    pub from: Tiers,
    pub to: Tiers,
    pub reason: Reason,
}

/// Why a VM gives or gets memory.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// DRAM serves less of its accesses than it should.
    BelowTarget {
        served: Share,
        after: Share,
        target: Share,
    },
    /// Its accesses are unknown, and it has less than its memory in use would need.
    MemoryInUse {
        needs: Bytes,
    },
    /// Its accesses are unknown, and it is under pressure.
    Pressure {
        needs: Bytes,
    },
    /// It has more than it needs; without a target where its accesses are unknown.
    Surplus {
        needs: Bytes,
        target: Option<Share>,
    },
    /// Not all targets can be met, and it gives its part.
    Shortage {
        after: Share,
        target: Share,
    },
    /// It came under pressure after it was asked for DRAM.
    Brake {
        keeps: Bytes,
    },
    BelowFloor {
        floor: Bytes,
    },
    AboveCeiling {
        ceiling: Bytes,
    },
    /// It does not come closer to what it was told.
    Stalled {
        told: Tiers,
    },
    /// It has less slow memory than belongs to its DRAM.
    SlowMemory {
        memory: Bytes,
    },
}

/// What is believed of a VM.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outlook {
    pub vm: String,
    /// Of a silent VM what is held for it.
    pub has: Tiers,
    /// Estimated share of its accesses that DRAM serves.
    pub served: Option<Share>,
    /// DRAM that its target needs, within floor and ceiling.
    pub needs: Option<Bytes>,
    /// DRAM that it shall come to, when others need what it has beyond that.
    pub goal: Option<Bytes>,
    pub basis: Basis,
}

/// What a VM's need is told by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    Accesses,
    MemoryInUse,
    Pressure,
    /// Nothing: it keeps what it has.
    Nothing,
    /// It does not answer: it is left alone.
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
                write!(f, "no access information; its memory in use calls for {needs} of DRAM")
            }
            Self::Pressure { needs } => write!(f, "memory pressure; it is to have {needs} of DRAM"),
            Self::Surplus { needs, target: Some(target) } => {
                write!(f, "{needs} of DRAM meet its target of {target}; the rest is wanted elsewhere")
            }
            Self::Surplus { needs, target: None } => {
                write!(f, "what it uses calls for {needs} of DRAM; the rest is wanted elsewhere")
            }
            Self::Shortage { after, target } => write!(
                f,
                "not all targets can be met; its weight's share serves {after} of its accesses, target {target}"
            ),
            Self::Brake { keeps } => {
                write!(f, "memory pressure after it was asked for DRAM; it keeps {keeps} for now")
            }
            Self::BelowFloor { floor } => write!(f, "it has less DRAM than its floor of {floor}"),
            Self::AboveCeiling { ceiling } => write!(f, "it has more DRAM than its ceiling of {ceiling}"),
            Self::Stalled { told } => {
                write!(f, "no progress towards {told}; the move is given up, the VM left alone for a while")
            }
            Self::SlowMemory { memory } => {
                write!(f, "both tiers together have less than its memory of {memory}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_move_is_told_in_one_sentence() {
        let gib = |fast: u64, slow: u64| Tiers { fast: Bytes(fast * GIB), slow: Bytes(slow * GIB) };
        let told = |reason| Move { vm: "db".into(), from: gib(2, 6), to: gib(3, 5), reason }.to_string();
        let below = Reason::BelowTarget { served: Share(0.713), after: Share(0.84), target: Share(0.9) };
        assert_eq!(
            told(below),
            "db: DRAM 2.00 GiB to 3.00 GiB: DRAM serves 71.3 % of its accesses, 84.0 % with this move; target 90.0 %"
        );
        assert_eq!(
            told(Reason::Brake { keeps: Bytes(3 * GIB) }),
            "db: DRAM 2.00 GiB to 3.00 GiB: memory pressure after it was asked for DRAM; it keeps 3.00 GiB for now"
        );
    }
}
