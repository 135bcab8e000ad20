//! The set of CPUs on which a thread ran.

use std::collections::BTreeSet;

#[derive(Debug, Default)]
pub(super) struct CpuSet(BTreeSet<u32>);

impl CpuSet {
    pub(super) fn sample(&mut self) {
        self.0.insert(sys::affinity::current_cpu());
    }

    pub(super) fn and(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn list(self) -> Vec<u32> {
        self.0.into_iter().collect()
    }
}
