//! Links the runs that test remedies to the runs that recommended those remedies.

use anyhow::Context;
use findings::Findings;
use samples::RunRecord;
use store::{Store, remedies_name};

/// If a run tested remedies, returns the findings of the run that recommended them, including the test results.
pub(crate) fn findings(store: &Store, record: RunRecord) -> anyhow::Result<(RunRecord, Findings)> {
    if let Some(remedy_trials) = &record.header.remedy_trials {
        let of = &remedy_trials.run;
        let tried = format!("run {} tested the remedies of run {of}", record.header.id);
        let main = store.load(of).with_context(|| tried)?;
        let mut findings = analysis::analyse(&main);
        analysis::remedy_results(&mut findings, &record);
        let note = format!(
            "Run {} tested the remedies of run {of}. This is the report of {of} with the effect of each \
                remedy.",
            record.header.id
        );
        findings.run.about = format!("{note} {}", findings.run.about).trim_end().to_owned();
        return Ok((main, findings));
    }
    let mut findings = analysis::analyse(&record);
    let name = remedies_name(&record.header.id);
    // Runs are sorted from newest to oldest, so this finds the latest test.
    let tried = store.runs()?.into_iter().find(|run| run.id.0.starts_with(&name));
    if let Some(run) = tried {
        analysis::remedy_results(&mut findings, &store.load(&run.id)?);
    }
    Ok((record, findings))
}
