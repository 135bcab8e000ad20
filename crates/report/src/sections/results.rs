//! The results: one row per result and one table per workload.

use findings::{Finding, Findings, ResultSummary, Severity};
use samples::ValidityWarning;
use units::significant;
use workload::Work;

use super::{Source, headline};
use crate::{
    kind::{self, Field},
    labels,
    page::*,
    phrases::{self, Confidence, Ratios},
    pictures::results,
};

const NO_INTERVALS: &str =
    "A number without brackets has no interval, so no difference from it is significant.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let mut blocks: Vec<Block> =
        labels::workloads(findings).into_iter().flat_map(|workload| summary(findings, workload)).collect();
    let bare = findings.results.iter().any(|result| is_bare(result) || has_bare_ratio(result));
    blocks.extend(bare.then(|| Block::Paragraph(Text::faint(NO_INTERVALS))));
    section_of("Results", blocks)
}

fn summary(findings: &Findings, workload: &str) -> Vec<Block> {
    let results: Vec<&ResultSummary> =
        findings.results.iter().filter(|result| result.workload == workload).collect();
    let Some(first) = results.first() else { return Vec::new() };
    let same_load = results.iter().all(|result| result.load == first.load);
    let heading = if same_load { first.load.as_str() } else { "load varies by factor" };
    let heading = Text::strong(workload).and_faint(format!(" ({heading})"));
    let layout = Layout::of(&results);
    let table = Table {
        columns: layout.columns(&headline::title(&results)),
        rows: results.iter().map(|result| layout.row(result)).collect(),
        caption: caption(&results),
    };
    let cost_breakdowns = findings.cost_breakdowns.iter().map(|breakdown| &breakdown.workload);
    let is_drawn = cost_breakdowns
        .chain(findings.answers.iter().map(|answer| &answer.workload))
        .any(|it| it == workload);
    let chart = (!is_drawn).then(|| results::chart(findings, workload)).flatten();
    let chart = chart.map(|chart| Block::Chart(Box::new(chart)));
    let results = Block::Results {
        table,
        ids: results.iter().map(|result| result.id.clone()).collect(),
        findings: results.iter().map(|result| about(findings, result)).collect(),
    };
    [Block::Heading(heading)].into_iter().chain(chart).chain([results]).collect()
}

fn about(findings: &Findings, result: &ResultSummary) -> Vec<String> {
    let is_open = |finding: &&Finding| {
        finding.severity != Severity::Note
            && finding.superseded_by.is_none()
            && finding.results.contains(&result.id)
    };
    let ids = findings.findings.iter().filter(is_open).map(|finding| finding.id.as_str());
    labels::distinct(ids).into_iter().map(str::to_owned).collect()
}

fn caption(results: &[&ResultSummary]) -> Option<Text> {
    let has_warnings = results.iter().any(|result| !result.warnings.is_empty());
    let warnings = has_warnings.then_some("! has warnings: see Limitations");
    let halved = |result: &&ResultSummary| {
        result.warnings.iter().any(|(warning, _)| *warning == ValidityWarning::HalfRoundTrips)
    };
    let halves = results.iter().any(halved).then_some(phrases::HALVES);
    let of_kind = results.iter().find_map(|result| kind::of(result).caption());
    let phrase: Vec<&str> = of_kind.into_iter().chain(halves).chain(warnings).collect();
    (!phrase.is_empty()).then(|| Text::faint(phrase.join("; ")))
}

fn is_bare(result: &ResultSummary) -> bool {
    result.value.interval.is_none() && result.value.trials <= 1
}

fn has_bare_ratio(result: &ResultSummary) -> bool {
    result.against_baseline.is_some_and(|comparison| comparison.ratio_interval.is_none())
}

fn further(result: &ResultSummary) -> Vec<Field> {
    let per_byte = result.cpu.and_then(|cpu| cpu.per_work).filter(|cost| cost.work == Work::Bytes);
    let cost = ("CPU-s/GB", per_byte.map(|cost| significant(cost.seconds, 2)));
    kind::of(result).further().into_iter().chain([cost]).collect()
}

struct Layout<'a> {
    factors: Vec<&'a str>,
    placed: bool,
    common: Option<String>,
    confidence: Confidence,
    compared: bool,
    mixed: bool,
    ratios: Ratios,
    further: Vec<&'static str>,
}

impl<'a> Layout<'a> {
    fn of(results: &[&'a ResultSummary]) -> Self {
        let common = phrases::common(results.iter().filter_map(|result| result.value.interval));
        let single = results.iter().all(|result| is_bare(result));
        Self {
            factors: labels::factors(results.iter().map(|result| &result.levels)),
            placed: labels::are_placed(results.iter().map(|result| result.path.as_str())),
            confidence: match &common {
                Some(_) => Confidence::InHead,
                None if single => Confidence::Nowhere,
                None => Confidence::Inline,
            },
            common,
            mixed: !results.iter().all(|result| kind::is_of_sender(result)),
            compared: results.iter().any(|result| result.against_baseline.is_some()),
            ratios: Ratios::of(results.iter().filter_map(|result| result.against_baseline.as_ref())),
            further: kind::titles(results.iter().map(|result| further(result))),
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

    fn row(&self, result: &ResultSummary) -> Vec<Text> {
        let or_dash =
            |phrase: Option<String>| phrase.map_or_else(|| Text::faint("-"), |phrase| phrase.into());
        let value = phrases::estimate_with(result.metric, &result.value, self.confidence);
        let mark = if result.warnings.is_empty() { "" } else { "\u{a0}!" };
        let path = || Text::strong(&result.path);
        let mut row: Vec<Text> = self.placed.then(path).into_iter().collect();
        row.extend(self.factors.iter().map(|factor| or_dash(result.levels.get(*factor).cloned())));
        // Mark a sent rate if the column also contains received rates.
        let sent = if self.mixed && kind::is_of_sender(result) { " sent" } else { "" };
        row.push(Text::from(value).and_faint(sent).and_doubtful(mark));
        row.extend(self.compared.then(|| against_baseline(result, self.ratios)));
        let phrase = further(result);
        row.extend(self.further.iter().map(|title| or_dash(kind::phrase(&phrase, title))));
        row
    }
}

fn against_baseline(result: &ResultSummary, ratios: Ratios) -> Text {
    let Some(comparison) = &result.against_baseline else {
        return Text::faint(if result.baseline { "baseline" } else { "-" });
    };
    if comparison.ratio_interval.is_none() {
        return Text::faint(ratios.phrase(comparison, Confidence::Nowhere));
    }
    let tone = phrases::tone(result.metric, comparison);
    let share = Text::of(tone, ratios.phrase(comparison, Confidence::InHead));
    phrases::judged(comparison, share)
}
