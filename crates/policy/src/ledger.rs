//! What is really free in each tier. Must not know who gets it.

use crate::{settings::Settings, state::State, tiers::Tiers};

/// What may be handed out now.
///
/// A VM counts with what it has or what it was told, whichever is more: what it was told to give is not free before it
/// gave it, and what it was told to take is not free any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) fast: u64,
    pub(crate) slow: u64,
    /// DRAM that the VMs have beyond what there is to share out.
    pub(crate) over: u64,
}

impl Ledger {
    pub(crate) fn of(settings: &Settings, state: &State) -> Self {
        let mut taken = Tiers::default();
        for vm in &settings.vms {
            // One that was never seen might have all that it may.
            let counted = state.vm(&vm.name).map_or(vm.ceiling, |state| state.has.max(state.told));
            taken = Tiers { fast: taken.fast + counted.fast, slow: taken.slow + counted.slow };
        }
        let has: u64 = settings.vms.iter().filter_map(|vm| Some(state.vm(&vm.name)?.has.fast.0)).sum();
        Self {
            over: has.saturating_sub(settings.capacity.fast.0),
            fast: settings.capacity.fast.0.saturating_sub(taken.fast.0),
            slow: settings.capacity.slow.0.saturating_sub(taken.slow.0),
        }
    }

    /// All of it, or as many whole blocks as there are.
    pub(crate) fn take_fast(&mut self, wanted: u64, block: u64) -> u64 {
        let taken = if wanted <= self.fast { wanted } else { self.fast / block * block };
        self.fast -= taken;
        taken
    }

    /// As much of it as there is.
    pub(crate) fn take_slow(&mut self, most: u64) -> u64 {
        let taken = most.min(self.slow);
        self.slow -= taken;
        taken
    }
}
