//! Paths that are alternatives, the best first, and their round trips side by side.

use findings::{CellSummary, Findings, Rank, Ranking};

use super::{
    Source, headline,
    percentiles::{self, TitledDistribution},
};
use crate::{
    kind::{self, Field},
    labels,
    page::{Block, Section, Table, left, right, section},
    phrases::{self, Confidence},
    text::{Text, Tone},
};

const SHARED: &str = "Paths that share a place are statistically tied.";

type Row<'a> = (&'a Rank, &'a CellSummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let blocks: Vec<Block> =
        findings.rankings.iter().flat_map(|ranking| of_workload(findings, ranking)).collect();
    (!blocks.is_empty()).then(|| section("Ranking", blocks))
}

fn of_workload(findings: &Findings, ranking: &Ranking) -> Vec<Block> {
    let find = |rank: &Rank| findings.cells.iter().find(|cell| cell.id == rank.cell);
    let rows: Vec<Row<'_>> = ranking.ranks.iter().filter_map(|rank| Some((rank, find(rank)?))).collect();
    let settings = labels::levels(&ranking.levels).map(|levels| format!(", {levels}")).unwrap_or_default();
    let measured = phrases::measured_in(Some(ranking.metric));
    let heading = Text::of(Tone::Strong, format!("{}{settings}", ranking.workload))
        .and(Tone::Faint, format!(" ({measured})"));
    let mut blocks = vec![Block::Heading(heading), Block::Table(table(findings, ranking, &rows))];
    // In scenario order, baseline first.
    let ranked = findings.cells.iter().filter(|cell| rows.iter().any(|(rank, _)| rank.cell == cell.id));
    let named: Vec<TitledDistribution<'_>> =
        ranked.filter_map(|cell| Some((cell.path.clone(), kind::of(cell).judged()?))).collect();
    if !named.is_empty() {
        blocks.push(Block::Heading(format!("{}{settings}, percentiles", ranking.workload).into()));
        blocks.extend(percentiles::tables(&named));
    }
    blocks
}

/// Further columns of a result.
fn further(cell: &CellSummary) -> Vec<Field> {
    let change = ("Change", cell.against_baseline.as_ref().map(phrases::gain_alone));
    [change].into_iter().chain(kind::of(cell).ranked()).collect()
}

fn table(findings: &Findings, ranking: &Ranking, rows: &[Row<'_>]) -> Table {
    let cells: Vec<&CellSummary> = rows.iter().map(|(_, cell)| *cell).collect();
    let against = cells.iter().filter_map(|cell| cell.against_baseline.as_ref());
    let common = phrases::common(against.filter_map(|comparison| comparison.difference_interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let titles = kind::titles(cells.iter().map(|cell| further(cell)));
    let has_times = cells.iter().any(|cell| kind::of(cell).judged().is_some());
    let value = if has_times { "Median".to_owned() } else { headline::title(&cells) };
    let mut columns = vec![right("Place"), left("Path"), right(value), right("Difference")];
    columns.extend(titles.iter().map(|title| right(*title)));
    let row = |(rank, cell): &Row<'_>| {
        let mut row = vec![
            rank.place.to_string().into(),
            Text::of(Tone::Strong, &rank.path),
            phrases::value(ranking.metric, rank.value).into(),
            phrases::to_baseline(findings, cell, confidence),
        ];
        let dash = || Text::of(Tone::Faint, "-");
        let phrase = further(cell);
        row.extend(titles.iter().map(|title| kind::phrase(&phrase, title).map_or_else(dash, Text::from)));
        row
    };
    let shared = rows.windows(2).any(|two| two[0].0.place == two[1].0.place);
    let phrase = common.map(|common| format!("{common} intervals in brackets."));
    let phrase: Vec<String> = phrase.into_iter().chain(shared.then(|| SHARED.to_owned())).collect();
    let caption = (!phrase.is_empty()).then(|| Text::of(Tone::Faint, phrase.join(" ")));
    Table { columns, rows: rows.iter().map(row).collect(), caption }
}
