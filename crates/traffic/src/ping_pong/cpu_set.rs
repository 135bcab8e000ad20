//! On which CPUs a thread was seen.

use std::collections::BTreeSet;

/// The CPUs of one thread, or of several.
#[derive(Debug, Default)]
pub(super) struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    /// Notes the CPU that the calling thread is on; a few times a second.
    pub(super) fn look(&mut self) {
        self.0.insert(sys::affinity::current_cpu());
    }

    /// Adds another thread's.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Ascending.
    pub(super) fn list(self) -> Vec<u32> {
        self.0.into_iter().collect()
    }
}
