//! Memory operations of an agent in a virtual machine.

use samples::MachineCpu;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOrder {
    /// Write to each page of this much memory, then free it.
    Touch {
        memory: Bytes,
    },
    /// Write to nearly all free pages, then free them.
    TouchFree,
    /// Like [`MemoryOrder::TouchFree`], but hold the memory until [`MemoryOrder::Release`].
    Hold,
    Release,
    /// Start detecting guest stalls, and fill free memory with a known pattern. With `compact`, also make the kernel
    /// compact its memory repeatedly.
    Watch {
        #[serde(default)]
        compact: bool,
    },
    /// Stop watching. Reply: [`MemoryReply::Watched`].
    Watched,
    /// Take up to this much memory from the guest.
    Take {
        memory: Bytes,
    },
    /// Return this much memory to the guest, starting with the most recently taken.
    GiveBack {
        memory: Bytes,
    },
    /// Report memory use since the previous request. The first request starts monitoring.
    Telemetry {
        source: AccessSourceKind,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessSourceKind {
    /// Use DAMON if it is available, otherwise MGLRU.
    #[default]
    Auto,
    /// Access counts of physical memory from DAMON, the kernel's data access monitor (admin-guide/mm/damon in
    /// Linux).
    Damon,
    /// Touched memory from the generations of the multi-generational LRU (admin-guide/mm/multigen_lru.rst).
    Mglru,
    /// Touched memory from the accessed bits of the virtual machine's process on the host.
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
        /// The longest delay of a thread that repeatedly sleeps for 4 ms.
        longest_stall: Nanos,
        /// Memory filled with the pattern.
        guarded: Bytes,
        damaged: Bytes,
        machine: MachineCpu,
    },
    /// Guest-physical addresses of the 2 MiB blocks taken, in order. There may be fewer than requested.
    Taken {
        blocks: Vec<u64>,
    },
    Telemetry(MemoryTelemetry),
    Done,
}

/// How a guest used its memory since the previous report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryTelemetry {
    /// Time since the previous report. Zero for the first.
    pub elapsed: Nanos,
    pub source: AccessSourceKind,
    pub no_accesses_reason: Option<String>,
    pub nodes: Vec<NodeMemory>,
    pub available: Bytes,
    pub swap_used: Bytes,
    /// Pages read back from files and swap after eviction.
    pub refaults: u64,
    pub stalled: Option<Nanos>,
    pub cost: Nanos,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeMemory {
    pub node: u32,
    /// Whether the host stores the node in slow memory. A guest does not know this, so a value from a guest is
    /// ignored.
    #[serde(default)]
    pub slow: bool,
    pub size: Bytes,
    pub free: Bytes,
    /// Memory grouped by number of accesses, in the source's unit. Empty if accesses were not counted.
    pub accesses: Vec<AccessClass>,
}

impl NodeMemory {
    #[must_use]
    pub fn accessed(&self) -> Bytes {
        self.accesses.iter().filter(|class| class.accesses > 0).map(|class| class.bytes).sum()
    }

    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses.iter().map(|class| class.accesses).sum()
    }
}

/// Memory accessed about equally often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessClass {
    pub bytes: Bytes,
    pub accesses: u64,
}
