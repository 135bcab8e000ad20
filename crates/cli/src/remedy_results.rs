//! Runs that have tried the remedies of others: which belong together, and what they say together.

use anyhow::Context;
use findings::Findings;
use samples::{RunId, RunRecord};
use store::Store;

/// What follows a run's name in the name of the run that tries its remedies.
const SUFFIX: &str = "-remedies";

/// What a run that tries the remedies of `run` is to be called, but for a number behind it.
pub(crate) fn name(run: &RunId) -> String {
    format!("{run}{SUFFIX}")
}

/// The run whose remedies `run` tried, by its name, if that one is kept.
pub(crate) fn parent<'a>(run: &RunId, kept: impl Iterator<Item = &'a RunId>) -> Option<&'a RunId> {
    kept.filter(|other| *other != run && run.0.starts_with(&name(other))).max_by_key(|other| other.0.len())
}

/// The run that is to be reported, and what it says. For a run that has tried remedies, that is the run whose they are;
/// what they brought is in its findings.
pub(crate) fn findings(store: &Store, record: RunRecord) -> anyhow::Result<(RunRecord, Findings)> {
    if let Some(tries) = &record.header.tries {
        let of = &tries.of;
        let tried = format!("run {} has tried the remedies of run {of}", record.header.id);
        let main = store.load(of).with_context(|| tried)?;
        let mut findings = analysis::analyse(&main);
        analysis::remedy_results(&mut findings, &record);
        let asked = format!(
            "Run {} tried the remedies of run {of}: this is the report of {of}, with what each remedy brought under it.",
            record.header.id
        );
        findings.run.about = format!("{asked} {}", findings.run.about).trim_end().to_owned();
        return Ok((main, findings));
    }
    let mut findings = analysis::analyse(&record);
    let name = name(&record.header.id);
    // The newest first: what is tried again replaces what was tried before.
    let tried = store.runs()?.into_iter().find(|run| run.id.0.starts_with(&name));
    if let Some(run) = tried {
        analysis::remedy_results(&mut findings, &store.load(&run.id)?);
    }
    Ok((record, findings))
}
