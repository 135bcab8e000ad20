//! The summary: one row for each cell, one table for each workload.

use findings::{CellSummary, Findings};
use samples::ValidityWarning;
use units::significant;
use workload::Work;

use super::{Source, headline};
use crate::{
    kind::{self, Field},
    labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases::{self, Confidence, Ratios},
    pictures::results,
    text::{Text, Tone, glued},
};

const NO_INTERVALS: &str =
    "A number without brackets has no interval, so no difference from it is significant.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks: Vec<Block> =
        labels::workloads(findings).into_iter().flat_map(|workload| summary(findings, workload)).collect();
    let bare = findings.cells.iter().any(|cell| is_bare(cell) || has_bare_ratio(cell));
    blocks.extend(bare.then(|| Block::Paragraph(Text::of(Tone::Faint, NO_INTERVALS))));
    (!blocks.is_empty()).then(|| section("Results", blocks))
}

fn summary(findings: &Findings, workload: &str) -> Vec<Block> {
    let cells: Vec<&CellSummary> = findings.cells.iter().filter(|cell| cell.workload == workload).collect();
    let Some(first) = cells.first() else { return Vec::new() };
    let same_load = cells.iter().all(|cell| cell.load == first.load);
    let heading = if same_load { first.load.as_str() } else { "load varies by factor" };
    let heading = Text::of(Tone::Strong, workload).and(Tone::Faint, format!(" ({heading})"));
    let layout = Layout::of(&cells);
    let table = Table {
        columns: layout.columns(&headline::title(&cells)),
        rows: cells.iter().map(|cell| layout.row(findings, cell)).collect(),
        caption: caption(&cells),
    };
    let ladders = findings.ladders.iter().map(|ladder| &ladder.workload);
    let is_drawn =
        ladders.chain(findings.answers.iter().map(|answer| &answer.workload)).any(|it| it == workload);
    let chart = (!is_drawn).then(|| results::chart(findings, workload)).flatten();
    let chart = chart.map(|chart| Block::Chart(Box::new(chart)));
    let results = Block::Results { table, ids: cells.iter().map(|cell| cell.id.clone()).collect() };
    [Block::Heading(heading)].into_iter().chain(chart).chain([results]).collect()
}

fn caption(cells: &[&CellSummary]) -> Option<Text> {
    let doubted = cells.iter().any(|cell| !cell.doubts.is_empty());
    let doubts = doubted.then_some("! has warnings: see Limitations");
    let halved =
        |cell: &&CellSummary| cell.doubts.iter().any(|(doubt, _)| *doubt == ValidityWarning::HalfRoundTrips);
    let halves = cells.iter().any(halved).then_some(phrases::HALVES);
    let of_kind = cells.iter().find_map(|cell| kind::of(cell).caption());
    let phrase: Vec<&str> = of_kind.into_iter().chain(halves).chain(doubts).collect();
    (!phrase.is_empty()).then(|| Text::of(Tone::Faint, phrase.join("; ")))
}

/// Whether it is one number without an interval.
fn is_bare(cell: &CellSummary) -> bool {
    cell.value.interval.is_none() && cell.value.trials <= 1
}

/// Whether its ratio to the baseline has no interval.
fn has_bare_ratio(cell: &CellSummary) -> bool {
    cell.against_baseline.is_some_and(|comparison| comparison.ratio_interval.is_none())
}

/// Further columns of a result.
fn further(cell: &CellSummary) -> Vec<Field> {
    let per_byte = cell.cpu.and_then(|cpu| cpu.per_work).filter(|cost| cost.work == Work::Bytes);
    let cost = ("CPU-s/GB", per_byte.map(|cost| significant(cost.seconds, 2)));
    kind::of(cell).further().into_iter().chain([cost]).collect()
}

/// Columns of a table; only those with data.
struct Layout<'a> {
    factors: Vec<&'a str>,
    /// Whether some cell has a path to speak of.
    placed: bool,
    /// The confidence of all intervals, where it is the same.
    common: Option<String>,
    confidence: Confidence,
    compared: bool,
    /// Whether some results have received rates and others only sent rates.
    mixed: bool,
    /// How ratios to the baseline are written.
    ratios: Ratios,
    further: Vec<&'static str>,
}

impl<'a> Layout<'a> {
    fn of(cells: &[&'a CellSummary]) -> Self {
        let common = phrases::common(cells.iter().filter_map(|cell| cell.value.interval));
        let single = cells.iter().all(|cell| is_bare(cell));
        Self {
            factors: labels::factors(cells.iter().map(|cell| &cell.levels)),
            placed: labels::are_placed(cells.iter().map(|cell| cell.path.as_str())),
            confidence: match &common {
                Some(_) => Confidence::InHead,
                None if single => Confidence::Nowhere,
                None => Confidence::Inline,
            },
            common,
            mixed: !cells.iter().all(|cell| kind::is_of_sender(cell)),
            compared: cells.iter().any(|cell| cell.against_baseline.is_some()),
            ratios: Ratios::of(cells.iter().filter_map(|cell| cell.against_baseline.as_ref())),
            further: kind::titles(cells.iter().map(|cell| further(cell))),
        }
    }

    fn columns(&self, value: &str) -> Vec<Column> {
        let value = self.common.as_ref().map_or(value.to_owned(), |confidence| {
            format!("{value} {}", glued(&format!("({confidence} interval)")))
        });
        let mut columns: Vec<Column> = self.placed.then(|| left("Path")).into_iter().collect();
        columns.extend(self.factors.iter().map(|factor| left(*factor)));
        columns.push(right(value));
        columns.extend(self.compared.then(|| right("Of baseline")));
        columns.extend(self.further.iter().map(|title| right(*title)));
        columns
    }

    fn row(&self, findings: &Findings, cell: &CellSummary) -> Vec<Text> {
        let or_dash = |phrase: Option<String>| {
            phrase.map_or_else(|| Text::of(Tone::Faint, "-"), |phrase| phrase.into())
        };
        let value = phrases::estimate_with(cell.metric, &cell.value, self.confidence);
        let mark = if cell.doubts.is_empty() { "" } else { "\u{a0}!" };
        let path = || Text::of(Tone::Strong, &cell.path);
        let mut row: Vec<Text> = self.placed.then(path).into_iter().collect();
        row.extend(self.factors.iter().map(|factor| or_dash(cell.levels.get(*factor).cloned())));
        // Sent rates are marked in a column of received rates.
        let sent = if self.mixed && kind::is_of_sender(cell) { " sent" } else { "" };
        row.push(Text::from(value).and(Tone::Faint, sent).and(Tone::Doubtful, mark));
        row.extend(self.compared.then(|| against_baseline(findings, cell, self.ratios)));
        let phrase = further(cell);
        row.extend(self.further.iter().map(|title| or_dash(kind::phrase(&phrase, title))));
        row
    }
}

fn against_baseline(findings: &Findings, cell: &CellSummary, ratios: Ratios) -> Text {
    let Some(comparison) = &cell.against_baseline else {
        return Text::of(Tone::Faint, if cell.baseline { "baseline" } else { "-" });
    };
    if comparison.ratio_interval.is_none() {
        return Text::of(Tone::Faint, ratios.phrase(comparison, Confidence::Nowhere));
    }
    let tone = phrases::tone(cell.metric, comparison);
    let share = Text::of(tone, ratios.phrase(comparison, Confidence::InHead));
    phrases::judged(findings, &cell.workload, comparison, share)
}
