//! An amount in each tier of memory. Must not know what it is an amount of.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::Bytes;

/// An amount of memory in each tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tiers {
    /// DRAM.
    pub fast: Bytes,
    /// Slow memory: CXL, persistent memory, another socket's.
    pub slow: Bytes,
}

impl Tiers {
    /// In both tiers together.
    #[must_use]
    pub fn total(self) -> Bytes {
        self.fast + self.slow
    }

    /// The greater of two amounts, by tier.
    pub(crate) fn max(self, other: Self) -> Self {
        Self { fast: self.fast.max(other.fast), slow: self.slow.max(other.slow) }
    }
}

impl fmt::Display for Tiers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of DRAM and {} of slow memory", self.fast, self.slow)
    }
}
