//! What an agent in a virtual machine does with the memory of its guest.

use samples::MachineCpu;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// What it is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOrder {
    /// Write to every page of so much memory, and give it back to the guest's kernel: answered by [`MemoryReply::Touched`].
    Touch { memory: Bytes },
    /// Write to every page that is free, but for a little, and give all back: answered by [`MemoryReply::Touched`].
    TouchFree,
    /// The same, but keep it until [`MemoryOrder::Release`]: what becomes free from now on is all that is.
    Hold,
    /// Give back what is held: answered by [`MemoryReply::Done`].
    Release,
    /// Begin to look for times in which the guest stands still, and fill memory that nobody else has with what is known; with
    /// `compact` also have the kernel compact its memory, again and again until the end: answered by [`MemoryReply::Done`].
    Watch {
        #[serde(default)]
        compact: bool,
    },
    /// End it: answered by [`MemoryReply::Watched`].
    Watched,
    /// Take up to so much memory out of the guest's use: answered by [`MemoryReply::Taken`].
    Take { memory: Bytes },
    /// Give so much of it back to the guest's kernel, what was taken last first: answered by [`MemoryReply::Done`].
    GiveBack { memory: Bytes },
    /// Tell how the memory was used since the order before, or begin to look: answered by [`MemoryReply::Telemetry`].
    Telemetry { source: AccessSourceKind },
    /// Access memory by a known pattern, in a process of its own, or go over to another pattern: answered by
    /// [`MemoryReply::Done`].
    Pattern { pattern: AccessPattern },
    /// Tell what that process has accessed since the order before: answered by [`MemoryReply::Accessed`].
    Accessed,
}

/// What tells which memory is accessed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessSourceKind {
    /// The best that there is: DAMON before the generations of pages.
    #[default]
    Auto,
    /// Data access monitoring of physical memory by the guest's kernel (admin-guide/mm/damon of Linux): counts.
    Damon,
    /// The generations of the multi-generational LRU (admin-guide/mm/multigen_lru.rst): memory that was touched.
    Mglru,
    /// Accessed bits of the machine's process on the host: memory that was touched, without a guest's help.
    Referenced,
    None,
}

/// Memory that a program accesses by a pattern that is known. Its pages are ranked by how often it accesses them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct AccessPattern {
    /// All of it.
    pub memory: Bytes,
    pub shape: PatternShape,
    /// Accesses a second, as far as the machine goes.
    pub rate: u64,
    /// The node that the program keeps its hottest pages on, as far as that has room; `None`: where the kernel puts them.
    pub prefers: Option<u32>,
}

/// Which pages are accessed how often.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PatternShape {
    /// So much of the memory gets this share of the accesses, the rest the others, each alike.
    TwoLevel { hot: Bytes, share: f64 },
    /// The page of rank k in proportion to 1 / k^exponent.
    Zipf { exponent: f64 },
    /// All in turn.
    Scan,
}

/// Its answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryReply {
    /// What the touching took.
    Touched {
        took: Nanos,
    },
    Watched {
        /// The longest time for which a thread did not run that sleeps 4 ms at a time, beyond that.
        longest_stall: Nanos,
        /// What was filled.
        guarded: Bytes,
        /// What of it holds something else now.
        damaged: Bytes,
        /// The guest's CPU time meanwhile.
        machine: MachineCpu,
    },
    /// Where each block of 2 MiB begins in the guest's physical memory, in the order in which they were taken. They are fewer
    /// than asked for where the guest has no more free memory in one piece.
    Taken {
        blocks: Vec<u64>,
    },
    Telemetry(MemoryTelemetry),
    /// Accesses of the known pattern.
    Accessed {
        accessed: Vec<NodeAccesses>,
        hottest: Vec<AccessClass>,
    },
    Done,
}

/// How a guest's memory is, and how it was used since the telemetry before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryTelemetry {
    /// Since the telemetry before; zero of the first.
    pub elapsed: Nanos,
    /// Source of accesses, `None` without one, and the reason for missing accesses.
    pub source: AccessSourceKind,
    pub no_accesses_because: Option<String>,
    /// NUMA nodes that have memory.
    pub nodes: Vec<NodeTelemetry>,
    /// What could be handed out without swapping.
    pub available: Bytes,
    pub swap_used: Bytes,
    /// Pages read back after they had been evicted, from files and from swap.
    pub refaults: u64,
    /// Time in which some task waited for memory (PSI `some`).
    pub stalled: Option<Nanos>,
    /// CPU time that looking took, of the agent and of the kernel's thread that monitors.
    pub cost: Nanos,
}

/// A NUMA node of a guest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTelemetry {
    pub node: u32,
    pub size: Bytes,
    pub free: Bytes,
    /// What was accessed of it; empty where nothing is known of accesses.
    pub accesses: Vec<AccessClass>,
}

/// Memory that is accessed about equally often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessClass {
    pub bytes: Bytes,
    /// On all of it, in a unit of the source's own.
    pub accesses: u64,
}

/// Accesses that a node served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeAccesses {
    pub node: u32,
    pub accesses: u64,
    /// Memory of the program's on it.
    pub bytes: Bytes,
}
