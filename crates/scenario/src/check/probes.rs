//! What trials are watched with: each probe once, in as many blocks as there are, and on something that it sees.

use std::ops::Range;

use samples::ProbeKind;
use toml::Spanned;

use crate::{
    diagnosis::Problem,
    document::{Document, Kinds, ProbesTable},
    expand::{self, PlanOptions},
    probes::Probes,
    scenario::Scenario,
};

/// The probes of the document.
pub(crate) fn probes(document: &Document) -> Result<Probes, Vec<Problem>> {
    let Some(table) = &document.probes else { return Ok(Probes::default()) };
    let mut problems = Vec::new();
    let kinds = kinds(table, &mut problems);
    if let Some(written) = table.trials.as_ref().filter(|trials| *trials.get_ref() == 0) {
        let message = "no block with probed trials is out of range";
        let help = "take 1 or more, or take the table `probes` out";
        problems.push(Problem::new(written.span(), message, "out of range").help(help));
    }
    let trials = table.trials.as_ref().map(|trials| *trials.get_ref());
    if problems.is_empty() { Ok(Probes { kinds, trials }) } else { Err(problems) }
}

/// What is wrong with the probes of a scenario that is right otherwise.
pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let Some(table) = &document.probes else { return Vec::new() };
    let blocks = scenario.schedule.trials;
    let mut problems = Vec::new();
    if let Some(written) = table.trials.as_ref().filter(|trials| *trials.get_ref() > blocks) {
        let message = format!("{} blocks cannot hold probed trials", written.get_ref());
        let help = format!("take {blocks} or less: that is how many trials each cell gets");
        problems.push(Problem::new(written.span(), message, "more than there are").help(help));
    }
    let cells = expand::cells(scenario, &PlanOptions::default());
    for (kind, place) in places(table) {
        if !cells.iter().any(|cell| kind.sees(&cell.load)) {
            let message = "no workload has messages whose way can be followed";
            let help = "add a ping-pong whose schedule is closed, or take `packet-way` out";
            problems.push(Problem::new(place, message, "sees nothing").help(help));
        }
    }
    problems
}

fn kinds(table: &ProbesTable, problems: &mut Vec<Problem>) -> Vec<ProbeKind> {
    let written = match table.kinds.as_ref().map(|kinds| (kinds.get_ref(), kinds.span())) {
        None | Some((Kinds::All, _)) => return ProbeKind::ALL.to_vec(),
        Some((Kinds::These(words), place)) if words.is_empty() => {
            let words = ProbeKind::ALL.map(ProbeKind::word).join(", ");
            let help = format!("name some of {words}, or take the table `probes` out");
            problems.push(Problem::new(place, "no probe is named", "empty").help(help));
            return Vec::new();
        }
        Some((Kinds::These(words), _)) => words,
    };
    for (index, word) in written.iter().enumerate() {
        if written[..index].iter().any(|before| before.get_ref() == word.get_ref()) {
            let problem = Problem::new(word.span(), "this probe is named twice", "again");
            problems.push(problem.help("take one of them out"));
        }
    }
    let named = |kind: &ProbeKind| written.iter().any(|word| word.get_ref() == kind);
    ProbeKind::ALL.into_iter().filter(named).collect()
}

/// The probes that are named one by one, with their places.
fn places(table: &ProbesTable) -> Vec<(ProbeKind, Range<usize>)> {
    match table.kinds.as_ref().map(Spanned::get_ref) {
        Some(Kinds::These(words)) => words.iter().map(|word| (*word.get_ref(), word.span())).collect(),
        Some(Kinds::All) | None => Vec::new(),
    }
}
