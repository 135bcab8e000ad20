//! Effect of a word in path names, e.g. `vhost`: paths with it against the same paths without it.

use findings::{CellSummary, Findings, MatchedPair, MatchedPairs};

use super::{Source, syscalls};
use crate::{
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases::{self, Confidence},
    text::{Text, Tone, glued},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let word = &findings.twins.first()?.word;
    // Counts, of which neither more nor less is better, come last.
    let (judged, counts): (Vec<_>, Vec<_>) =
        findings.twins.iter().partition(|twins| twins.metric.more_is_better().is_some());
    let blocks = judged.into_iter().chain(counts).flat_map(|twins| of_workload(findings, twins)).collect();
    Some(section(format!("Effect of {word}"), blocks))
}

/// A pair with its cells: without the word, and with it.
type Row<'a> = (&'a MatchedPair, &'a CellSummary, &'a CellSummary);

fn of_workload(findings: &Findings, twins: &MatchedPairs) -> [Block; 2] {
    let find = |id: &str| findings.cells.iter().find(|cell| cell.id == id);
    let rows: Vec<Row<'_>> =
        twins.pairs.iter().filter_map(|pair| Some((pair, find(&pair.without)?, find(&pair.with)?))).collect();
    let measured = phrases::measured_in(Some(twins.metric));
    let heading = Text::of(Tone::Strong, &twins.workload).and(Tone::Faint, format!(" ({measured})"));
    [Block::Heading(heading), Block::Table(table(findings, twins, &rows))]
}

fn table(findings: &Findings, twins: &MatchedPairs, rows: &[Row<'_>]) -> Table {
    let factors = labels::factors(rows.iter().map(|(_, without, _)| &without.levels));
    let common = phrases::common(rows.iter().filter_map(|(pair, ..)| pair.change.ratio_interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let brings = if twins.metric.more_is_better() == Some(true) { "Speed-up" } else { "Change" };
    let brings = common
        .map_or(brings.to_owned(), |common| format!("{brings} {}", glued(&format!("({common} interval)"))));
    let unit = rows.iter().find_map(|(_, without, _)| syscalls::unit(without));
    let placed = labels::are_placed(rows.iter().map(|(_, without, _)| without.path.as_str()));
    let mut columns: Vec<Column> = placed.then(|| left("Path")).into_iter().collect();
    columns.extend(factors.iter().map(|factor| left(*factor)));
    columns.extend([format!("Without {}", twins.word), format!("With {}", twins.word), brings].map(right));
    columns.extend(unit.as_ref().map(|unit| right(format!("Calls {unit}"))));
    let row = |(pair, without, with): &Row<'_>| {
        let median = |cell: &CellSummary| Text::from(phrases::value(cell.metric, cell.value.median));
        let mut row: Vec<Text> = placed.then(|| Text::of(Tone::Strong, &without.path)).into_iter().collect();
        row.extend(factors.iter().map(|factor| level(without, factor)));
        row.extend([median(without), median(with), change(findings, twins, pair, confidence)]);
        row.extend(unit.is_some().then(|| calls(without, with)));
        row
    };
    Table { columns, rows: rows.iter().map(row).collect(), caption: None }
}

fn level(cell: &CellSummary, factor: &str) -> Text {
    cell.levels.get(factor).map_or_else(|| Text::of(Tone::Faint, "-"), |level| level.clone().into())
}

fn change(findings: &Findings, twins: &MatchedPairs, pair: &MatchedPair, confidence: Confidence) -> Text {
    let tone = phrases::tone(twins.metric, &pair.change);
    let phrase = Text::of(tone, phrases::gain(&pair.change, confidence));
    match pair.change.ratio_interval {
        Some(_) => phrases::judged(findings, &twins.workload, &pair.change, phrase),
        None => phrase,
    }
}

/// `8.31 → 0.0070`: of both ends, for each message or megabyte.
fn calls(without: &CellSummary, with: &CellSummary) -> Text {
    let rate = |cell: &CellSummary| syscalls::all(cell).unwrap_or_else(|| "-".to_owned());
    glued(&format!("{} → {}", rate(without), rate(with))).into()
}
