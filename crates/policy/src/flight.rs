//! Incomplete moves.

use serde::{Deserialize, Serialize};

use crate::tiers::Tiers;

/// A move is abandoned after this many decisions without progress.
const PATIENCE: u32 = 5;
const REST: u32 = 16;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Flight {
    stalled: u32,
    rest: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Direction {
    Grows,
    Shrinks,
    Rests,
}

/// Compares DRAM in whole blocks, because smaller amounts are never moved.
pub(crate) fn direction(has: Tiers, ordered: Tiers, block: u64) -> Direction {
    match (has.fast.0, ordered.fast.0) {
        (has, ordered) if has.saturating_add(block) <= ordered => Direction::Grows,
        (has, ordered) if ordered.saturating_add(block) <= has => Direction::Shrinks,
        _ => Direction::Rests,
    }
}

impl Flight {
    pub(crate) fn observe(&mut self, before: Tiers, has: Tiers, ordered: Tiers, block: u64) -> bool {
        self.rest = self.rest.saturating_sub(1);
        let arrived = direction(has, ordered, block) == Direction::Rests;
        let moved = before.fast.0.abs_diff(has.fast.0) >= block;
        self.stalled = if arrived || moved { 0 } else { self.stalled + 1 };
        if self.stalled < PATIENCE {
            return false;
        }
        *self = Self { stalled: 0, rest: REST };
        true
    }

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
    fn abandons_move_after_five_decisions_without_progress() {
        let mut flight = Flight::default();
        let given_up: Vec<bool> = (0..6).map(|_| flight.observe(fast(40), fast(40), fast(20), 2)).collect();
        assert_eq!(given_up, [false, false, false, false, true, false]);
        assert!(flight.rests());
    }

    #[test]
    fn waits_for_a_slow_move() {
        let mut flight = Flight::default();
        for has in (22..60).rev().step_by(2) {
            assert!(!flight.observe(fast(has + 2), fast(has), fast(20), 2));
        }
    }
}
