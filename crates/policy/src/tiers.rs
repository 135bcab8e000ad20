//! Amounts of memory in each tier.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::Bytes;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiers {
    pub fast: Bytes,
    /// CXL, persistent memory, or another socket's memory.
    pub slow: Bytes,
}

impl Tiers {
    #[must_use]
    pub fn total(self) -> Bytes {
        self.fast + self.slow
    }

    pub(crate) fn max(self, other: Self) -> Self {
        Self { fast: self.fast.max(other.fast), slow: self.slow.max(other.slow) }
    }
}

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of DRAM and {} of slow memory", self.fast, self.slow)
    }
}
