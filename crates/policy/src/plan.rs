//! The target memory of each VM. This decision and later ones move towards it.

use std::collections::BTreeMap;

use units::{Bytes, Share};

use crate::{
    allocation::{Claim, Level},
    curve::Curve,
    flight::{self, Direction},
    moves::{Basis, Outlook},
    observation::{GuestReport, Report},
    settings::{Settings, VmSettings},
    state::{State, VmState},
    tiers::Tiers,
};

/// A VM keeps this margin above its goal, in standard errors.
const TO_KEEP: f64 = 3.0;
/// To get DRAM, a VM must be this far below its need, in standard errors. The margin is larger in a shortage, because
/// other VMs lack DRAM too.
const TO_ASK: f64 = 1.5;
const TO_ASK_IN_SHORTAGE: f64 = 3.0;

pub(crate) type Reports<'a> = BTreeMap<&'a str, Report<'a>>;

#[derive(Debug, Clone)]
pub(crate) struct Candidate<'a> {
    pub(crate) vm: &'a VmSettings,
    pub(crate) has: Tiers,
    pub(crate) ordered: Tiers,
    curve: Curve,
    pub(crate) claim: Claim,
    pub(crate) basis: Basis,
    pub(crate) strained: bool,
    pub(crate) guarded: u64,
    pub(crate) flight: Direction,
    pub(crate) goal: u64,
    pub(crate) keeps: u64,
    pub(crate) below: bool,
    pub(crate) growing: bool,
}

#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) candidates: Vec<Candidate<'a>>,
    silent: Vec<(&'a VmSettings, Option<Tiers>)>,
    pub(crate) level: Level,
    pub(crate) missing: u64,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(settings: &'a Settings, state: &State, reports: &Reports<'_>) -> Self {
        let (mut candidates, mut silent) = (Vec::new(), Vec::new());
        for vm in &settings.vms {
            let guest = reports.get(vm.name.as_str()).and_then(|seen| seen.guest);
            match (state.vm(&vm.name), guest) {
                (Some(known), Some(guest)) => candidates.push(Candidate::new(vm, known, guest, settings)),
                (known, _) => silent.push((vm, known.map(|known| known.has.max(known.ordered)))),
            }
        }
        let held: Bytes = silent.iter().map(|(vm, has)| has.unwrap_or(vm.ceiling).fast).sum();
        let capacity = settings.capacity.fast.0.saturating_sub(held.0);
        let claims: Vec<Claim> = candidates.iter().map(|candidate| candidate.claim).collect();
        let level = Level::highest(&claims, capacity as f64, settings.headroom.0, state.is_short());
        let needs = claims.iter().map(Claim::bounded_need).sum::<f64>() as u64;
        for candidate in &mut candidates {
            candidate.aim(level, settings, state);
        }
        Self { candidates, silent, level, missing: needs.saturating_sub(capacity) }
    }

    pub(crate) fn outlooks(&self) -> Vec<Outlook> {
        let silent = self.silent.iter().map(|(vm, has)| Outlook {
            vm: vm.name.clone(),
            has: has.unwrap_or(vm.ceiling),
            served: None,
            needs: None,
            goal: None,
            basis: Basis::Silent,
        });
        self.candidates.iter().map(Candidate::outlook).chain(silent).collect()
    }
}

