//! Compares two runs: first their environments, then their results.

mod between_runs;
mod environment;
mod floor;
mod gate;
mod guards;
mod history;
mod judge;
mod matching;
mod outage;
mod settings;
mod verdict;
mod warnings;

use findings::{COMPARISON_SCHEMA, ComparisonVerdict, ResultComparison, RunComparison};
use samples::RunRecord;

use crate::{analyse, fits::Fits, observations};

pub(crate) use environment::of_machines;
pub use gate::{MAX_LOSS, MAX_LOSS_OF_COUNTS, gate};
pub(crate) use settings::differs;

use history::History;

/// Compares run B with run A, the reference. `others` are runs of A's scenario, possibly including A and B. The noise
/// between runs is estimated from those in A's environment.
#[must_use]
pub fn comparison(a: &RunRecord, b: &RunRecord, others: &[RunRecord]) -> RunComparison {
    let (results_a, results_b) = (observations::gather(a), observations::gather(b));
    let matched = matching::matched(&results_a, &results_b);
    let floors = [Fits::of(&results_a), Fits::of(&results_b)];
    let history = History::of(a, b, &results_a, others);
    let mut comparison = RunComparison {
        schema: COMPARISON_SCHEMA,
        verdict: ComparisonVerdict::default(),
        gate: None,
        a: analyse::head(a),
        b: analyse::head(b),
        environment_changes: environment::changes(a, b, &matched.pairs),
        results: judge::results(&matched.pairs, &floors, &history),
        history: history.runs,
        only_a: matched.only_a,
        only_b: matched.only_b,
        limitations: Vec::new(),
    };
    let silent = outage::silent(&results_a, b, &comparison.only_a);
    comparison.only_a.retain(|id| silent.iter().all(|result| result.result != *id));
    comparison.results.extend(silent);
    let place =
        |result: &ResultComparison| results_a.iter().position(|known| known.record.id == result.result);
    comparison.results.sort_by_key(place);
    comparison.limitations = warnings::limitations(a, b, &comparison);
    comparison.limitations.extend(floor::limitation(&matched.pairs, &floors));
    comparison.verdict = verdict::verdict(&comparison);
    comparison
}

#[cfg(test)]
mod tests;
