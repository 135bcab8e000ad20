//! Moves that were ordered and have not arrived. Must not know why they were ordered.

use serde::{Deserialize, Serialize};

use crate::tiers::Tiers;

/// Decisions without progress after which a move is given up.
const PATIENCE: u32 = 5;
/// Decisions for which a VM is then left alone.
const REST: u32 = 16;

/// How a VM's last move goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flight {
    /// Decisions without progress.
    stalled: u32,
    /// Decisions that the VM is still left alone.
    rest: u32,
}

/// Where a VM is on the way to what it was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    Grows,
    Shrinks,
    Rests,
}

/// Compares DRAM to the block: what is less than that is never moved.
pub(crate) fn direction(has: Tiers, told: Tiers, block: u64) -> Direction {
    match (has.fast.0, told.fast.0) {
        (has, told) if has.saturating_add(block) <= told => Direction::Grows,
        (has, told) if told.saturating_add(block) <= has => Direction::Shrinks,
        _ => Direction::Rests,
    }
}

impl Flight {
    /// One decision later; whether the move is given up.
    pub(crate) fn observe(&mut self, before: Tiers, has: Tiers, told: Tiers, block: u64) -> bool {
        self.rest = self.rest.saturating_sub(1);
        let arrived = direction(has, told, block) == Direction::Rests;
        let moved = before.fast.0.abs_diff(has.fast.0) >= block;
        self.stalled = if arrived || moved { 0 } else { self.stalled + 1 };
        if self.stalled < PATIENCE {
            return false;
        }
        *self = Self { stalled: 0, rest: REST };
        true
    }

    /// Whether the VM is left alone because it did not do what it was told.
    pub(crate) fn rests(self) -> bool {
        self.rest > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn fast(fast: u64) -> Tiers {
        Tiers { fast: Bytes(fast), slow: Bytes(0) }
    }

    #[test]
    fn a_move_is_given_up_after_five_decisions_without_progress() {
        let mut flight = Flight::default();
        let given_up: Vec<bool> = (0..6).map(|_| flight.observe(fast(40), fast(40), fast(20), 2)).collect();
        assert_eq!(given_up, [false, false, false, false, true, false]);
        assert!(flight.rests());
    }

    #[test]
    fn a_slow_move_is_waited_for() {
        let mut flight = Flight::default();
        for has in (22..60).rev().step_by(2) {
            assert!(!flight.observe(fast(has + 2), fast(has), fast(20), 2));
        }
    }
}
