//! The free memory in each tier.

use crate::{settings::Settings, state::State, tiers::Tiers};

/// A VM occupies the maximum of its current and its ordered memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) fast: u64,
    pub(crate) slow: u64,
    pub(crate) over: u64,
}

impl Ledger {
    pub(crate) fn of(settings: &Settings, state: &State) -> Self {
        let mut taken = Tiers::default();
        for vm in &settings.vms {
            // A VM that was never observed may occupy up to its ceiling.
            let counted = state.vm(&vm.name).map_or(vm.ceiling, |state| state.has.max(state.ordered));
            taken = Tiers { fast: taken.fast + counted.fast, slow: taken.slow + counted.slow };
        }
        let has: u64 = settings.vms.iter().filter_map(|vm| Some(state.vm(&vm.name)?.has.fast.0)).sum();
        Self {
            over: has.saturating_sub(settings.capacity.fast.0),
            fast: settings.capacity.fast.0.saturating_sub(taken.fast.0),
            slow: settings.capacity.slow.0.saturating_sub(taken.slow.0),
        }
    }

    pub(crate) fn take_fast(&mut self, wanted: u64, block: u64) -> u64 {
        let taken = if wanted <= self.fast { wanted } else { self.fast / block * block };
        self.fast -= taken;
        taken
    }

    pub(crate) fn take_slow(&mut self, most: u64) -> u64 {
        let taken = most.min(self.slow);
        self.slow -= taken;
        taken
    }
}
