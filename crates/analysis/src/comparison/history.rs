//! Other runs of A's scenario, and the noise between runs.

use std::collections::BTreeMap;

use findings::EnvironmentChange;
use samples::{RunHeader, RunId, RunRecord};
use stats::{BetweenRuns, Course, history::Next, noise};

use super::{environment, matching};
use crate::{
    compare::{self, CONFIDENCE},
    disturbance,
    observations::{self, Observations},
};

/// Minimum number of trials, as a fraction of A's number. Runs with fewer trials mostly show the noise of trials.
const ENOUGH_TRIALS: f64 = 0.5;

type Values = BTreeMap<String, f64>;

#[derive(Debug, Default)]
pub(super) struct History {
    /// The runs, oldest first. The list is empty if no other run is comparable.
    pub(super) runs: Vec<RunId>,
    learned: BTreeMap<String, Learned>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Learned {
    pub(super) relative: f64,
    pub(super) runs: usize,
    /// A's value, divided by the reference for B. It is 1 if A is the reference.
    pub(super) scale: f64,
    by: Reference,
}

/// B is compared with the historical level, which is known more precisely than a single run. If there are too few
/// runs at A's level, B is compared with A.
#[derive(Debug, Clone, Copy)]
enum Reference {
    Level(Next),
    RunA(BetweenRuns),
}

impl Learned {
    /// `values` are in chronological order, with A at `place`.
    fn of(values: &[f64], place: Option<usize>) -> Option<Self> {
        let of_level = || {
            let place = place?;
            let Course::Levels(levels) = stats::history::course(values)? else { return None };
            let level = levels.iter().find(|level| (level.start..level.end).contains(&place))?;
            let next = stats::history::next(&values[level.start..level.end])?;
            let relative = next.range(CONFIDENCE)?.high / next.middle() - 1.0;
            let scale = values[place] / next.middle();
            Some(Self { relative, runs: next.runs, scale, by: Reference::Level(next) })
        };
        let of_a = || {
            let runs = noise::between_runs(values, CONFIDENCE)?;
            Some(Self { relative: runs.relative, runs: runs.runs, scale: 1.0, by: Reference::RunA(runs) })
        };
        of_level().or_else(of_a)
    }

    pub(super) fn reference(&self) -> &'static str {
        match self.by {
            Reference::Level(_) => "the level of earlier runs",
            Reference::RunA(_) => "A",
        }
    }

    pub(super) fn p(&self, ratio: f64) -> f64 {
        match self.by {
            Reference::Level(next) => next.p(next.middle() * self.scale * ratio),
            Reference::RunA(runs) => runs.p(ratio),
        }
    }

    pub(super) fn named(&self) -> findings::BetweenRuns {
        let expected = match self.by {
            Reference::Level(next) => next.range(CONFIDENCE).map(compare::named),
            Reference::RunA(_) => None,
        };
        let runs = u32::try_from(self.runs).unwrap_or(u32::MAX);
        findings::BetweenRuns { floor: self.relative, runs, expected }
    }
}

impl History {
    /// Selects comparable runs. Excludes B, the run to judge.
    pub(super) fn of(
        a: &RunRecord,
        b: &RunRecord,
        results: &[Observations<'_>],
        others: &[RunRecord],
    ) -> Self {
        let fitting = |other| Some((other, fitting(a, b, other, results)?));
        let mut known: Vec<(&RunRecord, Values)> = others.iter().filter_map(fitting).collect();
        known.sort_by_key(|(run, _)| (run.header.started, &run.header.id));
        known.dedup_by_key(|(run, _)| &run.header.id);
        if known.is_empty() {
            return Self::default();
        }
        let place = known.partition_point(|(run, _)| run.header.started <= a.header.started);
        known.insert(place, (a, values(matching::matched(results, results).pairs)));
        let of_result = |result: &Observations<'_>| {
            let id = result.record.id.as_str();
            let values: Vec<(bool, f64)> = known
                .iter()
                .filter_map(|(run, values)| Some((run.header.id == a.header.id, *values.get(id)?)))
                .collect();
            let place = values.iter().position(|(is_a, _)| *is_a);
            let values: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
            Some((id.to_owned(), Learned::of(&values, place)?))
        };
        Self {
            runs: known.iter().map(|(run, _)| run.header.id.clone()).collect(),
            learned: results.iter().filter_map(of_result).collect(),
        }
    }

    pub(super) fn learned(&self, result: &Observations<'_>) -> Option<Learned> {
        self.learned.get(&result.record.id).copied()
    }
}

fn fitting(a: &RunRecord, b: &RunRecord, other: &RunRecord, results: &[Observations<'_>]) -> Option<Values> {
    let (of_a, of_b, of_it) = (&a.header, &b.header, &other.header);
    if [&of_a.id, &of_b.id].contains(&&of_it.id) || !is_of_one_scenario(of_a, of_it) {
        return None;
    }
    let gathered = observations::gather(other);
    let pairs = matching::matched(results, &gathered).pairs;
    // A higher load does not exclude a run unless it disturbed most trials.
    let differs =
        |change: &EnvironmentChange| change.important && change.property != environment::LOAD_AVERAGE;
    (!environment::changes(a, other, &pairs).iter().any(differs)).then(|| values(pairs))
}

fn is_of_one_scenario(a: &RunHeader, other: &RunHeader) -> bool {
    let measured = |run: &RunHeader| {
        run.origin.imported().is_none() && run.remedy_trials.is_none() && run.environment.is_some()
    };
    let digest = &a.scenario.digest;
    !digest.is_empty() && *digest == other.scenario.digest && measured(a) && measured(other)
}

/// Like the comparison, excludes the noise of each run's baseline.
fn values(pairs: Vec<matching::Pair<'_, '_>>) -> Values {
    let value = |(result, other): matching::Pair<'_, '_>| {
        let values = other.values();
        let enough = values.len() as f64 >= ENOUGH_TRIALS * result.points.len() as f64;
        let is_usable = enough && result.metric == other.metric && !disturbance::is_mostly_disturbed(other);
        let value = compare::estimate(&values).filter(|_| is_usable)?.estimate;
        Some((result.record.id.clone(), value))
    };
    pairs.into_iter().filter_map(value).collect()
}
