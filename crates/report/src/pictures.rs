//! The kinds of charts.

mod columns;
pub(crate) mod comparison;
pub(crate) mod cpu;
pub(crate) mod fast_memory;
pub(crate) mod frontier;
pub(crate) mod heat_map;
pub(crate) mod histogram;
pub(crate) mod latency_breakdown;
pub(crate) mod layers;
mod overlay;
pub(crate) mod percentiles;
pub(crate) mod results;
pub(crate) mod sweep;
pub(crate) mod syscalls;
pub(crate) mod time_series;

use findings::{Findings, MemorySummary, RunComparison};
use samples::RunRecord;

use crate::{
    chart::{self, Chart, Theme},
    render::Options,
    sections::Source,
};

enum Build {
    Run(fn(&Source<'_>) -> Vec<Chart>),
    Comparison(fn(&RunComparison) -> Vec<Chart>),
}

struct Entry {
    name: &'static str,
    about: &'static str,
    build: Build,
}

const fn of_run(name: &'static str, about: &'static str, build: fn(&Source<'_>) -> Vec<Chart>) -> Entry {
    Entry { name, about, build: Build::Run(build) }
}

/// Ordered from the answer to the evidence.
const KINDS: &[Entry] = &[
    of_run(layers::KIND, "Cost per layer, starting with the path with the fewest layers", layers::build),
    of_run(
        sweep::KIND,
        "A sweep: throughput and CPU time over a factor, with knee and recommendation",
        sweep::build,
    ),
    of_run(heat_map::KIND, "A sweep of two factors as a heat map", heat_map::build),
    of_run(frontier::KIND, "Throughput over CPU time, with the Pareto front", frontier::build),
    of_run(results::KIND, "All results with intervals and trials", results::build),
    of_run(percentiles::KIND, "Latency percentiles, with the tail stretched", percentiles::build),
    of_run(
        percentiles::CDF,
        "Cumulative latency distribution, with a logarithmic tail",
        percentiles::build_cdf,
    ),
    of_run(histogram::KIND, "Latency distribution", histogram::build),
    of_run(latency_breakdown::KIND, "Latency breakdown of a round trip, per hop", latency_breakdown::build),
    of_run(cpu::KIND, "CPU attribution", cpu::build),
    of_run(syscalls::KIND, "Time in system calls: running, waiting and in a guest", syscalls::build),
    of_run(
        time_series::KIND,
        "A trial over time, with level shifts; for streams also the round trip",
        time_series::build,
    ),
    Entry {
        name: comparison::KIND,
        about: "Two runs: ratios of all results with intervals",
        build: Build::Comparison(comparison::build),
    },
];

#[derive(Debug, Clone)]
pub struct Picture(Chart);

impl Picture {
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.0.kind
    }

    #[must_use]
    pub fn title(&self) -> &str {
        &self.0.title
    }

    #[must_use]
    pub fn svg(&self, theme: Theme) -> String {
        chart::file(&self.0, theme)
    }

    #[must_use]
    pub fn csv(&self) -> String {
        self.0.csv()
    }
}

pub fn picture_kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    KINDS.iter().map(|kind| (kind.name, kind.about))
}

#[must_use]
pub fn pictures(findings: &Findings, record: Option<&RunRecord>, options: &Options) -> Vec<Picture> {
    let source = Source::new(findings, record, options);
    let of_kind = |kind: &Entry| match kind.build {
        Build::Run(build) => build(&source),
        Build::Comparison(_) => Vec::new(),
    };
    KINDS.iter().flat_map(of_kind).map(Picture).collect()
}

/// Draws two to [`MOST_RUNS`] runs, with one line each. More runs would need more distinct colours.
#[must_use]
pub fn overlaid_pictures(runs: &[(RunRecord, Findings)], options: &Options) -> Vec<Picture> {
    let sources = runs.iter().map(|(record, findings)| Source::new(findings, Some(record), options));
    overlay::build(&sources.collect::<Vec<_>>()).into_iter().map(Picture).collect()
}

pub const MOST_RUNS: usize = chart::COLOURS;

#[must_use]
pub fn comparison_pictures(comparison: &RunComparison) -> Vec<Picture> {
    let of_kind = |kind: &Entry| match kind.build {
        Build::Run(_) => Vec::new(),
        Build::Comparison(build) => build(comparison),
    };
    KINDS.iter().flat_map(of_kind).map(Picture).collect()
}

#[must_use]
pub fn memory_pictures(summary: &MemorySummary) -> Vec<Picture> {
    fast_memory::build(summary).into_iter().map(Picture).collect()
}
