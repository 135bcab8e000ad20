//! Further runs of A's scenario, and what they show two runs of it to differ by.

use std::collections::BTreeMap;

use findings::SurroundingChange;
use samples::{RunHeader, RunId, RunRecord};
use stats::{BetweenRuns, describe, noise};

use super::{environment, matching};
use crate::{
    compare::CONFIDENCE,
    observations::{self, Observations},
};

/// A run that knows a cell by less than this share of A's trials says more of its own trials than of runs.
const ENOUGH_TRIALS: f64 = 0.5;

/// By A's cells.
type Medians = BTreeMap<String, f64>;

/// The runs that can be learned from, and what they show of each cell of A.
#[derive(Debug, Default)]
pub(super) struct History {
    /// A among them, oldest first; empty where no other fits.
    pub(super) runs: Vec<RunId>,
    /// By A's cells.
    learned: BTreeMap<String, BetweenRuns>,
}

impl History {
    /// Of the other runs those count that were made as A was: of its scenario, by plumb, in its surroundings. B is none:
    /// it is what is judged.
    pub(super) fn of(a: &RunRecord, b: &RunRecord, cells: &[Observations<'_>], others: &[RunRecord]) -> Self {
        let fitting = |other| Some((other, fitting(a, b, other, cells)?));
        let mut known: Vec<(&RunRecord, Medians)> = others.iter().filter_map(fitting).collect();
        known.sort_by_key(|(run, _)| (run.header.started, &run.header.id));
        known.dedup_by_key(|(run, _)| &run.header.id);
        if known.is_empty() {
            return Self::default();
        }
        let place = known.partition_point(|(run, _)| run.header.started <= a.header.started);
        known.insert(place, (a, medians(matching::matched(cells, cells).pairs)));
        let of_cell = |cell: &Observations<'_>| {
            let id = cell.record.id.as_str();
            let values: Vec<f64> = known.iter().filter_map(|(_, run)| run.get(id).copied()).collect();
            Some((id.to_owned(), noise::between_runs(&values, CONFIDENCE)?))
        };
        Self {
            runs: known.iter().map(|(run, _)| run.header.id.clone()).collect(),
            learned: cells.iter().filter_map(of_cell).collect(),
        }
    }

    /// What two runs differ by in a cell of A.
    pub(super) fn learned(&self, cell: &Observations<'_>) -> Option<BetweenRuns> {
        self.learned.get(&cell.record.id).copied()
    }
}

/// What a run shows of A's cells; `None` where it was not made as A was.
fn fitting(a: &RunRecord, b: &RunRecord, other: &RunRecord, cells: &[Observations<'_>]) -> Option<Medians> {
    let (of_a, of_b, of_it) = (&a.header, &b.header, &other.header);
    if [&of_a.id, &of_b.id].contains(&&of_it.id) || !is_of_one_scenario(of_a, of_it) {
        return None;
    }
    let gathered = observations::gather(other);
    let pairs = matching::matched(cells, &gathered).pairs;
    // What else the machine did is of what runs differ by.
    let differs = |change: &SurroundingChange| change.weighty && change.what != environment::LOAD_AVERAGE;
    (!environment::changes(a, other, &pairs).iter().any(differs)).then(|| medians(pairs))
}

/// Both measured by plumb, on a machine that is known, as the same document says, and neither with remedies.
fn is_of_one_scenario(a: &RunHeader, other: &RunHeader) -> bool {
    let measured =
        |run: &RunHeader| run.origin.imported().is_none() && run.tries.is_none() && run.environment.is_some();
    let digest = &a.scenario.digest;
    !digest.is_empty() && *digest == other.scenario.digest && measured(a) && measured(other)
}

/// The median of each cell of A in a run that knows it well enough.
fn medians(pairs: Vec<matching::Pair<'_, '_>>) -> Medians {
    let median = |(cell, other): matching::Pair<'_, '_>| {
        let values = other.values();
        let enough = values.len() as f64 >= ENOUGH_TRIALS * cell.points.len() as f64;
        let median = describe::median(&values).filter(|_| enough && cell.metric == other.metric)?;
        Some((cell.record.id.clone(), median))
    };
    pairs.into_iter().filter_map(median).collect()
}
