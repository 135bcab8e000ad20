//! Limitations of a comparison, as full sentences.

use findings::{EnvironmentChange, ResultComparison, RunComparison};
use samples::{RunRecord, RunState};

use super::environment;
use crate::{
    single_trial::{ALLOWANCE, FEWEST_IMPORTED, FEWEST_OWN},
    words::{count, list, percent},
};

const MUCH_NOISE: f64 = 0.1;

pub(super) fn limitations(a: &RunRecord, b: &RunRecord, comparison: &RunComparison) -> Vec<String> {
    let mut limitations = Vec::new();
    limitations.extend(nothing_in_common(comparison));
    limitations.extend(machines(a, b, comparison));
    limitations.extend(scenarios(comparison));
    limitations.extend(unfinished(a, b));
    limitations.extend(several_changes(comparison));
    limitations.extend(few_trials(comparison));
    limitations.extend(noisy(comparison));
    limitations
}

fn nothing_in_common(comparison: &RunComparison) -> Option<String> {
    comparison.results.is_empty().then(|| {
        "The runs have no result in common, neither by name nor by path, workload and levels.".to_owned()
    })
}

fn machines(a: &RunRecord, b: &RunRecord, comparison: &RunComparison) -> Option<String> {
    if environment::other_machine(comparison) {
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

fn scenarios(comparison: &RunComparison) -> Option<String> {
    let changed =
        comparison.environment_changes.iter().find(|change| change.property.starts_with("scenario"))?;
    Some(if environment::other_scenario(comparison) {
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

fn several_changes(comparison: &RunComparison) -> Option<String> {
    let important = |change: &&EnvironmentChange| change.important;
    let changes = comparison.environment_changes.iter().filter(important).count();
    (changes > 1).then(|| {
        format!(
            "{changes} things differ between the runs, and each may explain a difference; these runs cannot show \
             which."
        )
    })
}

fn noisy(comparison: &RunComparison) -> Option<String> {
    let judged = comparison.results.iter().filter(|result| result.p.is_some());
    let floors: Vec<f64> = judged.filter_map(|result| result.floor).filter(|it| *it > MUCH_NOISE).collect();
    let (least, most) =
        floors.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), it| (least.min(*it), most.max(*it)));
    (!floors.is_empty()).then(|| {
        let range = if floors.len() == 1 {
            percent(most).to_string()
        } else {
            format!("{} to {}", percent(least), percent(most))
        };
        format!(
            "Noise between runs is {range} for {}; smaller changes cannot be seen.",
            count(floors.len(), "result")
        )
    })
}

fn is_of_few(result: &ResultComparison) -> bool {
    result.p.is_none() && result.comparison.is_some_and(|it| it.ratio_interval.is_some())
}

fn few_trials(comparison: &RunComparison) -> Option<String> {
    let results = comparison.results.iter().filter(|result| is_of_few(result)).count();
    (results > 0).then(|| {
        format!(
            "{} {} fewer than {FEWEST_OWN} trials in a run, or fewer than {FEWEST_IMPORTED} from another tool. The \
             variation between trials is unknown, so a difference is significant only beyond a tolerance of {}.",
            count(results, "result"),
            if results == 1 { "has" } else { "have" },
            percent(ALLOWANCE)
        )
    })
}
