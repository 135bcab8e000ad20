//! Limitations of a run, as full sentences.

mod design;
mod disturbed;
mod imported;
mod probed;

use findings::Findings;
use samples::{RunRecord, RunState};
use workload::{Transport, WorkloadSettings};

use crate::{
    fits::Fits,
    observations::Observations,
    single_trial,
    words::{count, list},
};

const FEW_TRIALS: usize = 5;
/// Relative tolerance for rounding when checking that a value is within the range of its samples.
const ROUNDING: f64 = 1e-9;
/// Above this load average per CPU before the run, the machine counts as busy.
const BUSY_PER_CPU: f64 = 0.5;

pub(crate) fn limitations(
    record: &RunRecord,
    measured: &[Observations<'_>],
    fits: &Fits,
    findings: &Findings,
) -> Vec<String> {
    let mut limitations = Vec::new();
    limitations.extend(disturbed::limitations(record, measured));
    limitations.extend(unfinished(record));
    limitations.extend(unmeasured(record, measured));
    limitations.extend(imported::limitations(record, measured));
    limitations.extend(design::limitations(record));
    limitations.extend(few_trials(measured));
    limitations.extend(no_floor(measured, fits));
    limitations.extend(adjusted(findings));
    limitations.extend(outages(findings));
    limitations.extend(loaded(record));
    limitations.extend(virtual_machine(record));
    limitations.extend(unprivileged(record));
    limitations.extend(congestion(record, measured));
    limitations.extend(unusable(measured));
    limitations.extend(probed::limitations(measured, findings));
    limitations.extend(devices_changed(measured));
    limitations
}

fn unfinished(record: &RunRecord) -> Option<String> {
    (record.header.state == RunState::Unfinished).then(|| {
        format!(
            "The run is unfinished ({} of {} planned trials), so results have different numbers of trials until it \
             is resumed.",
            record.trials.len(),
            record.header.planned
        )
    })
}

fn unmeasured(record: &RunRecord, measured: &[Observations<'_>]) -> Option<String> {
    let known = |id: &str| {
        measured.iter().any(|result| result.record.id == id)
            || record.skipped.iter().any(|it| it.result == id)
    };
    let absent: Vec<&str> =
        record.header.results.iter().map(|result| result.id.as_str()).filter(|id| !known(id)).collect();
    (!absent.is_empty()).then(|| {
        format!(
            "{} no usable trial and {} left out: {}.",
            if absent.len() == 1 { "1 result has".into() } else { format!("{} results have", absent.len()) },
            if absent.len() == 1 { "is" } else { "are" },
            list(&absent)
        )
    })
}

fn few_trials(measured: &[Observations<'_>]) -> Option<String> {
    let own = || measured.iter().filter(|result| !single_trial::is_imported(result));
    let fewest = own().map(|result| result.points.len()).min().filter(|&n| n < FEW_TRIALS)?;
    let few = own().filter(|result| result.points.len() < FEW_TRIALS).count();
    Some(format!(
        "{} of {} {} too few trials ({fewest} of {FEW_TRIALS}) for an interval or a significant difference.",
        few,
        count(own().count(), "result"),
        if few == 1 { "has" } else { "have" },
    ))
}

fn no_floor(measured: &[Observations<'_>], fits: &Fits) -> Option<String> {
    let mut bare: Vec<&str> = Vec::new();
    let own = measured.iter().filter(|result| !single_trial::is_imported(result));
    for workload in own.map(|result| result.record.workload.as_str()) {
        if fits.floor(workload).is_none() && !bare.contains(&workload) {
            bare.push(workload);
        }
    }
    (!bare.is_empty()).then(|| {
        format!(
            "The baseline of {} was not repeated in at least two blocks, so there is no noise floor and no \
             difference is significant.",
            list(&bare)
        )
    })
}

/// Reports values outside the range of their own samples. Such values occur if a result ended early and the baseline
/// was unusual in the result's blocks.
fn adjusted(findings: &Findings) -> Option<String> {
    let is_outside = |values: &[f64], value: f64| {
        let received = || values.iter().copied().filter(|value| *value > 0.0);
        let (low, high) = (received().fold(f64::INFINITY, f64::min), received().fold(0.0, f64::max));
        high > 0.0 && !(low * (1.0 - ROUNDING)..=high * (1.0 + ROUNDING)).contains(&value)
    };
    let results = findings.results.iter().filter(|result| is_outside(&result.values, result.value.estimate));
    let results: Vec<&str> = results.map(|result| result.id.as_str()).collect();
    (!results.is_empty()).then(|| {
        format!(
            "Values of {} are adjusted to the run's average, because the baseline deviated from its own \
             average in the blocks where they were measured.",
            list(&results)
        )
    })
}

fn outages(findings: &Findings) -> Option<String> {
    // A count or a time of zero is not an outage.
    let is_outage = |result: &&findings::ResultSummary| {
        result.value.outages > 0 && result.metric.more_is_better() == Some(true)
    };
    let results = findings.results.iter().filter(is_outage);
    let results: Vec<String> = results
        .map(|result| format!("{} ({} of {} trials)", result.id, result.value.outages, result.value.trials))
        .collect();
    let results: Vec<&str> = results.iter().map(String::as_str).collect();
    (!results.is_empty()).then(|| {
        format!(
            "Nothing arrived in some trials, which are excluded from all values and ratios: {}.",
            list(&results)
        )
    })
}

fn loaded(record: &RunRecord) -> Option<String> {
    let environment = record.header.environment.as_ref()?;
    let load = environment.load_average?[0];
    let cpus = f64::from(environment.cpus.max(1));
    (load / cpus > BUSY_PER_CPU).then(|| {
        format!(
            "The load average was {load:.2} on {} before the run: other work was using the machine and may \
             have continued during the run.",
            count(environment.cpus as usize, "CPU")
        )
    })
}

fn virtual_machine(record: &RunRecord) -> Option<String> {
    let environment = record.header.environment.as_ref()?;
    if record.trials.iter().any(|trial| trial.instructions.is_some()) {
        let text = "Instructions were counted on one emulated CPU, where each takes one nanosecond. Counts \
                    do not reflect contention between CPUs, caches, vhost or hardware.";
        return Some(text.to_owned());
    }
    if let Some(reason) = &environment.inside {
        return Some(format!(
            "The run took place in a virtual hypervisor with an emulated processor ({reason}): counts are \
             valid; compare times, rates and CPU time only within this run."
        ));
    }
    environment.virtual_machine.then(|| {
        "The machine is virtual: timing on virtual CPUs varies, so ratios within a run mean more than absolute \
         numbers."
            .into()
    })
}

fn unprivileged(record: &RunRecord) -> Option<String> {
    (!record.header.environment.as_ref()?.privileged).then(|| {
        "The lab was created in a user namespace without root, so settings that require root keep the kernel's defaults."
            .into()
    })
}

fn congestion(record: &RunRecord, measured: &[Observations<'_>]) -> Option<String> {
    let default = record.header.environment.as_ref()?.congestion_default.as_deref()?;
    let mut used: Vec<&str> = measured
        .iter()
        .filter_map(|result| chosen(result.record.sent.load()?))
        .filter(|chosen| *chosen != default)
        .collect();
    used.sort_unstable();
    used.dedup();
    (!used.is_empty()).then(|| {
        format!(
            "TCP used {}, but this machine's default is {default}: applications that use the default will see \
             different numbers.",
            list(&used)
        )
    })
}

fn chosen(load: &WorkloadSettings) -> Option<&str> {
    let socket = load.kind().socket().filter(|_| load.kind().transport() == Some(Transport::Tcp))?;
    socket.congestion.as_deref()
}

fn unusable(measured: &[Observations<'_>]) -> Option<String> {
    let trials: usize = measured.iter().map(|result| result.unusable.len()).sum();
    let ids = ids(measured, |result| !result.unusable.is_empty());
    (trials > 0).then(|| {
        format!(
            "{} of {} {} left out for lack of data.",
            count(trials, "trial"),
            list(&ids),
            if trials == 1 { "was" } else { "were" }
        )
    })
}

fn devices_changed(measured: &[Observations<'_>]) -> Option<String> {
    let ids = ids(measured, |result| {
        let mut trials = result.trials();
        let first = trials.next().map(|trial| &trial.devices);
        trials.any(|trial| Some(&trial.devices) != first)
    });
    (!ids.is_empty()).then(|| {
        format!("Device settings of {} differ between trials; the first trial is shown.", list(&ids))
    })
}

fn ids<'a>(measured: &'a [Observations<'_>], applies: impl Fn(&Observations<'_>) -> bool) -> Vec<&'a str> {
    measured.iter().filter(|result| applies(result)).map(|result| result.record.id.as_str()).collect()
}

#[cfg(test)]
mod tests;
