//! Identifies the two runs.

use findings::{BetweenRuns, ResultComparison, RunComparison, RunSummary, Verdict};

use crate::{
    page::{Block, Depth, Section},
    phrases,
    text::{Text, glued},
};

/// The bound is `stats::ab::same_within`.
const SAME: &str =
    "the difference is smaller than four times the noise, or than 5 % if that is more (at most 50 %)";

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let runs = [("A, the reference", &comparison.a), ("B", &comparison.b)];
    let mut lines = runs.map(|(which, run)| (which.to_owned(), line(run))).to_vec();
    lines.extend(noise(comparison).map(|noise| ("Noise".to_owned(), noise.into())));
    let is_same = |result: &ResultComparison| {
        result.verdict == Verdict::Same && result.between_runs.is_none() && result.p.is_some()
    };
    if comparison.results.iter().any(is_same) {
        lines.push(("Same".to_owned(), SAME.into()));
    }
    // Below a gate's verdict, the runs need a heading.
    let title = comparison.gate.as_ref().map(|_| "Runs".into());
    Some(Section { title, depth: Depth::Always, blocks: vec![Block::KeyValues(lines)] })
}

fn noise(comparison: &RunComparison) -> Option<String> {
    let learned: Vec<&BetweenRuns> =
        comparison.results.iter().filter_map(|result| result.between_runs.as_ref()).collect();
    let found = comparison.history.len();
    if learned.is_empty() {
        return (found > 0).then(|| {
            format!("between runs assumed: only {found} runs of the scenario match the setup of A, too few for an \
                     estimate")
        });
    }
    let (least, most) = learned.iter().fold((f64::INFINITY, 0.0f64), |(least, most), result| {
        (least.min(result.floor), most.max(result.floor))
    });
    let size = match (phrases::rough(least), phrases::rough(most)) {
        (least, most) if least == most => most,
        (least, most) => format!("{least} to {most}, by result"),
    };
    Some(format!("between runs estimated from {found} runs of the scenario, including A: {size}"))
}

fn line(run: &RunSummary) -> Text {
    let mut facts = vec![run.id.0.clone(), phrases::moment(run.started), phrases::machine(run)];
    facts.push(phrases::trials(run));
    let facts: Vec<String> = facts.iter().map(|fact| glued(fact)).collect();
    facts.join(" · ").into()
}
