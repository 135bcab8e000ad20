//! Identifies disturbed trials and the processes that disturbed them.

use std::collections::BTreeMap;

use samples::{Disturber, ValidityWarning};

use crate::{
    observations::{Observations, is_disturbed},
    words::list,
};

/// Processes that used less of a CPU than this are not named.
const NAMED: f64 = 0.05;
const MOST_NAMED: usize = 3;

/// Returns whether other work used the CPUs during most trials of a result. Such a result is not compared with any
/// other, neither in its own run nor between runs, because the difference may be due to the other work.
pub(crate) fn is_mostly_disturbed(result: &Observations<'_>) -> bool {
    let (disturbed, all) =
        (result.trials().filter(|trial| is_disturbed(trial)).count(), result.trials().count());
    2 * disturbed > all
}

pub(crate) fn who_disturbed<'a>(results: impl Iterator<Item = &'a Observations<'a>>) -> String {
    let disturbed = results.filter(|result| is_mostly_disturbed(result));
    by(disturbed.flat_map(|result| result.trials()).flat_map(|trial| &trial.warnings))
}

/// Lists disturbing processes with their maximum, e.g. `cc1` used up to 1.20 CPUs.
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
    had.sort_by(|one, other| other.1.total_cmp(&one.1));
    let named = had.iter().take(MOST_NAMED).enumerate().filter(|(at, (_, cpus))| *at == 0 || *cpus >= NAMED);
    let mut words: Vec<String> = named
        .map(|(_, (process, cpus))| format!("{} used up to {cpus:.2} CPUs", Disturber::name(*process)))
        .collect();
    if stalled {
        words.push("a process of the run was stalled".into());
    }
    list(&words)
}
