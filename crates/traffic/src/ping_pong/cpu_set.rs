//! CPUs on which a thread ran.

use std::collections::BTreeSet;

/// CPUs of one or more threads.
#[derive(Debug, Default)]
pub(super) struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    /// Adds the current CPU of the calling thread; called a few times per second.
    pub(super) fn sample(&mut self) {
        self.0.insert(sys::affinity::current_cpu());
    }

    /// Adds those of another thread.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// In ascending order.
    pub(super) fn list(self) -> Vec<u32> {
        self.0.into_iter().collect()
    }
}
