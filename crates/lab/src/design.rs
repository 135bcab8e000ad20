//! Which trial comes next, and why a cell gets no more: a pure function of the plan and of the trials that are there, so
//! that a run that was killed goes on with the choices that it would have made.
//!
//! The plan is the full matrix. The design walks through it block by block and leaves trials out: at the beginning of a
//! block it judges each group of cells by the blocks before, and takes those that can still change the answer. It asks
//! no clock, and must not know how a trial is made or kept.

mod forecast;
mod group;
mod observations;
mod unclear;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use protocol::DesignDecision;
use samples::{Arm, CellEnd, DiscardedAttempt, EndReason, Objective, Trial};
use scenario::{Plan, PlannedTrial};
use stats::interval;
use units::Nanos;

use crate::measure::ATTEMPTS;

use forecast::screening_blocks;
pub use forecast::{Forecast, forecast, trials_lacking};
use group::{Group, Standing};
use observations::Observations;

/// Pairs of the baseline and itself that a noise floor needs; it gets no more unless it is in the contest itself.
const NOISE_PAIRS: usize = 5;

/// The design of a run.
#[derive(Debug)]
pub struct Design<'p> {
    plan: &'p Plan,
    groups: Vec<Group>,
    seen: Observations,
    skipped: BTreeSet<usize>,
    /// Trials that are not made though their cell can be measured, by their index.
    left_out: BTreeSet<u32>,
    /// Where in the plan the next trial is looked for.
    at: usize,
    round: Round,
    /// Whether the time is over.
    spent: bool,
    told: BTreeMap<usize, CellEnd>,
    /// Whether it was told that CPU time is not known.
    told_of_cpu: bool,
}

/// What is measured in a block.
#[derive(Debug, Clone, Default)]
struct Round {
    block: Option<u32>,
    measure: BTreeSet<usize>,
    again: BTreeSet<usize>,
    /// Baselines that are measured only for what is compared with them.
    beside: BTreeSet<usize>,
}

impl Round {
    fn wants(&self, trial: &PlannedTrial) -> bool {
        match trial.arm {
            // With the probes on only beside the same without them.
            Arm::Measure | Arm::Probed | Arm::Alone => self.measure.contains(&trial.cell),
            Arm::Again => self.again.contains(&trial.cell),
        }
    }

    fn is_over(&self) -> bool {
        self.measure.is_empty() && self.again.is_empty()
    }
}

