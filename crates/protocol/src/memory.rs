//! Memory operations of an agent in a virtual machine.

use samples::MachineCpu;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOrder {
    /// Write to each page of this much memory, then free it. Reply: [`MemoryReply::Touched`].
    Touch { memory: Bytes },
    /// Write to nearly all free pages, then free them. Reply: [`MemoryReply::Touched`].
    TouchFree,
    /// The same, but hold the memory until [`MemoryOrder::Release`], so that all free memory is memory freed from now
    /// on.
    Hold,
    /// Free held memory. Reply: [`MemoryReply::Done`].
    Release,
    /// Start to detect stalls of the guest, and fill free memory with a known pattern. With `compact`, also make the
    /// kernel compact its memory repeatedly. Reply: [`MemoryReply::Done`].
    Watch {
        #[serde(default)]
        compact: bool,
    },
    /// Stop it. Reply: [`MemoryReply::Watched`].
    Watched,
    /// Take up to this much memory out of use by the guest. Reply: [`MemoryReply::Taken`].
    Take { memory: Bytes },
    /// Return this much of it to the guest's kernel, most recent first. Reply: [`MemoryReply::Done`].
    GiveBack { memory: Bytes },
    /// Report the use of memory since the previous request, or start monitoring. Reply: [`MemoryReply::Telemetry`].
    Telemetry { source: AccessSourceKind },
}

/// How memory accesses are detected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessSourceKind {
    /// The best available source: DAMON, then MGLRU.
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
    /// Duration of the writes.
    Touched {
        took: Nanos,
    },
    Watched {
        /// Longest delay of a thread beyond its sleeps of 4 ms.
        longest_stall: Nanos,
        /// Memory filled with the pattern.
        guarded: Bytes,
        /// Part of it with other content now.
        damaged: Bytes,
        /// CPU time of the guest.
        machine: MachineCpu,
    },
    /// Guest-physical addresses of blocks of 2 MiB, in the order in which they were taken. Fewer than requested if the
    /// guest has no more contiguous free memory.
    Taken {
        blocks: Vec<u64>,
    },
    Telemetry(MemoryTelemetry),
    Done,
}

/// State of a guest's memory, and its use since the previous telemetry.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryTelemetry {
    /// Time since the previous telemetry; zero for the first.
    pub elapsed: Nanos,
    /// Source of accesses, `None` without one, and the reason for missing accesses.
    pub source: AccessSourceKind,
    pub no_accesses_reason: Option<String>,
    pub nodes: Vec<NodeTelemetry>,
    pub available: Bytes,
    pub swap_used: Bytes,
    /// Pages read back after eviction, from files and swap.
    pub refaults: u64,
    /// Time in which some task waited for memory (PSI `some`).
    pub stalled: Option<Nanos>,
    /// CPU time for monitoring, of the agent and of the kernel thread.
    pub cost: Nanos,
}

/// A NUMA node of a guest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTelemetry {
    pub node: u32,
    pub size: Bytes,
    pub free: Bytes,
    /// Accesses by class; empty if unknown.
    pub accesses: Vec<AccessClass>,
}

/// Memory with about the same access frequency.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessClass {
    pub bytes: Bytes,
    /// Accesses to all of it, in units of the source.
    pub accesses: u64,
}
