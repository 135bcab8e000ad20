//! Virtual machines' fast memory over time, for each placement policy.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos, Share};

/// Readers reject other versions.
pub const MEMORY_SCHEMA: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemorySummary {
    /// [`MEMORY_SCHEMA`] at the time of writing.
    pub schema: u32,
    pub title: String,
    /// The conclusion, followed by the details.
    pub answer: Vec<String>,
    /// Placement policies, in display order.
    pub arms: Vec<MemoryArm>,
    pub moves: Vec<MemoryMove>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryArm {
    pub name: String,
    /// Fraction of accesses that fast memory served. Each machine has the same weight.
    pub hits: Option<Share>,
    pub vms: Vec<VmMemory>,
}

/// A machine under one policy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmMemory {
    pub name: String,
    pub hits: Option<Share>,
    pub looks: Vec<MemoryLook>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MemoryLook {
    /// Time since the first sample.
    pub at: Nanos,
    pub fast: Option<Bytes>,
    /// Fraction of the machine's accesses that fast memory served since the previous sample.
    pub hits: Option<Share>,
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryMove {
    /// Time since the first sample.
    pub at: Nanos,
    /// The machine, the sizes moved and the reason, as text.
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
