//! A single decision: observe, plan, determine free memory, squeeze, grow.

use std::collections::BTreeSet;

use units::Bytes;

use crate::{
    flight::{self, Direction},
    grow,
    ledger::Ledger,
    moves::{Decision, Move, Reason},
    observation::{Observation, Report, ReportError},
    plan::{Plan, Reports},
    settings::Settings,
    settings_error::SettingsError,
    squeeze::{self, Demand},
    state::State,
};

#[derive(Debug, Clone, PartialEq)]
pub struct Rebalancer {
    settings: Settings,
    state: State,
}

impl Rebalancer {
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        Self::resume(settings, State::default())
    }

    pub fn resume(settings: Settings, mut state: State) -> Result<Self, SettingsError> {
        settings.check()?;
        state.keep(&settings);
        Ok(Self { settings, state })
    }

    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    pub fn withdraw(&mut self, moves: &[Move]) {
        for order in moves {
            if let Some(state) = self.state.vm_mut(&order.vm) {
                (state.ordered, state.last) = (order.from, None);
                state.guard.spare();
            }
        }
    }

    /// VMs without an observation are treated as silent and retain their memory.
    pub fn decide(&mut self, observations: &[Observation]) -> Decision {
        let Self { settings, state } = self;
        let (reports, refused) = usable(settings, observations);
        let mut moves = observe(settings, state, &reports);
        let given_up: BTreeSet<String> = moves.iter().map(|stalled| stalled.vm.clone()).collect();

        let plan = Plan::new(settings, state, &reports);
        let mut ledger = Ledger::of(settings, state);
        let wants = grow::wants(&plan, settings);
        let reserve = if plan.level.is_full() { settings.reserve.0 } else { 0 };
        let wanted = Demand::of(&wants, reserve, ledger.over);
        let squeezes = squeeze::squeezes(&plan, settings, &mut ledger, &wanted);
        let grows = grow::grows(&wants, settings, &mut ledger);
        moves.extend(squeezes.into_iter().chain(grows).filter(|order| !given_up.contains(&order.vm)));
        moves.extend(restored(&plan, settings, &mut ledger, &moves));

        let (outlooks, missing) = (plan.outlooks(), Bytes(plan.missing));
        remember(&plan, settings, state, &moves);
        Decision { moves, outlooks, missing, refused }
    }

    /// Distributes memory freed within the same interval to VMs that `decision` does not change.
    pub fn hand_out(&mut self, observations: &[Observation], decision: &Decision) -> Vec<Move> {
        let Self { settings, state } = self;
        let (reports, _) = usable(settings, observations);
        for (vm, seen) in &reports {
            if let Some(known) = state.vm_mut(vm) {
                known.has = seen.has;
            }
        }
        let mut plan = Plan::new(settings, state, &reports);
        plan.candidates.retain(|candidate| decision.moves.iter().all(|order| order.vm != candidate.vm.name));
        let mut ledger = Ledger::of(settings, state);
        let moves = grow::grows(&grow::wants(&plan, settings), settings, &mut ledger);
        remember(&plan, settings, state, &moves);
        moves
    }
}

fn usable<'a>(settings: &Settings, observations: &'a [Observation]) -> (Reports<'a>, Vec<ReportError>) {
    let known: BTreeSet<&str> = settings.vms.iter().map(|vm| vm.name.as_str()).collect();
    let (mut reports, mut refused) = (Reports::new(), Vec::new());
    for seen in observations {
        let vm = || seen.vm.clone();
        if !known.contains(seen.vm.as_str()) {
            refused.push(ReportError::UnknownVm { vm: vm() });
        } else if reports.contains_key(seen.vm.as_str()) {
            refused.push(ReportError::Twice { vm: vm() });
        } else {
            let checked = seen.check();
            let guest = seen.guest.as_ref().filter(|_| checked.is_ok());
            reports.insert(&seen.vm, Report { has: seen.has, guest });
            refused.extend(checked.err());
        }
    }
    (reports, refused)
}

fn observe(settings: &Settings, state: &mut State, reports: &Reports<'_>) -> Vec<Move> {
    let mut given_up = Vec::new();
    for vm in &settings.vms {
        let Some(&seen) = reports.get(vm.name.as_str()) else { continue };
        if let Some(ordered) = state.observe(seen, vm, settings) {
            let reason = Reason::Stalled { ordered };
            given_up.push(Move { vm: vm.name.clone(), from: seen.has, to: seen.has, reason });
        }
    }
    given_up
}

fn restored(plan: &Plan<'_>, settings: &Settings, ledger: &mut Ledger, moves: &[Move]) -> Vec<Move> {
    let moved: BTreeSet<&str> = moves.iter().map(|order| order.vm.as_str()).collect();
    let still = plan.candidates.iter().filter(|candidate| !moved.contains(candidate.vm.name.as_str()));
    still.filter_map(|candidate| grow::restored(candidate, settings, ledger)).collect()
}

fn remember(plan: &Plan<'_>, settings: &Settings, state: &mut State, moves: &[Move]) {
    state.set_short(plan.level.is_short());
    for candidate in &plan.candidates {
        if let Some(state) = state.vm_mut(&candidate.vm.name) {
            let short = candidate.goal.saturating_sub(candidate.has.fast.0) >= settings.block.0;
            state.growing = candidate.growing && short;
        }
    }
    for order in moves {
        let Some(state) = state.vm_mut(&order.vm) else { continue };
        state.ordered = order.to;
        match flight::direction(order.from, order.to, settings.block.0) {
            Direction::Rests => {}
            moved => state.last = Some(moved),
        }
        if order.to.fast < order.from.fast {
            state.guard.squeeze(order.from.fast);
        }
    }
}
