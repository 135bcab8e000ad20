//! Memory operations of an agent in a virtual machine.

use samples::MachineCpu;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOrder {
    /// Write to each page of this much memory, then free it.
    Touch { memory: Bytes },
    /// Write to nearly all free pages, then free them.
    TouchFree,
    /// The same, but hold the memory until [`MemoryOrder::Release`].
    Hold,
    /// Free held memory.
    Release,
    /// Start to detect stalls of the guest, and fill free memory with a known pattern. With `compact`, also make the kernel
    /// compact its memory repeatedly.
    Watch {
        #[serde(default)]
        compact: bool,
    },
    /// Stop watching. Reply: [`MemoryReply::Watched`].
    Watched,
    /// Take up to this much memory out of use by the guest.
    Take { memory: Bytes },
    /// Return this much memory to the guest, most recent first.
    GiveBack { memory: Bytes },
    /// Report the use of memory since the previous request; the first starts monitoring.
    Telemetry { source: AccessSourceKind },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessSourceKind {
    /// DAMON, then MGLRU.
    #[default]
    Auto,
    /// The guest kernel's data access monitor on physical memory (admin-guide/mm/damon in Linux): access counts.
    Damon,
    /// Generations of the multi-generational LRU (admin-guide/mm/multigen_lru.rst): touched memory.
    Mglru,
    /// Accessed bits of the virtual machine's process on the host: touched memory, without help from the guest.
    Referenced,
    None,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryReply {
    Touched {
        took: Nanos,
    },
    Watched {
        /// The longest delay of a thread beyond its sleeps of 4 ms.
        longest_stall: Nanos,
        /// Memory filled with the pattern.
        guarded: Bytes,
        /// Guarded memory with changed content.
        damaged: Bytes,
        machine: MachineCpu,
    },
    /// Guest-physical addresses of blocks of 2 MiB, in the order in which they were taken. Fewer than requested if the guest
    /// has no more contiguous free memory.
    Taken {
        blocks: Vec<u64>,
    },
    Telemetry(MemoryTelemetry),
    Done,
}

/// Accesses are since the previous telemetry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryTelemetry {
    /// Zero for the first.
    pub elapsed: Nanos,
    /// `None` without a source.
    pub source: AccessSourceKind,
    pub no_accesses_reason: Option<String>,
    pub nodes: Vec<NodeTelemetry>,
    pub available: Bytes,
    pub swap_used: Bytes,
    /// Pages read back after eviction, from files and swap.
    pub refaults: u64,
    /// PSI `some`.
    pub stalled: Option<Nanos>,
    /// CPU time of the agent and of the kernel thread.
    pub cost: Nanos,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTelemetry {
    pub node: u32,
    pub size: Bytes,
    pub free: Bytes,
    /// Empty if unknown.
    pub accesses: Vec<AccessClass>,
}

/// About the same access frequency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessClass {
    pub bytes: Bytes,
    pub accesses: u64,
}
