//! The brake: a VM that comes under pressure after giving up DRAM gets the DRAM back and is not squeezed again for a
//! while.

use serde::{Deserialize, Serialize};
use units::Bytes;

/// A squeeze counts as recent for this many decisions, because PSI is an average over ten seconds.
const RECENT: u32 = 3;
/// Number of decisions without pressure before the next squeeze. It doubles if a squeeze causes pressure again, and
/// halves after a successful squeeze.
const FIRST_REST: u32 = 16;
const LONGEST_REST: u32 = 4096;

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Guard {
    floor: Bytes,
    rest: u32,
    length: u32,
    squeezed: Option<Squeeze>,
    /// The VM's need, inferred from its pressure.
    need: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Squeeze {
    from: Bytes,
    age: u32,
}

impl Guard {
    pub(crate) fn observe(&mut self, strained: bool) {
        match (self.squeezed, strained) {
            (Some(squeeze), true) => self.hold(squeeze.from),
            (Some(squeeze), false) if squeeze.age >= RECENT => {
                self.squeezed = None;
                self.length /= 2;
            }
            (Some(squeeze), false) => self.squeezed = Some(Squeeze { age: squeeze.age + 1, ..squeeze }),
            (None, _) => {}
        }
        if !strained {
            self.rest = self.rest.saturating_sub(1);
        }
        if self.rest == 0 {
            (self.floor, self.need) = (Bytes(0), Bytes(0));
        }
    }

    fn hold(&mut self, floor: Bytes) {
        self.squeezed = None;
        self.length = (self.length * 2).clamp(FIRST_REST, LONGEST_REST);
        (self.rest, self.floor) = (self.length, self.floor.max(floor));
    }

    pub(crate) fn squeeze(&mut self, from: Bytes) {
        self.squeezed = Some(Squeeze { from, age: 0 });
    }

    pub(crate) fn spare(&mut self) {
        self.squeezed = None;
    }

    pub(crate) fn lift(&mut self, need: Bytes) {
        self.need = self.need.max(need);
        self.rest = self.rest.max(FIRST_REST);
    }

    pub(crate) fn floor(&self) -> Bytes {
        self.floor
    }

    pub(crate) fn need(&self) -> Bytes {
        self.need
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(guard: &mut Guard) -> usize {
        guard.squeeze(Bytes(8));
        guard.observe(true);
        let mut decisions = 0;
        while guard.floor() > Bytes(0) {
            assert_eq!(guard.floor(), Bytes(8));
            guard.observe(false);
            decisions += 1;
        }
        decisions
    }

    #[test]
    fn squeeze_with_pressure_doubles_the_rest() {
        let mut guard = Guard::default();
        let rests: Vec<usize> = (0..4).map(|_| rest(&mut guard)).collect();
        assert_eq!(rests, [16, 32, 64, 128]);
    }

    #[test]
    fn successful_squeezes_shorten_the_next_rest() {
        let mut guard = Guard::default();
        let _ = (rest(&mut guard), rest(&mut guard));
        guard.squeeze(Bytes(8));
        (0..5).for_each(|_| guard.observe(false));
        assert_eq!(rest(&mut guard), 32);
    }

    #[test]
    fn late_pressure_is_not_attributed_to_a_squeeze() {
        let mut guard = Guard::default();
        guard.squeeze(Bytes(8));
        (0..5).for_each(|_| guard.observe(false));
        guard.observe(true);
        assert_eq!(guard.floor(), Bytes(0));
    }
}
