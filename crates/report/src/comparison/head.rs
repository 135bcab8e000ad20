//! Identifies the two runs.

use findings::{BetweenRuns, RunComparison, RunSummary, Verdict};

use crate::{page::*, phrases};

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let runs = [("A, the reference", &comparison.a), ("B", &comparison.b)];
    let mut lines = runs.map(|(which, run)| (which.to_owned(), line(run))).to_vec();
    lines.extend(noise(comparison).map(|noise| ("Noise".to_owned(), noise.into())));
    let same = comparison.results.iter().filter(|result| result.verdict == Verdict::Same);
    let bounds = range(same.filter_map(|result| result.same_within));
    lines.extend(
        bounds.map(|bounds| ("Same".to_owned(), format!("any difference is at most {bounds}").into())),
    );
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
    let size = range(learned.iter().map(|result| result.floor))?;
    Some(format!("between runs estimated from {found} runs of the scenario, including A: {size}"))
}

fn range(bounds: impl Iterator<Item = f64> + Clone) -> Option<String> {
    let (least, most) = (bounds.clone().reduce(f64::min)?, bounds.reduce(f64::max)?);
    Some(match (phrases::rough(least), phrases::rough(most)) {
        (least, most) if least == most => most,
        (least, most) => format!("{least} to {most}, by result"),
    })
}

fn line(run: &RunSummary) -> Text {
    let mut facts = vec![run.id.0.clone(), phrases::moment(run.started), phrases::machine(run)];
    facts.push(phrases::trials(run));
    let facts: Vec<String> = facts.iter().map(|fact| glued(fact)).collect();
    facts.join(" · ").into()
}
