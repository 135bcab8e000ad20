//! The sections of a report and their order.

mod cases;
pub(crate) mod configuration;
pub(crate) mod connections;
mod cost_breakdown;
mod counters;
mod cpu;
mod cpu_attribution;
mod design;
mod devices;
mod effects;
mod environment;
mod head;
pub(crate) mod headline;
mod import;
mod instructions;
pub(crate) mod intervals;
mod invalid_trials;
pub(crate) mod latency;
mod latency_breakdown;
mod limitations;
mod machines;
mod matched_pairs;
mod method;
mod packets;
mod pairs;
pub(crate) mod percentiles;
mod performance;
mod probes;
mod ranking;
mod recommendations;
mod reported;
mod results;
mod shifts;
mod skipped;
mod speedup;
mod summary;
mod syscalls;
mod trade_offs;
pub(crate) mod unfinished_calls;
pub(crate) mod verdict;

use findings::{Findings, Objective};
use samples::RunRecord;
use workload::Metric;

use crate::{
    harmless::in_a_line,
    page::{Page, Summary, *},
    render::{Options, View},
};

pub(crate) struct Source<'a> {
    pub(crate) findings: &'a Findings,
    pub(crate) record: Option<&'a RunRecord>,
    pub(crate) objective: Objective,
}

impl<'a> Source<'a> {
    pub(crate) fn new(findings: &'a Findings, record: Option<&'a RunRecord>, options: &Options) -> Self {
        let objective = options.objective.unwrap_or(findings.run.design.objective);
        Self { findings, record, objective }
    }
}

type Build = fn(&Source<'_>) -> Option<Section>;

struct Entry {
    name: &'static str,
    place: Place,
    build: Build,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The section identifies the run and is on every page.
    Head,
    /// The section is also on the short page.
    Short,
    /// The section is also on the short page, unless another section there shows the values.
    Chart,
    /// The section is on the full page, before the findings.
    Detail,
    Full,
}

const fn entry(name: &'static str, place: Place, build: Build) -> Entry {
    Entry { name, place, build }
}

/// Ordered from the answer to the evidence.
const ORDER: &[Entry] = &[
    entry("head", Place::Head, head::build),
    entry("summary", Place::Short, summary::build),
    entry("recommendations", Place::Short, recommendations::build),
    entry("layers", Place::Short, cost_breakdown::build),
    entry("matched-pairs", Place::Short, matched_pairs::build),
    entry("pairs", Place::Short, pairs::build),
    entry("ranking", Place::Short, ranking::build),
    entry("levels", Place::Short, speedup::build),
    entry("trade-offs", Place::Short, trade_offs::build),
    entry("instructions", Place::Detail, instructions::build),
    entry("results", Place::Chart, results::build),
    entry("latency-breakdown", Place::Detail, latency_breakdown::build),
    entry("findings", Place::Short, verdict::build),
    entry("settings", Place::Full, effects::build),
    entry("jumps", Place::Full, shifts::build),
    entry("reported", Place::Full, reported::build),
    entry("virtual-machines", Place::Full, machines::build),
    entry("cpu-attribution", Place::Full, cpu_attribution::build),
    entry("system-calls", Place::Full, syscalls::build),
    entry("drops", Place::Full, counters::build),
    entry("packets", Place::Full, packets::build),
    entry("probes", Place::Full, probes::build),
    entry("design", Place::Full, design::build),
    entry("cases", Place::Full, cases::build),
    entry("performance", Place::Full, performance::build),
    entry("latency", Place::Full, latency::build),
    entry("connections", Place::Full, connections::build),
    entry("system-call-times", Place::Full, syscalls::build_times),
    entry("unfinished-calls", Place::Full, unfinished_calls::build),
    entry("cpu-time", Place::Full, cpu::build),
    entry("skipped", Place::Short, skipped::build),
    entry("import", Place::Full, import::build),
    entry("limitations", Place::Full, limitations::build),
    entry("configuration", Place::Full, configuration::build),
    entry("environment", Place::Full, environment::build),
    entry("method", Place::Full, method::build),
    entry("intervals", Place::Full, intervals::build),
];

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ORDER.iter().filter(|entry| entry.place != Place::Head).map(|entry| entry.name)
}

pub(crate) fn page(findings: &Findings, record: Option<&RunRecord>, options: &Options, usual: View) -> Page {
    let source = Source::new(findings, record, options);
    let title = in_a_line(&findings.run.title);
    let mut sections = match options.view.unwrap_or(usual) {
        // A terminal cannot fold sections, so it shows details only on request.
        View::Full if usual == View::Short => {
            built(&source, |_| true).map(|(_, section)| section.unfolded()).collect()
        }
        View::Full => built(&source, |_| true).map(|(entry, section)| laid_out(entry, section)).collect(),
        View::Short => short(&source),
        View::Section(name) => {
            let wanted = built(&source, |entry| entry.place == Place::Head || entry.name == name);
            let mut wanted: Vec<Section> = wanted.map(|(_, section)| section.unfolded()).collect();
            if wanted.len() == 1 {
                wanted.push(section(
                    name,
                    vec![Block::Paragraph("This run has no data for this section.".into())],
                ));
            }
            wanted
        }
    };
    if options.summary == Summary::Last
        && let Some(place) =
            sections.iter().position(|section| section.title.as_deref() == Some(summary::TITLE))
    {
        let summary = sections.remove(place);
        sections.push(summary);
    }
    Page { title, sections }
}

fn laid_out(entry: &Entry, section: Section) -> Section {
    match section.depth {
        Depth::Always if entry.place == Place::Full => Section { depth: Depth::Folded, ..section },
        _ => section,
    }
}

fn short(source: &Source<'_>) -> Vec<Section> {
    // If a run only counted system calls, these counts are its results.
    let counts = source.findings.results.iter().all(|result| result.metric == Metric::Count);
    let is_short = |entry: &Entry| match entry.place {
        Place::Detail | Place::Full => counts && entry.name == "system-calls",
        Place::Head | Place::Short | Place::Chart => true,
    };
    let brief = |(entry, section): (&'static Entry, Section)| match entry.name {
        "findings" => (entry, verdict::short(source)),
        _ => (entry, section),
    };
    let shown: Vec<(&Entry, Section)> = built(source, is_short).map(brief).collect();
    let charts = ["recommendations", "layers", "matched-pairs", "pairs", "ranking", "levels", "system-calls"];
    let charted = shown.iter().any(|(entry, _)| charts.contains(&entry.name));
    let kept = shown.into_iter().filter(|(entry, _)| !charted || entry.place != Place::Chart);
    kept.map(|(_, section)| section).collect()
}

fn built<'a>(
    source: &'a Source<'_>,
    wanted: impl Fn(&Entry) -> bool + 'a,
) -> impl Iterator<Item = (&'static Entry, Section)> + 'a {
    ORDER.iter().filter(move |entry| wanted(entry)).filter_map(|entry| Some((entry, (entry.build)(source)?)))
}
