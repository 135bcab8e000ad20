//! Identifies disturbed trials and the processes that disturbed them.

use crate::order::sort_descending;
use std::collections::BTreeMap;

use samples::{Disturber, Trial, ValidityWarning};

use crate::{observations::Observations, words::list};

/// Processes that used fewer CPUs are not named, except for the busiest one.
const NAMED: f64 = 0.05;
const MOST_NAMED: usize = 3;

pub(crate) fn is_mostly_disturbed(result: &Observations<'_>) -> bool {
    samples::is_mostly_disturbed(result.trials().map(Trial::is_disturbed))
}

pub(crate) fn who_disturbed<'a>(results: impl Iterator<Item = &'a Observations<'a>>) -> String {
    let disturbed = results.filter(|result| is_mostly_disturbed(result));
    by(disturbed.flat_map(|result| result.trials()).flat_map(|trial| &trial.warnings))
}

/// Lists disturbing processes with their maximum CPU use, e.g. `cc1` used up to 1.20 CPUs.
pub(crate) fn by<'a>(warnings: impl Iterator<Item = &'a ValidityWarning>) -> String {
    let mut had: BTreeMap<Option<&str>, f64> = BTreeMap::new();
    let mut stalled = false;
    for warning in warnings {
        match warning {
            ValidityWarning::Disturbed { processes, .. } => {
                for Disturber { process, cpus } in processes {
                    let most = had.entry(process.as_deref()).or_default();
                    *most = most.max(*cpus);
                }
            }
            ValidityWarning::Stalled { .. } => stalled = true,
            _ => {}
        }
    }
    let mut had: Vec<(Option<&str>, f64)> = had.into_iter().collect();
    sort_descending(&mut had, |one| one.1);
    let named = had.iter().take(MOST_NAMED).enumerate().filter(|(at, (_, cpus))| *at == 0 || *cpus >= NAMED);
    let mut words: Vec<String> = named
        .map(|(_, (process, cpus))| format!("{} used up to {cpus:.2} CPUs", Disturber::name(*process)))
        .collect();
    if stalled {
        words.push("a process of the run was stalled".into());
    }
    list(&words)
}

#[cfg(test)]
mod tests {
    use findings::Difference;

    use super::*;
    use crate::{analyse, fixtures::Fixture, history, run_results};

    fn half_disturbed() -> Fixture {
        let mut run = Fixture::new(6);
        run.path("bare", &["veth", "bridge"]);
        run.path("first", &["virtio", "bridge"]).path("second", &["virtio", "bridge"]);
        run.stream("bare", &[], 20e9).stream("first", &[], 10e9).stream("second", &[], 6e9);
        run.path("swept", &["virtio", "bridge"]);
        for (level, rate) in [("on", 20e9), ("off", 10e9), ("half", 6e9)] {
            run.stream("swept", &[("offload", level)], rate);
        }
        let warning = ValidityWarning::Disturbed { share: 0.8, processes: Vec::new() };
        for result in ["second/bulk", "swept/bulk/offload=half"] {
            run.each(result, |trial| trial.warnings.push(warning.clone()));
        }
        run
    }

    #[test]
    fn disturbed_results_are_not_judged_and_others_of_the_run_are() {
        let findings = analyse(&half_disturbed().record);
        let change = |id: &str| {
            let result = findings.result(id).expect("the run has this result");
            result.against_baseline.expect("it is compared")
        };
        assert_eq!(change("first/bulk").verdict, Difference::Lower);
        assert_eq!(change("second/bulk").verdict, Difference::Unclear);
        assert!(change("second/bulk").ratio < 0.4, "the number is still reported");
        let effect = |level: &str| {
            let effect = findings.effects.iter().find(|effect| effect.level == level);
            effect.expect("it is compared with the first level").change.verdict
        };
        assert_eq!((effect("off"), effect("half")), (Difference::Lower, Difference::Unclear));
        let ranked = findings.rankings.iter().flat_map(|ranking| &ranking.ranks);
        let places: Vec<(&str, u32)> = ranked.map(|rank| (rank.path.as_str(), rank.place)).collect();
        assert!(places.contains(&("first", 2)) && places.contains(&("second", 2)), "{places:?}");
    }

    #[test]
    fn history_knows_which_results_are_disturbed() {
        let results = run_results(&half_disturbed().record);
        let disturbed = results.results.iter().filter(|result| result.disturbed);
        let disturbed: Vec<&str> = disturbed.map(|result| result.result.as_str()).collect();
        assert_eq!(disturbed, ["second/bulk", "swept/bulk/offload=half"]);
        let results = std::sync::Arc::new(results);
        let runs: Vec<_> = (0..9).map(|_| std::sync::Arc::clone(&results)).collect();
        let levels = |id: &str| {
            history(&runs).into_iter().find(|it| it.newest.result == id).expect("it is included").levels.len()
        };
        assert_eq!((levels("first/bulk"), levels("second/bulk")), (1, 0));
    }
}
