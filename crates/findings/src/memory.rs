//! Fast memory of virtual machines over time, and the share of their accesses that it served: recorded of machines that run, or of
//! guests whose accesses are known, by each way of sharing it out.

use schemars::JsonSchema;
use serde::Serialize;
use units::{Bytes, Nanos, Share};

/// The version of [`MemorySummary`]'s shape. A reader refuses another one.
pub const MEMORY_SCHEMA: u32 = 1;

/// What a page of it shows.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemorySummary {
    /// [`MEMORY_SCHEMA`] when it was written.
    pub schema: u32,
    pub title: String,
    /// The answer first, then what it rests on.
    pub answer: Vec<String>,
    /// How many times as long an access of slow memory is stated to take; `None` where nothing is stated.
    pub slow_cost: Option<f64>,
    /// Ways of sharing fast memory out, in the order in which they are to be shown.
    pub arms: Vec<MemoryArm>,
    /// What was moved, and why.
    pub moves: Vec<MemoryMove>,
}

/// A way of sharing fast memory out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryArm {
    pub name: String,
    /// Share of all accesses that fast memory served, each machine alike.
    pub hits: Option<Share>,
    /// From equal parts to the optimum.
    pub way: Option<Share>,
    pub vms: Vec<VmMemory>,
}

/// A machine under it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct VmMemory {
    pub name: String,
    pub hits: Option<Share>,
    /// How many times as long an access takes as with fast memory alone, as far as [`MemorySummary::slow_cost`] says.
    pub slowdown: Option<f64>,
    pub looks: Vec<MemoryLook>,
}

/// A machine at a time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MemoryLook {
    /// Since the first look.
    pub at: Nanos,
    pub fast: Option<Bytes>,
    /// Share of its accesses since the look before that fast memory served.
    pub hits: Option<Share>,
}

/// A move.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct MemoryMove {
    /// Since the first look.
    pub at: Nanos,
    /// Which machine, from what to what, and why.
    pub what: String,
}

impl VmMemory {
    /// Its mean over all looks, and what follows from it where an access of slow memory takes `slow_cost` times as long.
    #[must_use]
    pub fn of(name: String, looks: Vec<MemoryLook>, slow_cost: Option<f64>) -> Self {
        let hits = mean(looks.iter().filter_map(|look| look.hits));
        let slowdown = hits.zip(slow_cost).map(|(Share(hits), cost)| hits + (1.0 - hits) * cost);
        Self { name, hits, slowdown, looks }
    }
}

impl MemoryArm {
    #[must_use]
    pub fn of(name: &str, vms: Vec<VmMemory>) -> Self {
        Self { name: name.to_owned(), hits: mean(vms.iter().filter_map(|vm| vm.hits)), way: None, vms }
    }
}

fn mean(shares: impl Iterator<Item = Share>) -> Option<Share> {
    let (sum, count) = shares.fold((0.0, 0_u32), |(sum, count), share| (sum + share.0, count + 1));
    (count > 0).then(|| Share(sum / f64::from(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slowdown_follows_from_what_fast_memory_served() {
        let look = |hits: Option<f64>| MemoryLook { at: Nanos(0), fast: None, hits: hits.map(Share) };
        let vm =
            |cost| VmMemory::of("web".to_owned(), vec![look(Some(0.8)), look(None), look(Some(0.6))], cost);
        assert_eq!(vm(None).slowdown, None);
        let told = vm(Some(3.0));
        assert!((told.slowdown.expect("it is known") - 1.6).abs() < 1e-9, "{told:?}");
        assert_eq!(VmMemory::of("db".to_owned(), vec![look(None)], Some(3.0)).slowdown, None);
    }
}
