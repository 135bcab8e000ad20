//! Fast memory of virtual machines over time, per placement policy.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos, Share};

/// Readers reject other versions.
pub const MEMORY_SCHEMA: u32 = 1;

/// Contents of the memory page.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemorySummary {
    /// [`MEMORY_SCHEMA`] at the time of writing.
    pub schema: u32,
    pub title: String,
    /// Conclusion first, then the details.
    pub answer: Vec<String>,
    /// Placement policies, in display order.
    pub arms: Vec<MemoryArm>,
    /// Moves with their reasons.
    pub moves: Vec<MemoryMove>,
}

/// A placement policy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryArm {
    pub name: String,
    /// Share of all accesses served by fast memory, with equal weight per machine.
    pub hits: Option<Share>,
    pub vms: Vec<VmMemory>,
}

/// A machine under a policy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmMemory {
    pub name: String,
    pub hits: Option<Share>,
    pub looks: Vec<MemoryLook>,
}

/// A sample of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MemoryLook {
    /// Since the first sample.
    pub at: Nanos,
    pub fast: Option<Bytes>,
    /// Share of its accesses since the previous sample that fast memory served.
    pub hits: Option<Share>,
}

/// A move of fast memory.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryMove {
    /// Since the first sample.
    pub at: Nanos,
    /// Machine, amounts and reason.
    pub action: String,
}

impl VmMemory {
    #[must_use]
    pub fn of(name: String, looks: Vec<MemoryLook>) -> Self {
        let hits = mean(looks.iter().filter_map(|look| look.hits));
        Self { name, hits, looks }
    }
}

impl MemoryArm {
    #[must_use]
    pub fn of(name: &str, vms: Vec<VmMemory>) -> Self {
        Self { name: name.to_owned(), hits: mean(vms.iter().filter_map(|vm| vm.hits)), vms }
    }
}

fn mean(shares: impl Iterator<Item = Share>) -> Option<Share> {
    let (sum, count) = shares.fold((0.0, 0_u32), |(sum, count), share| (sum + share.0, count + 1));
    (count > 0).then(|| Share(sum / f64::from(count)))
}
