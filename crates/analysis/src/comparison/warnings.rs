//! Limitations of a comparison, in full sentences.

use findings::{CellComparison, RunComparison, SurroundingChange};
use samples::{RunRecord, RunState};

use super::environment;
use crate::{
    single_trial::{ALLOWANCE, FEWEST_TOLD},
    words::{count, list, percent},
};

/// Noise that may hide a regression.
const MUCH_NOISE: f64 = 0.1;

/// All limitations, general ones first.
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
        "The runs have no result in common, neither by name nor by path, workload and levels.".to_owned()
    })
}

fn machines(a: &RunRecord, b: &RunRecord, contrast: &RunComparison) -> Option<String> {
    if environment::other_machine(contrast) {
        return Some(
            "The runs come from different machines, which may explain any difference; no regression can be \
             established."
                .into(),
        );
    }
    let unknown = |record: &RunRecord| record.header.environment.is_none();
    let unknown_runs = match (unknown(a), unknown(b)) {
        (false, false) => return None,
        (true, true) => "either run",
        (true, false) => "A",
        (false, true) => "B",
    };
    Some(format!(
        "The machine of {unknown_runs} is unknown, so both runs may come from different machines or have had different load."
    ))
}

fn scenarios(contrast: &RunComparison) -> Option<String> {
    let changed = contrast.surroundings.iter().find(|change| change.what.starts_with("scenario"))?;
    Some(if environment::other_scenario(contrast) {
        format!(
            "The runs have different scenarios ({} in A, {} in B), which may explain any difference; no regression \
             can be established.",
            changed.a, changed.b
        )
    } else {
        "The scenario changed between the runs; results are matched by name or by path, workload and levels."
            .to_owned()
    })
}

fn unfinished(a: &RunRecord, b: &RunRecord) -> Option<String> {
    let state = |record: &RunRecord| record.header.state == RunState::Unfinished;
    let runs: Vec<&str> =
        [("A", state(a)), ("B", state(b))].into_iter().filter(|(_, is)| *is).map(|(run, _)| run).collect();
    (!runs.is_empty())
        .then(|| format!("Unfinished: {}. Results have different numbers of trials.", list(&runs)))
}

fn several_changes(contrast: &RunComparison) -> Option<String> {
    let weighty = |change: &&SurroundingChange| change.weighty;
    let changes = contrast.surroundings.iter().filter(weighty).count();
    (changes > 1).then(|| {
        format!(
            "{changes} things differ between the runs, and each may explain a difference; these runs cannot show \
             which."
        )
    })
}

fn noisy(contrast: &RunComparison) -> Option<String> {
    let judged = contrast.cells.iter().filter(|cell| !is_of_few(cell));
    let floors: Vec<f64> = judged.filter_map(|cell| cell.floor).filter(|it| *it > MUCH_NOISE).collect();
    let (least, most) =
        floors.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), it| (least.min(*it), most.max(*it)));
    (!floors.is_empty()).then(|| {
        let range = if floors.len() == 1 {
            percent(most)
        } else {
            format!("{} to {}", percent(least), percent(most))
        };
        format!(
            "Noise between runs is {range} for {}; smaller changes cannot be seen.",
            count(floors.len(), "result")
        )
    })
}

/// Whether it was judged by a tolerance.
fn is_of_few(cell: &CellComparison) -> bool {
    cell.p.is_none() && cell.comparison.is_some_and(|it| it.ratio_interval.is_some())
}

fn few_trials(contrast: &RunComparison) -> Option<String> {
    let cells = contrast.cells.iter().filter(|cell| is_of_few(cell)).count();
    (cells > 0).then(|| {
        format!(
            "{} {} one trial in a run, or fewer than {FEWEST_TOLD} from another tool. The variation between trials \
             is unknown, so a difference is significant only beyond a tolerance of {}.",
            count(cells, "result"),
            if cells == 1 { "has" } else { "have" },
            percent(ALLOWANCE)
        )
    })
}
