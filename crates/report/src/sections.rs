//! The sections of a report and their order. Must not know how any of them is made or shown.

mod answers;
mod cases;
mod caveats;
mod cells;
pub(crate) mod configuration;
pub(crate) mod connections;
mod counters;
mod cpu;
mod design;
mod devices;
mod effects;
mod environment;
mod head;
pub(crate) mod headline;
mod import;
pub(crate) mod intervals;
mod ladder;
pub(crate) mod latency;
mod machines;
mod method;
mod more;
mod owners;
mod packets;
pub(crate) mod percentiles;
mod performance;
mod probes;
mod ranking;
mod reported;
mod shifts;
mod skipped;
mod speedup;
mod syscalls;
mod twins;
pub(crate) mod under_way;
mod valueless;
pub(crate) mod verdict;
mod way;

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
    answers::build,
    ladder::build,
    twins::build,
    speedup::build,
    cells::build,
    ranking::build,
    effects::build,
    shifts::build,
    reported::build,
    machines::build,
    owners::build,
    way::build,
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
    under_way::build,
    cpu::build,
    skipped::build,
    import::build,
    caveats::build,
    configuration::build,
    environment::build,
    method::build,
    intervals::build,
    more::build,
];

/// The report of a run.
pub(crate) fn page(findings: &Findings, record: Option<&RunRecord>, objective: Option<Objective>) -> Page {
    let objective = objective.unwrap_or(findings.run.design.objective);
    let source = Source { findings, record, objective };
    let title = findings.run.title.replace(char::is_control, " ");
    Page { title, sections: ORDER.iter().filter_map(|build| build(&source)).collect() }
}
