//! What a trial carried from its first message to its last, the warm-up included: probes see all of it.

use samples::Trial;
use workload::Work;

/// What trials of one cell carried together; `None` where that of one is not known.
pub(super) fn together<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<(Work, f64)> {
    let each: Vec<(Work, f64)> =
        trials.map(|trial| trial.measurement.kind().work()).collect::<Option<_>>()?;
    let (work, _) = *each.first()?;
    let same = each.iter().all(|(other, _)| *other == work);
    same.then(|| (work, each.iter().map(|(_, carried)| carried).sum()))
}
