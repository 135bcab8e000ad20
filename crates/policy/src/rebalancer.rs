//! One decision, step by step: take in what was observed, plan, see what is free, squeeze, grow. Must not know the rules of
//! any of these.

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

/// Decides who gives and who gets, once an interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebalancer {
    settings: Settings,
    state: State,
}

impl Rebalancer {
    /// One that knows nothing yet.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        Self::resume(settings, State::default())
    }

    /// One that goes on where another was; settings may have changed meanwhile.
    pub fn resume(settings: Settings, mut state: State) -> Result<Self, SettingsError> {
        settings.check()?;
        state.keep(&settings);
        Ok(Self { settings, state })
    }

    /// What [`Self::resume`] goes on from.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes back moves of the last decision that are not ordered: all of them in a dry run.
    pub fn withdraw(&mut self, moves: &[Move]) {
        for made in moves {
            if let Some(state) = self.state.vm_mut(&made.vm) {
                (state.told, state.last) = (made.from, None);
                state.guard.spare();
            }
        }
    }

    /// Decides by what was observed of one interval. The moves are taken to be ordered, unless they are withdrawn: what did
    /// not come of them shows in the next observation. VMs without an observation do not answer, and have what they had.
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
        moves.extend(squeezes.into_iter().chain(grows).filter(|made| !given_up.contains(&made.vm)));
        moves.extend(restored(&plan, settings, &mut ledger, &moves));

        let (outlooks, missing) = (plan.outlooks(), Bytes(plan.missing));
        remember(&plan, settings, state, &moves);
        Decision { moves, outlooks, missing, refused }
    }

    /// Hands out, within the interval of a decision, what its squeezes have freed by now: by what was observed then, but for what VMs
    /// have. Only VMs that it has not moved get something.
    pub fn hand_out(&mut self, observations: &[Observation], decision: &Decision) -> Vec<Move> {
        let Self { settings, state } = self;
        let (reports, _) = usable(settings, observations);
        for (vm, seen) in &reports {
            if let Some(known) = state.vm_mut(vm) {
                known.has = seen.has;
            }
        }
        let mut plan = Plan::new(settings, state, &reports);
        plan.candidates.retain(|candidate| decision.moves.iter().all(|made| made.vm != candidate.vm.name));
        let mut ledger = Ledger::of(settings, state);
        let moves = grow::grows(&grow::wants(&plan, settings), settings, &mut ledger);
        remember(&plan, settings, state, &moves);
        moves
    }
}

/// One report a VM that is known.
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

/// Brings the state up to date; moves that are given up.
fn observe(settings: &Settings, state: &mut State, reports: &Reports<'_>) -> Vec<Move> {
    let mut given_up = Vec::new();
    for vm in &settings.vms {
        let Some(&seen) = reports.get(vm.name.as_str()) else { continue };
        if let Some(told) = state.observe(seen, vm, settings) {
            let reason = Reason::Stalled { told };
            given_up.push(Move { vm: vm.name.clone(), from: seen.has, to: seen.has, reason });
        }
    }
    given_up
}

fn restored(plan: &Plan<'_>, settings: &Settings, ledger: &mut Ledger, moves: &[Move]) -> Vec<Move> {
    let moved: BTreeSet<&str> = moves.iter().map(|made| made.vm.as_str()).collect();
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
    for made in moves {
        let Some(state) = state.vm_mut(&made.vm) else { continue };
        state.told = made.to;
        match flight::direction(made.from, made.to, settings.block.0) {
            Direction::Rests => {}
            moved => state.last = Some(moved),
        }
        if made.to.fast < made.from.fast {
            state.guard.squeeze(made.from.fast);
        }
    }
}
