//! What has to be known before a contrast of two runs is believed, in full sentences.

use findings::{CellComparison, RunComparison, SurroundingChange};
use samples::{RunRecord, RunState};

use super::environment;
use crate::{
    single_trial::{ALLOWANCE, FEWEST_TOLD},
    words::{count, list, percent},
};

/// A noise that hides what many would call a loss.
const MUCH_NOISE: f64 = 0.1;

/// Every caveat that applies, what concerns all cells first.
pub(super) fn caveats(a: &RunRecord, b: &RunRecord, contrast: &RunComparison) -> Vec<String> {
    let mut caveats = Vec::new();
    caveats.extend(nothing_in_common(contrast));
    caveats.extend(machines(a, b, contrast));
    caveats.extend(scenarios(contrast));
    caveats.extend(unfinished(a, b));
    caveats.extend(several_changes(contrast));
    caveats.extend(few_trials(contrast));
    caveats.extend(noisy(contrast));
    caveats
}

fn nothing_in_common(contrast: &RunComparison) -> Option<String> {
    contrast.cells.is_empty().then(|| {
        "The runs have no measured cell in common: neither a name nor a path, workload and levels that are equal."
            .to_owned()
    })
}

fn machines(a: &RunRecord, b: &RunRecord, contrast: &RunComparison) -> Option<String> {
    if environment::other_machine(contrast) {
        return Some(
            "The runs were made on different machines: a difference may be the machine's alone, and no loss is \
             established by it."
                .into(),
        );
    }
    let unknown = |record: &RunRecord| record.header.environment.is_none();
    let whose = match (unknown(a), unknown(b)) {
        (false, false) => return None,
        (true, true) => "either run",
        (true, false) => "A",
        (false, true) => "B",
    };
    Some(format!(
        "The machine of {whose} is not known: whether both runs were made on the same one, and under the same load, cannot \
         be told."
    ))
}

fn scenarios(contrast: &RunComparison) -> Option<String> {
    let changed = contrast.surroundings.iter().find(|change| change.what.starts_with("scenario"))?;
    Some(if environment::other_scenario(contrast) {
        format!(
            "The runs are not of one scenario ({} in A, {} in B): a difference may be the scenarios' alone, and no loss is \
             established by it.",
            changed.a, changed.b
        )
    } else {
        "The scenario was changed between the runs: cells of equal name, or equal path, workload and levels, are held \
         against each other."
            .to_owned()
    })
}

fn unfinished(a: &RunRecord, b: &RunRecord) -> Option<String> {
    let state = |record: &RunRecord| record.header.state == RunState::Unfinished;
    let runs: Vec<&str> =
        [("A", state(a)), ("B", state(b))].into_iter().filter(|(_, is)| *is).map(|(run, _)| run).collect();
    (!runs.is_empty())
        .then(|| format!("Unfinished: {}. Cells rest on unequal numbers of trials.", list(&runs)))
}

fn several_changes(contrast: &RunComparison) -> Option<String> {
    let weighty = |change: &&SurroundingChange| change.weighty;
    let changes = contrast.surroundings.iter().filter(weighty).count();
    (changes > 1).then(|| {
        format!(
            "{changes} things around the runs differ that may each explain a difference: which of them it was, these runs \
             do not say."
        )
    })
}

fn noisy(contrast: &RunComparison) -> Option<String> {
    let judged = contrast.cells.iter().filter(|cell| !is_of_few(cell));
    let floors: Vec<f64> = judged.filter_map(|cell| cell.floor).filter(|it| *it > MUCH_NOISE).collect();
    let most = floors.iter().copied().fold(0.0, f64::max);
    (!floors.is_empty()).then(|| {
        format!(
            "In {} two runs may differ by more than {} by noise alone, in the noisiest by {}: `same` says there that no \
             larger difference was seen.",
            count(floors.len(), "result"),
            percent(MUCH_NOISE),
            percent(most)
        )
    })
}

/// Whether an allowance stands for what its trials do not say.
fn is_of_few(cell: &CellComparison) -> bool {
    cell.p.is_none() && cell.comparison.is_some_and(|it| it.ratio_interval.is_some())
}

fn few_trials(contrast: &RunComparison) -> Option<String> {
    let cells = contrast.cells.iter().filter(|cell| is_of_few(cell)).count();
    (cells > 0).then(|| {
        format!(
            "{} {} one trial in a run, or fewer than {FEWEST_TOLD} of another tool: these do not tell what another would give, \
             so a difference is called one only beyond an allowance of {}.",
            count(cells, "cell"),
            if cells == 1 { "has" } else { "have" },
            percent(ALLOWANCE)
        )
    })
}
