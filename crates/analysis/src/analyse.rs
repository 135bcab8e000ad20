//! Turns a run's trials into results, comparisons and findings.

use findings::{Findings, RunSummary, RunVerdict, SCHEMA};
use samples::RunRecord;

use crate::{
    commands::Commands,
    cost_breakdown, effects,
    fits::Fits,
    limitations, matched_pairs,
    observations::{self, Observations},
    pair_matrix, probed, ranking, recommendation, remedies, results, rule,
    rules::{self, Context},
    trade_offs::trade_offs,
    verdict,
};

/// Deterministic. Never fails: conclusions that the trials do not support become limitations.
#[must_use]
pub fn analyse(record: &RunRecord) -> Findings {
    let measured = observations::gather(record);
    let fits = Fits::of(&measured);
    let mut findings = measured_findings(record, &measured, &fits);
    findings.matrices = pair_matrix::matrices(&findings, &measured, &fits);
    findings.rankings = ranking::rankings(&findings, &measured, &fits);
    findings.findings = rule::findings(
        rules::ALL,
        &Context {
            header: &record.header,
            findings: &findings,
            measured: &measured,
            fits: &fits,
            ends: &record.ends,
        },
    );
    remedies::complete(&mut findings);
    recommendation::withhold(&mut findings, &Commands::of(&record.header));
    findings.limitations = limitations::limitations(record, &measured, &fits, &findings);
    findings.trade_offs = trade_offs(&findings, &[]);
    findings.verdict = verdict::verdict(&findings, record, &measured, &Commands::of(&record.header));
    findings
}

fn measured_findings(record: &RunRecord, measured: &[Observations<'_>], fits: &Fits) -> Findings {
    Findings {
        schema: SCHEMA,
        run: head(record),
        verdict: RunVerdict::default(),
        results: results::summaries(measured, fits),
        comparisons: u32::try_from(fits.family().comparisons()).unwrap_or(u32::MAX),
        noise: fits.floors(),
        cost_breakdowns: cost_breakdown::cost_breakdowns(measured, fits),
        effects: effects::effects(&record.header.results, measured, fits),
        rankings: Vec::new(),
        matrices: Vec::new(),
        matched_pairs: matched_pairs::matched_pairs(&record.header, measured, fits),
        answers: recommendation::answers(measured, fits),
        trade_offs: None,
        probes: probed::of_run(record, measured),
        findings: Vec::new(),
        skipped: record.skipped.clone(),
        limitations: Vec::new(),
    }
}

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
        completed: u32::try_from(record.trials.len()).unwrap_or(u32::MAX),
        tool: header.tool.clone(),
        origin: header.origin.clone(),
        design: header.design,
        environment: header.environment.clone(),
        machines: header.machines.clone(),
        machine_changes: record.machine_changes.clone(),
        unreadable: record.unreadable.clone(),
        paths: header.paths.clone(),
    }
}
