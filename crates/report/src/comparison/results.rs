//! One table per workload, with each result's values, their ratio with an interval, and the verdict.

use findings::{Comparison, OpenQuestion, ResultComparison, RunComparison, Verdict};

use super::{explained, grouped};
use crate::{
    labels,
    page::*,
    phrases::{self, Confidence, Ratios},
    pictures::comparison,
};

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    if comparison.results.is_empty() {
        let nothing = Text::doubtful("The two runs have no result in common.");
        return Some(section("All results", vec![Block::Paragraph(nothing)]));
    }
    let mut blocks: Vec<Block> = labels::compared(comparison)
        .into_iter()
        .flat_map(|workload| workload_table(comparison, workload))
        .collect();
    let unknown: Vec<Text> = reasons(comparison)
        .iter()
        .map(|(reason, results)| explanation(comparison, reason, results))
        .collect();
    blocks.extend((!unknown.is_empty()).then_some(Block::List(unknown)));
    Some(section("All results", blocks))
}

fn verdict(result: &ResultComparison) -> Text {
    let learned = result.between_runs.and(result.floor);
    let phrase = match (result.verdict, learned) {
        (Verdict::Better, _) => "better".to_owned(),
        (Verdict::Worse, _) => "worse".to_owned(),
        (Verdict::Same, Some(floor)) => format!("same within {}", glued(&noise(floor))),
        (Verdict::Same, None) => "same within noise".to_owned(),
        (Verdict::Unknown, _) => "unknown".to_owned(),
    };
    Text::of(tone(result.verdict), phrase)
}

fn noise(floor: f64) -> String {
    phrases::rough(floor)
}

pub(super) const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Same => Tone::Faint,
        Verdict::Unknown => Tone::Doubtful,
    }
}

fn workload_table(comparison: &RunComparison, workload: &str) -> Vec<Block> {
    let mut results: Vec<&ResultComparison> =
        comparison.results.iter().filter(|result| result.workload == workload).collect();
    results.sort_by_key(|result| match result.verdict {
        Verdict::Worse | Verdict::Better => 0,
        Verdict::Unknown => 1,
        Verdict::Same => 2,
    });
    let factors = labels::factors(results.iter().map(|result| &result.levels));
    let common = phrases::common(results.iter().filter_map(|result| result.comparison?.ratio_interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let ratio =
        common.map_or("B/A".to_owned(), |common| format!("B/A {}", glued(&format!("({common} interval)"))));
    let ratios = Ratios::of(results.iter().filter_map(|result| result.comparison.as_ref()));
    let placed = labels::are_placed(results.iter().map(|result| result.path.as_str()));
    let judged = results.iter().any(|result| result.floor.is_some());
    let mut columns: Vec<Column> = placed.then(|| left("Path")).into_iter().collect();
    columns.extend(factors.iter().map(|factor| left(*factor)));
    columns.extend([right("A"), right("B"), right(ratio)]);
    columns.extend(judged.then(|| right("Noise")));
    columns.push(left("Verdict"));
    let table = Table {
        columns,
        rows: results
            .iter()
            .map(|result| row(result, (placed, judged), &factors, (ratios, confidence)))
            .collect(),
        caption: None,
    };
    let measured = phrases::measured_in(results.first().map(|result| result.metric));
    let heading = Text::strong(workload).and_faint(format!(" ({measured})"));
    let chart = comparison::chart(comparison, workload).map(|chart| Block::Chart(Box::new(chart)));
    [Block::Heading(heading)].into_iter().chain(chart).chain([Block::Table(table)]).collect()
}

fn row(
    result: &ResultComparison,
    (placed, judged): (bool, bool),
    factors: &[&str],
    (ratios, confidence): (Ratios, Confidence),
) -> Vec<Text> {
    let level =
        |factor: &&str| result.levels.get(*factor).map_or(Text::faint("-"), |level| level.as_str().into());
    let value = |median| Text::from(phrases::value(result.metric, median));
    let share =
        |comparison: &Comparison| Text::of(tone(result.verdict), ratios.phrase(comparison, confidence));
    let ratio = result.comparison.as_ref().map_or(Text::faint("-"), share);
    let path = || Text::strong(softened(&result.path));
    let mut row: Vec<Text> = placed.then(path).into_iter().collect();
    row.extend(factors.iter().map(level));
    row.extend([value(result.a.estimate), value(result.b.estimate), ratio]);
    let noise = || result.floor.map_or(Text::faint("-"), |floor| noise(floor).into());
    row.extend(judged.then(noise));
    row.push(verdict(result));
    row
}

fn reasons(comparison: &RunComparison) -> Vec<(&str, Vec<&ResultComparison>)> {
    let phrase = |result: &ResultComparison| {
        let same = |open: &OpenQuestion| {
            open.result == result.result && result.reason.as_ref() == Some(&open.reason)
        };
        comparison.gate.as_ref().is_some_and(|gate| gate.undecided.iter().any(same))
    };
    let results = comparison.results.iter().filter(|result| !phrase(result));
    grouped(results.filter_map(|result| Some((result.reason.as_deref()?, result))))
}

fn explanation(comparison: &RunComparison, reason: &str, results: &[&ResultComparison]) -> Text {
    let first = results.first().map(|result| comparison.label(result)).unwrap_or_default();
    let which = match results.len() {
        0 | 1 => first,
        results => format!("{results} results, e.g. {first}"),
    };
    explained(which, reason)
}
