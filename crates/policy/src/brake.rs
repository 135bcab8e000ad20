//! The brake: a VM that came under pressure after it gave DRAM gets it back, and is not asked again for a while. Must not
//! know what pressure is measured by, nor other VMs.

use serde::{Deserialize, Serialize};
use units::Bytes;

/// Pressure within so many decisions after a squeeze is put down to it: PSI is an average over ten seconds.
const RECENT: u32 = 3;
/// Decisions without pressure for which a VM is left alone after that. Doubled whenever the next squeeze ends like the last,
/// so that under a constant load the attempts become ever rarer; halved when one goes well.
const FIRST_REST: u32 = 16;
const LONGEST_REST: u32 = 4096;

/// What a VM is guarded by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Guard {
    /// It is not squeezed below this while it rests.
    floor: Bytes,
    /// Decisions that the rest still lasts.
    rest: u32,
    /// Decisions that the last rest lasted.
    length: u32,
    squeezed: Option<Squeeze>,
    /// What pressure says that a VM needs of whose accesses nothing is known.
    need: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Squeeze {
    /// What it had before.
    from: Bytes,
    age: u32,
}

impl Guard {
    /// One decision later.
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

    /// It is asked for DRAM.
    pub(crate) fn squeeze(&mut self, from: Bytes) {
        self.squeezed = Some(Squeeze { from, age: 0 });
    }

    /// It was not asked after all.
    pub(crate) fn spare(&mut self) {
        self.squeezed = None;
    }

    /// It is short of memory, and nothing but that is known of its need.
    pub(crate) fn lift(&mut self, need: Bytes) {
        self.need = self.need.max(need);
        self.rest = self.rest.max(FIRST_REST);
    }

    /// What it is not squeezed below.
    pub(crate) fn floor(&self) -> Bytes {
        self.floor
    }

    /// See [`Self::lift`]; 0 where there is no such need.
    pub(crate) fn need(&self) -> Bytes {
        self.need
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decisions from pressure, which follows a squeeze from 8, until the VM may be squeezed again.
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
    fn each_squeeze_that_ends_in_pressure_doubles_the_rest() {
        let mut guard = Guard::default();
        let rests: Vec<usize> = (0..4).map(|_| rest(&mut guard)).collect();
        assert_eq!(rests, [16, 32, 64, 128]);
    }

    #[test]
    fn squeezes_that_go_well_shorten_the_next_rest() {
        let mut guard = Guard::default();
        let _ = (rest(&mut guard), rest(&mut guard));
        guard.squeeze(Bytes(8));
        (0..5).for_each(|_| guard.observe(false));
        assert_eq!(rest(&mut guard), 32);
    }

    #[test]
    fn pressure_long_after_a_squeeze_is_not_put_down_to_it() {
        let mut guard = Guard::default();
        guard.squeeze(Bytes(8));
        (0..5).for_each(|_| guard.observe(false));
        guard.observe(true);
        assert_eq!(guard.floor(), Bytes(0));
    }
}
