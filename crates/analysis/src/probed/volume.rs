//! Work done in a trial, including the warm-up, which probes see too.

use samples::Trial;
use workload::Work;

pub(super) fn together<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<(Work, f64)> {
    let each: Vec<(Work, f64)> =
        trials.map(|trial| trial.measurement.kind().work()).collect::<Option<_>>()?;
    let (work, _) = *each.first()?;
    let same = each.iter().all(|(other, _)| *other == work);
    same.then(|| (work, each.iter().map(|(_, carried)| carried).sum()))
}
