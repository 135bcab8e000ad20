//! One table per workload: both medians of each cell, their ratio with its interval, and the verdict.

use findings::{CellComparison, Comparison, OpenQuestion, RunComparison, Verdict};

use super::Source;
use crate::{
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases::{self, Confidence, Ratios},
    pictures::comparison,
    text::{Text, Tone, glued, softened},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let contrast = source.contrast;
    if contrast.cells.is_empty() {
        let nothing = Text::of(Tone::Doubtful, "The two runs have no result in common.");
        return Some(section("All results", vec![Block::Paragraph(nothing)]));
    }
    let mut blocks: Vec<Block> = labels::contrasted(contrast)
        .into_iter()
        .flat_map(|workload| workload_table(contrast, workload))
        .collect();
    let unknown: Vec<Text> =
        reasons(source).iter().map(|(why, cells)| because(contrast, why, cells)).collect();
    blocks.extend((!unknown.is_empty()).then_some(Block::List(unknown)));
    Some(section("All results", blocks))
}

/// The verdict in words, with the noise between runs for `same`.
fn verdict(cell: &CellComparison) -> Text {
    let learned = cell.between_runs.and(cell.floor);
    let phrase = match (cell.verdict, learned) {
        (Verdict::Better, _) => "better".to_owned(),
        (Verdict::Worse, _) => "worse".to_owned(),
        // The trials differ, but within the noise between runs.
        (Verdict::Same, _) if differs(cell) => "within noise".to_owned(),
        (Verdict::Same, Some(floor)) => format!("same within {}", glued(&noise(floor))),
        (Verdict::Same, None) => "same within noise".to_owned(),
        (Verdict::Unknown, _) => "unknown".to_owned(),
    };
    Text::of(tone(cell.verdict), phrase)
}

/// Whether its interval leaves out that both are equal.
fn differs(cell: &CellComparison) -> bool {
    let interval = cell.comparison.and_then(|comparison| comparison.ratio_interval);
    interval.is_some_and(|interval| interval.low > 1.0 || interval.high < 1.0)
}

fn noise(floor: f64) -> String {
    phrases::rough(floor)
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Better => Tone::Good,
        Verdict::Worse => Tone::Bad,
        Verdict::Same => Tone::Faint,
        Verdict::Unknown => Tone::Doubtful,
    }
}

fn workload_table(contrast: &RunComparison, workload: &str) -> Vec<Block> {
    let cells: Vec<&CellComparison> =
        contrast.cells.iter().filter(|cell| cell.workload == workload).collect();
    let factors = labels::factors(cells.iter().map(|cell| &cell.levels));
    let common = phrases::common(cells.iter().filter_map(|cell| cell.comparison?.ratio_interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let ratio =
        common.map_or("B/A".to_owned(), |common| format!("B/A {}", glued(&format!("({common} interval)"))));
    let ratios = Ratios::of(cells.iter().filter_map(|cell| cell.comparison.as_ref()));
    let placed = labels::are_placed(cells.iter().map(|cell| cell.path.as_str()));
    let judged = cells.iter().any(|cell| cell.floor.is_some());
    let mut columns: Vec<Column> = placed.then(|| left("Path")).into_iter().collect();
    columns.extend(factors.iter().map(|factor| left(*factor)));
    columns.extend([right("A"), right("B"), right(ratio)]);
    columns.extend(judged.then(|| right("Noise")));
    columns.push(left("Verdict"));
    let table = Table {
        columns,
        rows: cells.iter().map(|cell| row(cell, (placed, judged), &factors, (ratios, confidence))).collect(),
        caption: None,
    };
    let measured = phrases::measured_in(cells.first().map(|cell| cell.metric));
    let heading = Text::of(Tone::Strong, workload).and(Tone::Faint, format!(" ({measured})"));
    let chart = comparison::chart(contrast, workload).map(|chart| Block::Chart(Box::new(chart)));
    [Block::Heading(heading)].into_iter().chain(chart).chain([Block::Table(table)]).collect()
}

fn row(
    cell: &CellComparison,
    (placed, judged): (bool, bool),
    factors: &[&str],
    (ratios, confidence): (Ratios, Confidence),
) -> Vec<Text> {
    let level = |factor: &&str| {
        cell.levels.get(*factor).map_or(Text::of(Tone::Faint, "-"), |level| level.as_str().into())
    };
    let value = |median| Text::from(phrases::value(cell.metric, median));
    let share = |comparison: &Comparison| Text::of(tone(cell.verdict), ratios.phrase(comparison, confidence));
    let ratio = cell.comparison.as_ref().map_or(Text::of(Tone::Faint, "-"), share);
    let path = || Text::of(Tone::Strong, softened(&cell.path));
    let mut row: Vec<Text> = placed.then(path).into_iter().collect();
    row.extend(factors.iter().map(level));
    row.extend([value(cell.a.median), value(cell.b.median), ratio]);
    let noise = || cell.floor.map_or(Text::of(Tone::Faint, "-"), |floor| noise(floor).into());
    row.extend(judged.then(noise));
    row.push(verdict(cell));
    row
}

/// Each reason once with its results, except those listed by the gate.
fn reasons<'a>(source: &Source<'a>) -> Vec<(&'a str, Vec<&'a CellComparison>)> {
    let phrase = |cell: &CellComparison| {
        let same = |open: &OpenQuestion| open.cell == cell.cell && cell.why.as_ref() == Some(&open.why);
        source.gate.is_some_and(|gate| gate.unknown.iter().any(same))
    };
    let cells = source.contrast.cells.iter().filter(|cell| !phrase(cell));
    let mut reasons: Vec<(&str, Vec<&CellComparison>)> = Vec::new();
    for (cell, why) in cells.filter_map(|cell| Some((cell, cell.why.as_deref()?))) {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cells)) => cells.push(cell),
            None => reasons.push((why, vec![cell])),
        }
    }
    reasons
}

fn because(contrast: &RunComparison, why: &str, cells: &[&CellComparison]) -> Text {
    let first = cells.first().map(|cell| labels::contrast(contrast, cell)).unwrap_or_default();
    let which = match cells.len() {
        0 | 1 => first,
        cells => format!("{cells} results, e.g. {first}"),
    };
    Text::of(Tone::Strong, which).and(Tone::Plain, format!(": {why}"))
}
