//! Probes that failed during the run.

use findings::FailedProbe;
use samples::{Arm, MissingProbe, ProbeKind, RunRecord, Trial};

pub(super) fn during_run(record: &RunRecord) -> Vec<FailedProbe> {
    ProbeKind::ALL.into_iter().filter_map(|probe| failed(record, probe)).collect()
}

pub(super) fn used(record: &RunRecord, probes: &[ProbeKind]) -> Vec<ProbeKind> {
    let has = |probe: ProbeKind| watched(record).any(|trial| lack(trial, probe).is_none());
    let nothing_yet = watched(record).next().is_none();
    probes.iter().copied().filter(|probe| nothing_yet || has(*probe)).collect()
}

fn failed(record: &RunRecord, probe: ProbeKind) -> Option<FailedProbe> {
    let lacking = || watched(record).filter_map(|trial| Some((trial, lack(trial, probe)?)));
    let (first, missing) = lacking().next()?;
    let later = watched(record).skip_while(|trial| trial.index != first.index);
    let count = |trials: usize| u32::try_from(trials).unwrap_or(u32::MAX);
    Some(FailedProbe {
        probe,
        reason: missing.reason.clone(),
        first_trial: first.index,
        trials: count(lacking().count()),
        later_trials: count(later.filter(|trial| lack(trial, probe).is_none()).count()),
    })
}

fn watched(record: &RunRecord) -> impl Iterator<Item = &Trial> {
    record.trials.iter().filter(|trial| trial.arm == Arm::Probed)
}

fn lack(trial: &Trial, probe: ProbeKind) -> Option<&MissingProbe> {
    trial.observed.as_ref()?.failed.iter().find(|failed| failed.probe == probe)
}
