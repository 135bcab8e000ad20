//! Compares each path that has a word such as `vhost` in its name with the same path without the word.

use findings::{Findings, MatchedPair, MatchedPairs, ResultSummary};

use super::{Source, syscalls};
use crate::{
    labels,
    page::*,
    phrases::{self, Confidence},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let word = &findings.matched_pairs.first()?.word;
    // Counts come last, because neither more nor fewer is better.
    let (judged, counts): (Vec<_>, Vec<_>) = findings
        .matched_pairs
        .iter()
        .partition(|matched_pairs| matched_pairs.metric.more_is_better().is_some());
    let blocks = judged
        .into_iter()
        .chain(counts)
        .flat_map(|matched_pairs| of_workload(findings, matched_pairs))
        .collect();
    Some(section(format!("Effect of {word}"), blocks))
}

type Row<'a> = (&'a MatchedPair, &'a ResultSummary, &'a ResultSummary);

fn of_workload(findings: &Findings, matched_pairs: &MatchedPairs) -> [Block; 2] {
    let find = |id: &str| findings.result(id);
    let rows: Vec<Row<'_>> = matched_pairs
        .pairs
        .iter()
        .filter_map(|pair| Some((pair, find(&pair.without)?, find(&pair.with)?)))
        .collect();
    let measured = phrases::measured_in(Some(matched_pairs.metric));
    let heading = Text::strong(&matched_pairs.workload).and_faint(format!(" ({measured})"));
    [Block::Heading(heading), Block::Table(table(matched_pairs, &rows))]
}

fn table(matched_pairs: &MatchedPairs, rows: &[Row<'_>]) -> Table {
    let factors = labels::factors(rows.iter().map(|(_, without, _)| &without.levels));
    let common = phrases::common(rows.iter().filter_map(|(pair, ..)| pair.change.ratio_interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let brings = if matched_pairs.metric.more_is_better() == Some(true) { "Speed-up" } else { "Change" };
    let brings = common
        .map_or(brings.to_owned(), |common| format!("{brings} {}", glued(&format!("({common} interval)"))));
    let unit = rows.iter().find_map(|(_, without, _)| syscalls::unit(without));
    let placed = labels::are_placed(rows.iter().map(|(_, without, _)| without.path.as_str()));
    let mut columns: Vec<Column> = placed.then(|| left("Path")).into_iter().collect();
    columns.extend(factors.iter().map(|factor| left(*factor)));
    columns.extend(
        [format!("Without {}", matched_pairs.word), format!("With {}", matched_pairs.word), brings]
            .map(right),
    );
    columns.extend(unit.as_ref().map(|unit| right(format!("Calls {unit}"))));
    let row = |(pair, without, with): &Row<'_>| {
        let median =
            |result: &ResultSummary| Text::from(phrases::value(result.metric, result.value.estimate));
        let mut row: Vec<Text> = placed.then(|| Text::strong(&without.path)).into_iter().collect();
        row.extend(factors.iter().map(|factor| level(without, factor)));
        row.extend([median(without), median(with), change(matched_pairs, pair, confidence)]);
        row.extend(unit.is_some().then(|| calls(without, with)));
        row
    };
    Table { columns, rows: rows.iter().map(row).collect(), caption: None }
}

fn level(result: &ResultSummary, factor: &str) -> Text {
    result.levels.get(factor).map_or_else(|| Text::faint("-"), |level| level.clone().into())
}

fn change(matched_pairs: &MatchedPairs, pair: &MatchedPair, confidence: Confidence) -> Text {
    let tone = phrases::tone(matched_pairs.metric, &pair.change);
    let phrase = Text::of(tone, phrases::gain(&pair.change, confidence));
    match pair.change.ratio_interval {
        Some(_) => phrases::judged(&pair.change, phrase),
        None => phrase,
    }
}

/// Formats the calls of both ends per message or megabyte, without and with the word, e.g. `8.31 → 0.0070`.
fn calls(without: &ResultSummary, with: &ResultSummary) -> Text {
    let rate = |result: &ResultSummary| syscalls::all(result).unwrap_or_else(|| "-".to_owned());
    glued(&format!("{} → {}", rate(without), rate(with))).into()
}
