//! Which trials others disturbed, and who.

use std::collections::BTreeMap;

use samples::{Disturber, Trial, ValidityWarning};

use crate::{observations::Observations, words::list};

/// Processes below this share of a CPU are not named.
const NAMED: f64 = 0.05;
/// Nor are more than these.
const MOST_NAMED: usize = 3;

/// Whether a trial was disturbed, judged by the cause and never by its value.
pub(crate) fn is_disturbed(trial: &Trial) -> bool {
    trial.doubts.iter().any(disturbs)
}

fn disturbs(doubt: &ValidityWarning) -> bool {
    matches!(doubt, ValidityWarning::Disturbed { .. } | ValidityWarning::Stalled { .. })
}

/// Whether most trials of a result were disturbed.
pub(crate) fn is_mostly_disturbed(cell: &Observations<'_>) -> bool {
    let (disturbed, all) = (cell.trials().filter(|trial| is_disturbed(trial)).count(), cell.trials().count());
    2 * disturbed > all
}

/// Processes that disturbed most trials of any result.
pub(crate) fn who_disturbed<'a>(cells: impl Iterator<Item = &'a Observations<'a>>) -> String {
    let disturbed = cells.filter(|cell| is_mostly_disturbed(cell));
    by(disturbed.flat_map(|cell| cell.trials()).flat_map(|trial| &trial.doubts))
}

/// Disturbing processes with their maximum: `cc1` used up to 1.20 CPUs.
pub(crate) fn by<'a>(doubts: impl Iterator<Item = &'a ValidityWarning>) -> String {
    let mut had: BTreeMap<Option<&str>, f64> = BTreeMap::new();
    let mut stalled = false;
    for doubt in doubts {
        match doubt {
            ValidityWarning::Disturbed { by, .. } => {
                for Disturber { process, cpus } in by {
                    let most = had.entry(process.as_deref()).or_default();
                    *most = most.max(*cpus);
                }
            }
            ValidityWarning::Stalled { .. } | ValidityWarning::Interrupted { .. } => stalled = true,
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
