//! Selects the next trial, and decides when to stop measuring a result. The choice is a pure function of the
//! plan and the finished trials, so a resumed run makes the same choices.
//!
//! The plan is the full matrix. At the start of each block, the design judges all groups of results by
//! the earlier blocks, and continues with the results that can still change the answer. It does not use a
//! clock.

mod forecast;
mod group;
mod judged;
mod observations;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use protocol::DesignDecision;
use samples::{Arm, DiscardedAttempt, EndReason, Objective, ResultEnd, Trial};
use scenario::{Plan, PlannedTrial};
use units::Nanos;

use crate::measure::ATTEMPTS;

use forecast::screening_blocks;
pub use forecast::{Forecast, forecast, trials_lacking};
use group::{Group, Standing};
use judged::Judged;
use observations::Observations;

/// A baseline with this many pairs of trials is measured twice per block only if it is itself a contender.
const NOISE_PAIRS: usize = 5;

#[derive(Debug)]
pub struct Design<'p> {
    plan: &'p Plan,
    groups: Vec<Group>,
    seen: Observations,
    skipped: BTreeSet<usize>,
    left_out: BTreeSet<u32>,
    at: usize,
    round: Round,
    spent: bool,
    reported: BTreeMap<usize, ResultEnd>,
    reported_missing_cpu: bool,
}

#[derive(Debug, Clone, Default)]
struct Round {
    block: Option<u32>,
    measure: BTreeSet<usize>,
    again: BTreeSet<usize>,
    only_compared: BTreeSet<usize>,
}

impl Round {
    fn wants(&self, trial: &PlannedTrial) -> bool {
        match trial.arm {
            Arm::Measure | Arm::Probed | Arm::Alone => self.measure.contains(&trial.result),
            Arm::Again => self.again.contains(&trial.result),
        }
    }

    fn is_over(&self) -> bool {
        self.measure.is_empty() && self.again.is_empty()
    }
}

