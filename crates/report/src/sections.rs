//! The sections of a report and their order. Must not know how any of them is made or shown.

mod cases;
mod caveats;
mod cells;
pub(crate) mod configuration;
pub(crate) mod connections;
mod counters;
mod cpu;
mod cpu_attribution;
mod design;
mod devices;
mod effects;
mod environment;
mod further;
mod head;
pub(crate) mod headline;
mod import;
pub(crate) mod intervals;
mod invalid_trials;
mod ladder;
pub(crate) mod latency;
mod latency_breakdown;
mod machines;
mod matched_pairs;
mod method;
mod packets;
pub(crate) mod percentiles;
mod performance;
mod probes;
mod ranking;
mod recommendations;
mod reported;
mod shifts;
mod skipped;
mod speedup;
mod syscalls;
pub(crate) mod unfinished_calls;
pub(crate) mod verdict;

use findings::{Findings, Objective};
use samples::RunRecord;

use crate::page::{Page, Section};

/// What sections are made from.
pub(crate) struct Source<'a> {
    pub(crate) findings: &'a Findings,
    /// For what findings leave out; a report without it lacks only that.
    pub(crate) record: Option<&'a RunRecord>,
    /// Whose recommendation stands first.
    pub(crate) objective: Objective,
}

/// A section, or nothing where the run has nothing to say on it.
type Build = fn(&Source<'_>) -> Option<Section>;

/// From the answer to the evidence.
const ORDER: &[Build] = &[
    head::build,
    verdict::build,
    recommendations::build,
    ladder::build,
    matched_pairs::build,
    speedup::build,
    cells::build,
    ranking::build,
    effects::build,
    shifts::build,
    reported::build,
    machines::build,
    cpu_attribution::build,
    latency_breakdown::build,
    syscalls::build,
    counters::build,
    packets::build,
    probes::build,
    design::build,
    cases::build,
    performance::build,
    latency::build,
    connections::build,
    syscalls::build_times,
    unfinished_calls::build,
    cpu::build,
    skipped::build,
    import::build,
    caveats::build,
    configuration::build,
    environment::build,
    method::build,
    intervals::build,
    further::build,
];

/// The report of a run.
pub(crate) fn page(findings: &Findings, record: Option<&RunRecord>, objective: Option<Objective>) -> Page {
    let objective = objective.unwrap_or(findings.run.design.objective);
    let source = Source { findings, record, objective };
    let title = findings.run.title.replace(char::is_control, " ");
    Page { title, sections: ORDER.iter().filter_map(|build| build(&source)).collect() }
}