impl<'a> Candidate<'a> {
    fn new(vm: &'a VmSettings, state: &VmState, guest: &GuestReport, settings: &Settings) -> Self {
        let strained = guest.is_strained(&settings.brake);
        let most = vm.most_fast();
        let has = state.has.fast.0.clamp(vm.floor.fast.0, most);
        let guarded = state.guard.floor().0.max(if strained { has } else { 0 }).min(most);
        let known = (!state.flight.rests()).then(|| basis(vm, state, guest)).flatten();
        let (floor, ceiling) = match known {
            Some(_) => (vm.floor.fast.0.max(guarded), most),
            // A VM that sends no data or ignores requests keeps its memory.
            None => (has, has),
        };
        let (curve, basis) = known.unwrap_or((Curve::uniform(1.0), Basis::Nothing));
        let need = curve.bytes(vm.target.0);
        let claim = Claim { need, weight: vm.weight, floor: floor as f64, ceiling: ceiling as f64 };
        let flight = flight::direction(state.has, state.ordered, settings.block.0);
        let (has, ordered) = (state.has, state.ordered);
        Self {
            vm,
            has,
            ordered,
            curve,
            claim,
            basis,
            strained,
            guarded,
            flight,
            goal: 0,
            keeps: 0,
            below: false,
            growing: false,
        }
    }

    /// In a shortage, a VM counts as below its need only if it is below its goal by half of the headroom. Otherwise,
    /// noise would move memory back and forth.
    fn aim(&mut self, level: Level, settings: &Settings, state: &State) {
        let (Share(headroom), Share(smoothing)) = (settings.headroom, settings.smoothing);
        let (need, goal) = (self.claim.bounded_need(), self.claim.at(level, headroom));
        let state = state.vm(&self.vm.name);
        let estimate = state.and_then(|state| state.estimate.as_ref());
        let error = estimate.map_or(0.0, |estimate| estimate.uncertainty(headroom, smoothing));
        let last = estimate.and(state).and_then(|state| state.last);
        let turn = |from: Direction| if last == Some(from) { headroom / 2.0 } else { 0.0 };
        let kept = if goal < need { 0.0 } else { TO_KEEP * error };
        let (low, asked) = if level.is_short() {
            (need.min(goal / (1.0 + headroom / 2.0)), TO_ASK_IN_SHORTAGE)
        } else {
            (need, TO_ASK)
        };
        self.goal = goal.ceil() as u64;
        // Removes DRAM above the ceiling, however uncertain the estimate is.
        let keeps = (goal * (1.0 + kept + turn(Direction::Grows))).ceil() as u64;
        self.keeps = keeps.min(self.vm.most_fast());
        let misses = !level.is_short() && estimate.is_some_and(|estimate| estimate.misses(self.vm.target.0));
        self.below =
            misses || (self.has.fast.0 as f64) < low * (1.0 - asked * error - turn(Direction::Shrinks));
        self.growing = self.below || state.is_some_and(|state| state.growing);
    }

    pub(crate) fn served(&self, fast: Bytes) -> Share {
        Share(self.curve.share(fast.0 as f64))
    }

    pub(crate) fn needs(&self) -> Bytes {
        Bytes(self.claim.bounded_need() as u64)
    }

    fn outlook(&self) -> Outlook {
        let known = self.basis != Basis::Nothing;
        Outlook {
            vm: self.vm.name.clone(),
            has: self.has,
            served: known.then(|| self.served(self.has.fast)),
            needs: known.then(|| self.needs()),
            goal: Some(Bytes(self.goal)),
            basis: self.basis,
        }
    }
}

fn basis(vm: &VmSettings, state: &VmState, guest: &GuestReport) -> Option<(Curve, Basis)> {
    let lifted = state.guard.need().0 as f64 / vm.target.0;
    if let Some(estimate) = &state.estimate {
        // The VM is under pressure without having all of its memory. The missing memory does not show up in its
        // accesses.
        let curve = estimate.curve();
        let basis = if curve.bytes(vm.target.0) < state.guard.need().0 as f64 {
            (Curve::uniform(lifted), Basis::Pressure)
        } else {
            (curve, Basis::Accesses)
        };
        return Some(basis);
    }
    let in_use = guest.available.map(|available| state.has.total().0.saturating_sub(available.0) as f64);
    match in_use {
        Some(in_use) if in_use >= lifted => Some((Curve::uniform(in_use), Basis::MemoryInUse)),
        _ if lifted > 0.0 => Some((Curve::uniform(lifted), Basis::Pressure)),
        _ => None,
    }
}