impl<'p> Design<'p> {
    /// `there` are the finished trials of a resumed run, in the order in which they ran.
    #[must_use]
    pub fn new<'t>(plan: &'p Plan, there: impl IntoIterator<Item = &'t Trial>) -> Self {
        let mut design = Self {
            plan,
            groups: Group::all(plan),
            seen: Observations::default(),
            skipped: BTreeSet::new(),
            left_out: BTreeSet::new(),
            at: 0,
            round: Round::default(),
            spent: false,
            reported: BTreeMap::new(),
            reported_missing_cpu: false,
        };
        there.into_iter().for_each(|trial| design.saw(trial));
        design
    }

    pub fn saw(&mut self, trial: &Trial) {
        self.seen.take(self.plan, trial);
    }

    pub fn skip(&mut self, result: &str) {
        self.skipped.extend(self.plan.results.iter().position(|known| known.id.as_str() == result));
    }

    pub fn leave_out(&mut self, trial: &PlannedTrial) {
        self.left_out.insert(trial.index);
    }

    pub fn next_trial(&mut self) -> Option<&'p PlannedTrial> {
        let plan = self.plan;
        while let Some(trial) = plan.trials.get(self.at) {
            self.enter(trial.block);
            if self.round.is_over() {
                return None;
            }
            if self.is_due(trial) {
                self.spent = self.is_beyond_budget(trial.result);
                return (!self.spent).then_some(trial);
            }
            self.at += 1;
        }
        None
    }

    /// Returns the next trials, which run simultaneously, or none if the run is complete or out of time.
    pub fn next_round(&mut self) -> Vec<&'p PlannedTrial> {
        let Some(first) = self.next_trial() else { return Vec::new() };
        let rest =
            self.plan.trials[self.at..].iter().skip(1).take_while(|trial| trial.is_simultaneous_with(first));
        [first].into_iter().chain(rest.filter(|trial| self.is_due(trial))).collect()
    }

    /// Chooses the results again, because repeated trials may have changed the comparisons. Returns whether
    /// trials remain.
    pub fn look_again(&mut self) -> bool {
        let Some(block) = self.round.block.filter(|_| self.plan.design.is_adaptive() && !self.spent) else {
            return false;
        };
        self.round = Round { block: Some(block), ..self.decide(block) };
        self.rest().next().is_some()
    }

    #[must_use]
    pub fn to_remake(&self) -> Option<(&'p PlannedTrial, Vec<DiscardedAttempt>)> {
        let open = self.seen.disturbed().filter(|(_, attempts)| attempts.len() < ATTEMPTS);
        let mut planned = open.filter_map(|(index, attempts)| {
            Some((self.plan.trials.iter().find(|trial| trial.index == index)?, attempts))
        });
        let can_be_made = |trial: &PlannedTrial| {
            !self.skipped.contains(&trial.result) && !self.left_out.contains(&trial.index)
        };
        let (planned, attempts) = planned.find(|(trial, _)| can_be_made(trial))?;
        Some((planned, attempts.to_vec()))
    }

    /// Returns only reasons that are new or have changed since the last call.
    pub fn ends(&mut self) -> Vec<ResultEnd> {
        if !self.plan.design.is_adaptive() {
            return Vec::new();
        }
        let over = self.spent || self.round.is_over() || self.at >= self.plan.trials.len();
        let block = if over { u32::MAX } else { self.round.block.unwrap_or(0) };
        if block < screening_blocks(self.plan) {
            return Vec::new();
        }
        let ends: Vec<(usize, ResultEnd)> = self
            .standings(block)
            .into_iter()
            .filter_map(|(result, standing)| Some((result, self.end(result, standing)?)))
            .collect();
        let new = |(result, end): &(usize, ResultEnd)| self.reported.get(result) != Some(end);
        let fresh: Vec<(usize, ResultEnd)> = ends.into_iter().filter(new).collect();
        self.reported.extend(fresh.iter().cloned());
        fresh.into_iter().map(|(_, end)| end).collect()
    }

    pub fn out_of_time(&self) -> impl Iterator<Item = &'p str> {
        let results = self.plan.results.iter().enumerate().filter(|_| self.spent);
        let unmeasured =
            results.filter(|(result, _)| !self.skipped.contains(result) && self.seen.trials(*result) == 0);
        unmeasured.map(|(_, result)| result.id.as_str())
    }

    /// Returns why trials are not chosen for the requested objective. Later calls return `None`.
    pub fn other_objective(&mut self) -> Option<&'static str> {
        let block = self.round.block.unwrap_or(0);
        if self.reported_missing_cpu
            || !self.plan.design.is_adaptive()
            || self.plan.design.until_clear
            || self.plan.design.objective == Objective::Max
            || !self.groups.iter().any(|group| group.lacks_cpu(&self.seen, block))
        {
            return None;
        }
        self.reported_missing_cpu = true;
        Some("CPU time was not recorded: trials are chosen for the best value instead of the objective")
    }

    pub fn open(&self) -> impl Iterator<Item = &'p str> {
        let open = self.round.measure.difference(&self.round.only_compared);
        open.filter(|result| !self.skipped.contains(result))
            .map(|result| self.plan.results[*result].id.as_str())
    }

    #[must_use]
    pub fn decided(&self) -> DesignDecision {
        DesignDecision {
            block: self.block().map(|(block, _)| block),
            open: self.open().map(str::to_owned).collect(),
            results: self.results() as u32,
            out_of_time: self.spent,
            trials_left: self.trials_left() as u32,
            most_left: self.most_left(),
        }
    }

    #[must_use]
    pub fn block(&self) -> Option<(u32, bool)> {
        let screening = screening_blocks(self.plan);
        self.round.block.map(|block| (block, block < screening))
    }

    #[must_use]
    pub fn results(&self) -> usize {
        self.plan.results.len() - self.skipped.len()
    }

    #[must_use]
    pub fn trials_left(&self) -> usize {
        if self.spent { 0 } else { self.rest().count() }
    }

    #[must_use]
    pub fn most_left(&self) -> Nanos {
        let rest = self.plan.estimate_of(self.rest());
        match self.plan.design.budget {
            Some(budget) => rest.min(Nanos(budget.0.saturating_sub(self.seen.spent(self.plan).0))),
            None => rest,
        }
    }

    fn rest(&self) -> impl Iterator<Item = &PlannedTrial> {
        self.plan.trials.iter().skip(self.at).filter(|trial| self.is_due(trial))
    }

    fn is_due(&self, trial: &PlannedTrial) -> bool {
        let passed = self.seen.has(trial.index) || self.left_out.contains(&trial.index);
        self.round.wants(trial) && !self.skipped.contains(&trial.result) && !passed
    }

    fn enter(&mut self, block: u32) {
        if self.round.block == Some(block) {
            return;
        }
        self.round = Round { block: Some(block), ..self.decide(block) };
    }

    fn decide(&self, block: u32) -> Round {
        let all = || (0..self.plan.results.len()).filter(|result| !self.skipped.contains(result));
        let baselines = || all().filter(|result| self.plan.results[*result].baseline);
        if !self.plan.design.is_adaptive() || block < screening_blocks(self.plan) {
            return Round { measure: all().collect(), again: all().collect(), ..Round::default() };
        }
        let standings = self.standings(block);
        let mut measure: BTreeSet<usize> = standings
            .iter()
            .filter(|(_, standing)| *standing == Standing::Open)
            .map(|(result, _)| *result)
            .collect();
        let (mut again, mut only_compared) = (BTreeSet::new(), BTreeSet::new());
        for baseline in baselines() {
            let workload = &self.plan.results[baseline].workload;
            if !measure.iter().any(|result| self.plan.results[*result].workload == *workload) {
                continue;
            }
            // Comparisons need the baseline in the same block.
            let open = !measure.insert(baseline);
            if !open {
                only_compared.insert(baseline);
            }
            if open || self.seen.pairs(baseline, block) < NOISE_PAIRS {
                again.insert(baseline);
            }
        }
        if !again.is_empty() {
            // If a baseline is measured twice, its competitors are measured twice, too.
            again.extend(&measure);
        }
        Round { block: None, measure, again, only_compared }
    }

    fn standings(&self, block: u32) -> Vec<(usize, Standing)> {
        // Groups with the same workload are adjacent and share a fit.
        let by_workload =
            self.groups.chunk_by(|one, other| one.workload(self.plan) == other.workload(self.plan));
        let mut standings = Vec::new();
        for groups in by_workload {
            let judged = Judged::of(self.plan, &self.seen, groups[0].workload(self.plan), block);
            standings
                .extend(groups.iter().flat_map(|group| group.standings(self.plan, &judged, &self.skipped)));
        }
        standings
    }

    fn end(&self, result: usize, standing: Standing) -> Option<ResultEnd> {
        let trials = self.seen.trials(result);
        let planned = self
            .plan
            .trials
            .iter()
            .filter(|trial| trial.result == result && trial.arm == Arm::Measure)
            .count();
        let reason = match standing {
            Standing::Precise(reach) => EndReason::Precise { reach },
            _ if trials >= planned => EndReason::Planned,
            Standing::Settled if self.plan.design.until_clear => EndReason::Clear,
            Standing::Settled => EndReason::Settled,
            Standing::Out => EndReason::Unusable { trials: self.seen.unusable(result) as u32 },
            Standing::Open if self.spent => EndReason::Budget { reach: self.reach(result) },
            Standing::Open => return None,
        };
        Some(ResultEnd {
            result: self.plan.results[result].id.to_string(),
            reason,
            trials: trials as u32,
            black_hole: None,
            counters: None,
        })
    }

    fn reach(&self, result: usize) -> Option<f64> {
        let workload = self.plan.results[result].workload.as_str();
        Judged::of(self.plan, &self.seen, workload, u32::MAX).reach(result)
    }

    fn is_beyond_budget(&self, next: usize) -> bool {
        let Some(budget) = self.plan.design.budget else { return false };
        self.seen.spent(self.plan) + self.seen.expected(self.plan, next) > budget
    }
}
