//! Parses text into a scenario.

use sha2::{Digest, Sha256};

use crate::{
    check,
    diagnosis::{Diagnosis, Problem},
    document::{self, Document},
    factor::Factor,
    lab,
    path::Path,
    resolve::{self, Draft},
    scenario::Scenario,
};

impl Scenario {
    /// The error lists all problems in the document, with `source_name` in its messages.
    pub fn parse(source_name: &str, text: &str) -> Result<Self, Diagnosis> {
        let read = document::read(text).and_then(|(mut document, mut problems)| {
            problems.extend(document.convert_addresses());
            resolve_document(&document, text, problems)
        });
        read.map_err(|problems| Diagnosis::new(source_name, text, problems))
    }
}

/// Later checks are skipped if earlier ones fail, so that a single mistake is reported only once.
fn resolve_document(
    document: &Document,
    text: &str,
    mut problems: Vec<Problem>,
) -> Result<Scenario, Vec<Problem>> {
    let schedule = collect_problems(check::schedule(document), &mut problems);
    let trials = schedule.as_ref().map_or(1, |schedule| schedule.trials);
    if let Some(too_many) = check::size(document, trials) {
        problems.push(too_many);
        return Err(problems);
    }
    let mut draft = resolve::lab(document);
    let paths = traced_paths(document, &draft, &mut problems);
    let workloads = collect_problems(check::workloads(document), &mut problems);
    let mut factors = collect_problems(check::factors(document), &mut problems);
    let varied = factors.as_deref_mut().unwrap_or_default();
    check::place_faults(document, &mut draft.lab, varied, &mut problems);
    let probes = collect_problems(check::probes(document), &mut problems);
    let (Some(mut paths), Some(workloads), Some(factors), Some(schedule), Some(probes)) =
        (paths, workloads, factors, schedule, probes)
    else {
        return Err(problems);
    };
    paths.extend(check::hosts(&workloads));
    let (name, title, about) =
        (document.name.get_ref().clone(), document.title.clone(), document.about.clone());
    let digest = digest(text);
    let lab = lab::make_room(draft.lab, factors.iter().flat_map(Factor::device_settings));
    let scenario = Scenario { name, title, about, lab, paths, workloads, factors, schedule, probes, digest };
    if problems.is_empty() {
        problems = check::factors_fit(document, &scenario);
        problems.extend(check::probes_fit(document, &scenario));
        problems.extend(check::vms_fit(document, &scenario));
        problems.extend(check::monitors_fit(document, &scenario));
        problems.extend(check::existing_hosts_fit(document, &scenario));
        problems.extend(check::faults_fit(document, &scenario));
    }
    if problems.is_empty() { Ok(scenario) } else { Err(problems) }
}

fn traced_paths(document: &Document, draft: &Draft, problems: &mut Vec<Problem>) -> Option<Vec<Path>> {
    let mut found = check::words(document, draft);
    if found.is_empty() && !document.broken.lab {
        found = check::lab(document, draft);
    }
    let valid = found.is_empty() && !document.broken.lab;
    problems.extend(found);
    if valid { collect_problems(check::paths(document, draft), problems) } else { None }
}

fn collect_problems<T>(result: Result<T, Vec<Problem>>, problems: &mut Vec<Problem>) -> Option<T> {
    result.map_err(|more| problems.extend(more)).ok()
}

#[must_use]
pub fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}
