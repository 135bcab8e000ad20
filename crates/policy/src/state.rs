//! The state between decisions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use units::{Bytes, Share};

use crate::{
    brake::Guard,
    curve::Curve,
    estimate::Estimate,
    flight::{Direction, Flight},
    observation::{GuestReport, Report},
    settings::{Settings, VmSettings},
    tiers::Tiers,
};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    vms: BTreeMap<String, VmState>,
    short: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct VmState {
    pub(crate) has: Tiers,
    pub(crate) ordered: Tiers,
    pub(crate) estimate: Option<Estimate>,
    pub(crate) guard: Guard,
    pub(crate) flight: Flight,
    pub(crate) growing: bool,
    pub(crate) last: Option<Direction>,
}

impl State {
    pub(crate) fn vm(&self, name: &str) -> Option<&VmState> {
        self.vms.get(name)
    }

    pub(crate) fn vm_mut(&mut self, name: &str) -> Option<&mut VmState> {
        self.vms.get_mut(name)
    }

    pub(crate) fn is_short(&self) -> bool {
        self.short
    }

    pub(crate) fn set_short(&mut self, short: bool) {
        if self.short != short {
            self.vms.values_mut().for_each(|vm| vm.last = None);
        }
        self.short = short;
    }

    pub(crate) fn keep(&mut self, settings: &Settings) {
        self.vms.retain(|name, _| settings.vms.iter().any(|vm| vm.name == *name));
    }

    pub(crate) fn observe(
        &mut self,
        seen: Report<'_>,
        vm: &VmSettings,
        settings: &Settings,
    ) -> Option<Tiers> {
        let state = self.vms.entry(vm.name.clone()).or_insert_with(|| VmState::new(seen.has));
        let before = state.has;
        state.has = seen.has;
        let guest = seen.guest?;
        state.learn(guest, vm, settings);
        state.brake(guest, vm, settings);
        let asked = state.ordered;
        let given_up = state.flight.observe(before, seen.has, asked, settings.block.0);
        if given_up {
            (state.ordered, state.growing) = (seen.has, false);
        }
        given_up.then_some(asked)
    }
}

impl VmState {
    fn new(has: Tiers) -> Self {
        let (guard, flight) = (Guard::default(), Flight::default());
        Self { has, ordered: has, estimate: None, guard, flight, growing: false, last: None }
    }

    fn learn(&mut self, guest: &GuestReport, vm: &VmSettings, settings: &Settings) {
        let (Share(smoothing), Share(headroom)) = (settings.smoothing, settings.headroom);
        let newest = guest.accesses.as_deref().and_then(Curve::of);
        match (&mut self.estimate, newest) {
            (Some(estimate), Some(newest)) => {
                if estimate.learn(newest, vm.target.0, headroom, smoothing) {
                    self.last = None;
                }
            }
            (None, Some(newest)) => self.estimate = Some(Estimate::new(newest, vm.target.0)),
            (estimate, None) => *estimate = estimate.take().and_then(Estimate::older),
        }
        if let (Some(estimate), Some(Share(served))) = (&mut self.estimate, guest.dram_hits) {
            let idle = guest.idle.unwrap_or_default().0 as f64;
            estimate.learn_placement(self.has.fast.0 as f64, served, idle, vm.target.0, smoothing);
        }
    }

    fn brake(&mut self, guest: &GuestReport, vm: &VmSettings, settings: &Settings) {
        let strained = guest.is_strained(&settings.brake);
        self.guard.observe(strained);
        // Pressure concerns all of the VM's memory. It indicates a need for DRAM only if there is no estimate or the VM
        // lacks memory.
        let short = self.has.total().0.saturating_add(settings.block.0) <= vm.memory.0;
        if strained && (self.estimate.is_none() || short) {
            self.guard.lift(Bytes(self.has.fast.0.saturating_add(settings.step_of(vm)).min(vm.most_fast())));
        }
    }
}