impl<'p> Design<'p> {
    /// The design of a run that has these trials already, in the order in which they were made.
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
            told: BTreeMap::new(),
            told_of_cpu: false,
        };
        there.into_iter().for_each(|trial| design.saw(trial));
        design
    }

    /// Takes note of a trial that was made.
    pub fn saw(&mut self, trial: &Trial) {
        self.seen.take(self.plan, trial);
    }

    /// Takes note that a cell cannot be measured.
    pub fn skip(&mut self, cell: &str) {
        self.skipped.extend(self.plan.cells.iter().position(|known| known.id.as_str() == cell));
    }

    /// Takes note that a trial is not made: it was to be watched, and nothing is left to watch it with.
    pub fn leave_out(&mut self, trial: &PlannedTrial) {
        self.left_out.insert(trial.index);
    }

    /// The next trial to be made; `None` when the run has all that it needs or may have.
    pub fn next_trial(&mut self) -> Option<&'p PlannedTrial> {
        let plan = self.plan;
        while let Some(trial) = plan.trials.get(self.at) {
            self.enter(trial.block);
            if self.round.is_over() {
                return None;
            }
            if self.is_due(trial) {
                self.spent = self.is_beyond_budget(trial.cell);
                return (!self.spent).then_some(trial);
            }
            self.at += 1;
        }
        None
    }

    /// The next trials to be made, at the same time; none when the run has all that it needs or may have.
    pub fn next_round(&mut self) -> Vec<&'p PlannedTrial> {
        let Some(first) = self.next_trial() else { return Vec::new() };
        let rest = self.plan.trials[self.at..].iter().skip(1).take_while(|trial| trial.is_beside(first));
        [first].into_iter().chain(rest.filter(|trial| self.is_due(trial))).collect()
    }

    /// A trial that others disturbed and that has attempts left, with those that it had.
    #[must_use]
    pub fn to_remake(&self) -> Option<(&'p PlannedTrial, Vec<DiscardedAttempt>)> {
        let open = self.seen.disturbed().filter(|(_, attempts)| attempts.len() < ATTEMPTS);
        let mut planned = open.filter_map(|(index, attempts)| {
            Some((self.plan.trials.iter().find(|trial| trial.index == index)?, attempts))
        });
        let can_be_made = |trial: &PlannedTrial| {
            !self.skipped.contains(&trial.cell) && !self.left_out.contains(&trial.index)
        };
        let (planned, attempts) = planned.find(|(trial, _)| can_be_made(trial))?;
        Some((planned, attempts.to_vec()))
    }

    /// Cells whose end is known and was not told yet, or is another one than was told.
    pub fn ends(&mut self) -> Vec<CellEnd> {
        if !self.plan.design.is_adaptive() {
            return Vec::new();
        }
        let over = self.spent || self.round.is_over() || self.at >= self.plan.trials.len();
        let block = if over { u32::MAX } else { self.round.block.unwrap_or(0) };
        if block < screening_blocks(self.plan) {
            return Vec::new();
        }
        let ends: Vec<(usize, CellEnd)> = self
            .standings(block)
            .into_iter()
            .filter_map(|(cell, standing)| Some((cell, self.end(cell, standing)?)))
            .collect();
        let new = |(cell, end): &(usize, CellEnd)| self.told.get(cell) != Some(end);
        let fresh: Vec<(usize, CellEnd)> = ends.into_iter().filter(new).collect();
        self.told.extend(fresh.iter().cloned());
        fresh.into_iter().map(|(_, end)| end).collect()
    }

    /// Measurable cells without a trial because the time budget is used up.
    pub fn out_of_time(&self) -> impl Iterator<Item = &'p str> {
        let cells = self.plan.cells.iter().enumerate().filter(|_| self.spent);
        let lacking = cells.filter(|(cell, _)| !self.skipped.contains(cell) && self.seen.trials(*cell) == 0);
        lacking.map(|(_, cell)| cell.id.as_str())
    }

    /// Once, when it shows: why the trials are not chosen for the objective that was asked.
    pub fn other_objective(&mut self) -> Option<&'static str> {
        let block = self.round.block.unwrap_or(0);
        if self.told_of_cpu
            || !self.plan.design.is_adaptive()
            || self.plan.design.until_clear
            || self.plan.design.objective == Objective::Max
            || !self.groups.iter().any(|group| group.lacks_cpu(&self.seen, block))
        {
            return None;
        }
        self.told_of_cpu = true;
        Some("CPU time was not recorded: trials are chosen for the best value instead of the objective")
    }

    /// Cells that get more trials in the block that is under way because they can change the answer.
    pub fn open(&self) -> impl Iterator<Item = &'p str> {
        let open = self.round.measure.difference(&self.round.beside);
        open.filter(|cell| !self.skipped.contains(cell)).map(|cell| self.plan.cells[*cell].id.as_str())
    }

    /// What the trials so far have decided.
    #[must_use]
    pub fn decided(&self) -> DesignDecision {
        DesignDecision {
            block: self.block().map(|(block, _)| block),
            open: self.open().map(str::to_owned).collect(),
            cells: self.cells() as u32,
            out_of_time: self.spent,
            trials_left: self.trials_left() as u32,
            most_left: self.most_left(),
        }
    }

    /// The block that is under way, from 0, and whether every cell is still measured.
    #[must_use]
    pub fn block(&self) -> Option<(u32, bool)> {
        let screening = screening_blocks(self.plan);
        self.round.block.map(|block| (block, block < screening))
    }

    /// How many cells there are that can be measured.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.plan.cells.len() - self.skipped.len()
    }

    /// The most trials that may follow; a budget may end them earlier.
    #[must_use]
    pub fn trials_left(&self) -> usize {
        if self.spent { 0 } else { self.rest().count() }
    }

    /// The most time that they may take.
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
        self.round.wants(trial) && !self.skipped.contains(&trial.cell) && !passed
    }

    /// Decides, once a block, what is measured in it.
    fn enter(&mut self, block: u32) {
        if self.round.block == Some(block) {
            return;
        }
        self.round = Round { block: Some(block), ..self.decide(block) };
    }

    fn decide(&self, block: u32) -> Round {
        let all = || (0..self.plan.cells.len()).filter(|cell| !self.skipped.contains(cell));
        let baselines = || all().filter(|cell| self.plan.cells[*cell].baseline);
        if !self.plan.design.is_adaptive() || block < screening_blocks(self.plan) {
            return Round { measure: all().collect(), again: all().collect(), ..Round::default() };
        }
        let standings = self.standings(block);
        let mut measure: BTreeSet<usize> = standings
            .iter()
            .filter(|(_, standing)| *standing == Standing::Open)
            .map(|(cell, _)| *cell)
            .collect();
        let (mut again, mut beside) = (BTreeSet::new(), BTreeSet::new());
        for baseline in baselines() {
            let workload = &self.plan.cells[baseline].workload;
            if !measure.iter().any(|cell| self.plan.cells[*cell].workload == *workload) {
                continue;
            }
            // What is compared with the baseline needs it in the same block.
            let open = !measure.insert(baseline);
            if !open {
                beside.insert(baseline);
            }
            if open || self.seen.pairs(baseline, block) < NOISE_PAIRS {
                again.insert(baseline);
            }
        }
        if !again.is_empty() {
            // A baseline that is measured beside others is so again.
            again.extend(&measure);
        }
        Round { block: None, measure, again, beside }
    }

    /// How each cell stands by the blocks before `block`.
    fn standings(&self, block: u32) -> Vec<(usize, Standing)> {
        let open = |group: &Group| group.standings(self.plan, &self.seen, &self.skipped, block);
        self.groups.iter().flat_map(open).collect()
    }

    fn end(&self, cell: usize, standing: Standing) -> Option<CellEnd> {
        let trials = self.seen.trials(cell);
        let planned =
            self.plan.trials.iter().filter(|trial| trial.cell == cell && trial.arm == Arm::Measure).count();
        let why = match standing {
            Standing::Precise(reach) => EndReason::Precise { reach },
            _ if trials >= planned => EndReason::Planned,
            Standing::Settled if self.plan.design.until_clear => EndReason::Clear,
            Standing::Settled => EndReason::Settled,
            Standing::Out => EndReason::Unusable { trials: self.seen.unusable(cell) as u32 },
            Standing::Open if self.spent => {
                EndReason::Budget { reach: interval::reach_so_far(&self.seen.values(cell, u32::MAX)) }
            }
            Standing::Open => return None,
        };
        Some(CellEnd { cell: self.plan.cells[cell].id.to_string(), why, trials: trials as u32 })
    }

    fn is_beyond_budget(&self, next: usize) -> bool {
        let Some(budget) = self.plan.design.budget else { return false };
        self.seen.spent(self.plan) + self.seen.expected(self.plan, next) > budget
    }
}
