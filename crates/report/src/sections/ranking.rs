//! Ranks alternative paths, best first, and shows their round trips side by side.

use findings::{Findings, Rank, Ranking, ResultSummary};
use workload::Metric;

use super::{
    Source, headline,
    percentiles::{self, TitledDistribution},
};
use crate::{
    kind::{self, Field},
    labels,
    page::*,
    phrases::{self, Confidence},
};

const SHARED: &str = "Paths that share a place are statistically tied.";

type Row<'a> = (&'a Rank, &'a ResultSummary);

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let blocks: Vec<Block> =
        findings.rankings.iter().flat_map(|ranking| of_workload(findings, ranking)).collect();
    section_of("Ranking", blocks)
}

fn of_workload(findings: &Findings, ranking: &Ranking) -> Vec<Block> {
    let find = |rank: &Rank| findings.result(&rank.result);
    let rows: Vec<Row<'_>> = ranking.ranks.iter().filter_map(|rank| Some((rank, find(rank)?))).collect();
    let settings = labels::levels(&ranking.levels).map(|levels| format!(", {levels}")).unwrap_or_default();
    let measured = phrases::measured_in(Some(ranking.metric));
    let heading = Text::strong(format!("{}{settings}", ranking.workload)).and_faint(format!(" ({measured})"));
    let mut blocks = vec![Block::Heading(heading), Block::Table(table(ranking, &rows))];
    // Results are in scenario order, with the baseline first.
    let ranked =
        findings.results.iter().filter(|result| rows.iter().any(|(rank, _)| rank.result == result.id));
    let named: Vec<TitledDistribution<'_>> =
        ranked.filter_map(|result| Some((result.path.clone(), result.times()?))).collect();
    if !named.is_empty() {
        blocks.push(Block::Heading(format!("{}{settings}, percentiles", ranking.workload).into()));
        let tables = if ranking.metric == Metric::RoundTrip {
            percentiles::pooled_tables
        } else {
            percentiles::tables
        };
        blocks.extend(tables(&named));
    }
    blocks
}

fn further(result: &ResultSummary) -> Vec<Field> {
    let change = ("Change", result.against_baseline.as_ref().map(phrases::gain_alone));
    [change].into_iter().chain(kind::of(result).ranked()).collect()
}

fn table(ranking: &Ranking, rows: &[Row<'_>]) -> Table {
    let results: Vec<&ResultSummary> = rows.iter().map(|(_, result)| *result).collect();
    let against = results.iter().filter_map(|result| result.against_baseline.as_ref());
    let common = phrases::common(against.filter_map(|comparison| comparison.difference_interval));
    let confidence = if common.is_some() { Confidence::InHead } else { Confidence::Inline };
    let titles = kind::titles(results.iter().map(|result| further(result)));
    let has_times = results.iter().any(|result| result.times().is_some());
    let value = if has_times { "Value".to_owned() } else { headline::title(&results) };
    let mut columns = vec![right("Place"), left("Path"), right(value), right("Difference")];
    columns.extend(titles.iter().map(|title| right(*title)));
    let row = |(rank, result): &Row<'_>| {
        let mut row = vec![
            rank.place.to_string().into(),
            Text::strong(&rank.path),
            phrases::value(ranking.metric, rank.value).into(),
            phrases::to_baseline(result, confidence),
        ];
        let dash = || Text::faint("-");
        let phrase = further(result);
        row.extend(titles.iter().map(|title| kind::phrase(&phrase, title).map_or_else(dash, Text::from)));
        row
    };
    let shared = rows.windows(2).any(|two| two[0].0.place == two[1].0.place);
    let phrase = common.map(|common| format!("{common} intervals in brackets."));
    let phrase: Vec<String> = phrase.into_iter().chain(shared.then(|| SHARED.to_owned())).collect();
    let caption = (!phrase.is_empty()).then(|| Text::faint(phrase.join(" ")));
    Table { columns, rows: rows.iter().map(row).collect(), caption }
}
