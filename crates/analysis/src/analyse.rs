//! The order in which a run is analysed: trials to cells, cells to comparisons, comparisons to claims.
//! Knows no formula and no rule.

use findings::{Findings, RunSummary, SCHEMA};
use samples::RunRecord;

use crate::{
    answer, caveats, cells, effects, ladder, measured,
    noise::Noise,
    probed, ranking,
    rules::{self, Context},
    twins,
};

/// Everything that can be said of a run. Equal records give equal findings.
///
/// Never fails: what the trials do not suffice for is absent, and a caveat says so.
#[must_use]
pub fn analyse(record: &RunRecord) -> Findings {
    let measured = measured::gather(record);
    let noise = Noise::of(&measured);
    let mut findings = Findings {
        schema: SCHEMA,
        run: head(record),
        cells: cells::summaries(&measured, &noise),
        noise: noise.floors().cloned().collect(),
        ladders: ladder::ladders(&measured, &noise),
        effects: effects::effects(&record.header.cells, &measured, &noise),
        rankings: Vec::new(),
        twins: twins::twins(&measured, &noise),
        answers: answer::answers(&measured),
        probes: probed::of_run(record, &measured),
        claims: Vec::new(),
        skipped: record.skipped.clone(),
        caveats: Vec::new(),
    };
    findings.rankings = ranking::rankings(&findings, &measured, &noise);
    findings.claims = rules::claims(&Context { findings: &findings, measured: &measured });
    findings.caveats = caveats::caveats(record, &measured, &noise, &findings);
    findings
}

/// The head of a run's report.
pub(crate) fn head(record: &RunRecord) -> RunSummary {
    let header = &record.header;
    RunSummary {
        id: header.id.clone(),
        scenario: header.scenario.name.clone(),
        title: header.scenario.title.clone(),
        about: header.scenario.about.clone(),
        started: header.started,
        state: header.state,
        seed: header.seed,
        blocks: header.blocks,
        planned: header.planned,
        made: u32::try_from(record.trials.len()).unwrap_or(u32::MAX),
        tool: header.tool.clone(),
        origin: header.origin.clone(),
        design: header.design,
        environment: header.environment.clone(),
        paths: header.paths.clone(),
    }
}
