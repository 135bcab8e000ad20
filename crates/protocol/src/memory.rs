//! What an agent in a virtual machine does with the memory of its guest.

use samples::MachineCpu;
use serde::{Deserialize, Serialize};
use units::{Bytes, Nanos};

/// What it is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Begin to look for times in which the guest stands still, and fill memory that nobody else has with what is known:
    /// answered by [`MemoryReply::Done`].
    Watch,
    /// End it: answered by [`MemoryReply::Watched`].
    Watched,
    /// Take up to so much memory out of the guest's use: answered by [`MemoryReply::Taken`].
    Take { memory: Bytes },
    /// Give so much of it back to the guest's kernel, what was taken last first: answered by [`MemoryReply::Done`].
    GiveBack { memory: Bytes },
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
    Done,
}
