//! Checks that probes are unique, fit the schedule and apply to at least one workload.

use std::ops::Range;

use samples::ProbeKind;

use crate::{
    diagnosis::Problem,
    document::{Document, Kinds, ProbesTable},
    expand::{self, PlanOptions},
    probes::Probes,
    scenario::Scenario,
};

pub(crate) fn probes(document: &Document) -> Result<Probes, Vec<Problem>> {
    let Some(table) = &document.probes else { return Ok(Probes::default()) };
    let mut problems = Vec::new();
    let kinds = kinds(table, &mut problems);
    if let Some(written) = table.trials.as_ref().filter(|trials| ***trials == 0) {
        let message = "`trials` is 0, but probes need at least one block";
        let help = "use 1 or more, or remove `[probes]`";
        problems.push(Problem::new(written.span(), message, "out of range").help(help));
    }
    let trials = table.trials.as_deref().copied();
    if problems.is_empty() { Ok(Probes { kinds, trials }) } else { Err(problems) }
}

pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let Some(table) = &document.probes else { return Vec::new() };
    let blocks = scenario.schedule.trials;
    let mut problems = Vec::new();
    if let Some(written) = table.trials.as_ref().filter(|trials| ***trials > blocks) {
        let message = format!("{written} blocks with probes, but the run has fewer blocks");
        let help = format!("use {blocks} or fewer, the number of trials per result");
        problems.push(Problem::new(written.span(), message, "too many").help(help));
    }
    let results = expand::results(scenario, &PlanOptions::default());
    for (kind, place) in places(table) {
        if !results.iter().any(|result| kind.sees(&result.load)) {
            let message = "no workload supports `packet-way`";
            let help = "add a ping-pong with a closed loop, or remove `packet-way`";
            problems.push(Problem::new(place, message, "no effect").help(help));
        }
    }
    problems
}

fn kinds(table: &ProbesTable, problems: &mut Vec<Problem>) -> Vec<ProbeKind> {
    let written = match table.kinds.as_ref().map(|kinds| (&**kinds, kinds.span())) {
        None | Some((Kinds::All, _)) => return ProbeKind::ALL.to_vec(),
        Some((Kinds::These(words), place)) if words.is_empty() => {
            let words = ProbeKind::ALL.map(ProbeKind::word).join(", ");
            let help = format!("list at least one of {words}, or remove `[probes]`");
            problems.push(Problem::new(place, "no probe is listed", "empty").help(help));
            return Vec::new();
        }
        Some((Kinds::These(words), _)) => words,
    };
    for (index, word) in written.iter().enumerate() {
        if written[..index].iter().any(|before| before.get_ref() == word.get_ref()) {
            let problem = Problem::new(word.span(), "duplicate probe", "again");
            problems.push(problem.help("remove one of them"));
        }
    }
    let named = |kind: &ProbeKind| written.iter().any(|word| word.get_ref() == kind);
    ProbeKind::ALL.into_iter().filter(named).collect()
}

fn places(table: &ProbesTable) -> Vec<(ProbeKind, Range<usize>)> {
    match table.kinds.as_deref() {
        Some(Kinds::These(words)) => words.iter().map(|word| (**word, word.span())).collect(),
        Some(Kinds::All) | None => Vec::new(),
    }
}
