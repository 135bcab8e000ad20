//! Limitations of a run, in full sentences.

mod design;
mod disturbed;
mod imported;
mod probed;

use std::collections::BTreeSet;

use findings::Findings;
use samples::{RunRecord, RunState};
use stats::interval;
use units::Confidence;
use workload::{Transport, WorkloadSettings};

use crate::{
    compare::CONFIDENCE,
    judged, modality,
    noise::Noise,
    observations::Observations,
    single_trial,
    words::{count, list},
};

/// Fewer trials than this cannot establish a difference.
const FEW_TRIALS: usize = 5;
/// Runnable tasks per CPU, before the run, above which the machine is not called idle.
const BUSY_PER_CPU: f64 = 0.5;

/// Every caveat that applies, the ones that concern all numbers first.
pub(crate) fn caveats(
    record: &RunRecord,
    measured: &[Observations<'_>],
    noise: &Noise,
    findings: &Findings,
) -> Vec<String> {
    let mut caveats = Vec::new();
    caveats.extend(disturbed::caveats(record, measured));
    caveats.extend(unfinished(record));
    caveats.extend(unmeasured(record, measured));
    caveats.extend(imported::caveats(record, measured));
    caveats.extend(design::caveats(record, findings));
    caveats.extend(few_trials(measured));
    caveats.extend(no_floor(measured, noise));
    caveats.extend(two_ratios(findings));
    caveats.extend(loaded(record));
    caveats.extend(virtual_machine(record));
    caveats.extend(unprivileged(record));
    caveats.extend(congestion(record, measured));
    caveats.extend(unusable(measured));
    caveats.extend(probed::caveats(measured, findings));
    caveats.extend(nothing_arrived(measured));
    caveats.extend(devices_changed(measured));
    caveats.extend(free_and_two_humped(measured));
    caveats
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

/// Skipped results are listed elsewhere with their reason; these have none.
fn unmeasured(record: &RunRecord, measured: &[Observations<'_>]) -> Option<String> {
    let known = |id: &str| {
        measured.iter().any(|cell| cell.record.id == id) || record.skipped.iter().any(|it| it.cell == id)
    };
    let absent: Vec<&str> =
        record.header.cells.iter().map(|cell| cell.id.as_str()).filter(|id| !known(id)).collect();
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
    let own = || measured.iter().filter(|cell| !single_trial::is_told(cell));
    let fewest = own().map(|cell| cell.points.len()).min().filter(|&n| n < FEW_TRIALS)?;
    let cell = own().find(|cell| cell.points.len() == fewest)?;
    let reach = match interval::median_interval(&cell.values(), CONFIDENCE) {
        Some(interval) => {
            format!("the interval of a median reaches at most {} confidence", Confidence(interval.confidence))
        }
        None if single_trial::estimate(cell).is_some() => {
            "the interval covers only variation within that trial".into()
        }
        None => "a median has no interval".into(),
    };
    let few = own().filter(|cell| cell.points.len() < FEW_TRIALS).count();
    Some(format!(
        "{} of {} {} fewer than {FEW_TRIALS} trials. With {fewest}, {reach}, and no difference within this run can \
         be significant: that takes {FEW_TRIALS} blocks, whose interval reaches {}. (Comparing two runs takes four \
         trials of each.)",
        few,
        count(own().count(), "result"),
        if few == 1 { "has" } else { "have" },
        Confidence(CONFIDENCE)
    ))
}

fn no_floor(measured: &[Observations<'_>], noise: &Noise) -> Option<String> {
    let mut bare: Vec<&str> = Vec::new();
    let own = measured.iter().filter(|cell| !single_trial::is_told(cell));
    for workload in own.map(|cell| cell.record.workload.as_str()) {
        if noise.floor(workload).is_none() && !bare.contains(&workload) {
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

/// Dividing the two shown values gives a different ratio than the one shown.
fn two_ratios(findings: &Findings) -> Option<String> {
    let apart = judged::all(findings).filter(|judged| judged.comparison.ratio_of_medians.is_some());
    let cells: BTreeSet<&str> = apart.map(|judged| judged.cell).collect();
    let cells: Vec<&str> = cells.into_iter().collect();
    (!cells.is_empty()).then(|| {
        format!(
            "For {}, the median of the ratios within blocks differs by more than a tenth from the ratio of the \
             medians. The first is shown and used for the verdict, the second is printed after it. The machine \
             changed between blocks, or some blocks lack trials.",
            list(&cells)
        )
    })
}

fn loaded(record: &RunRecord) -> Option<String> {
    let environment = record.header.environment.as_ref()?;
    let load = environment.load_average?[0];
    let cpus = f64::from(environment.cpus.max(1));
    (load / cpus > BUSY_PER_CPU).then(|| {
        format!(
            "The load average was {load:.2} on {} before the run: something else was using the machine and may \
             still have been during the run.",
            count(environment.cpus as usize, "CPU")
        )
    })
}

fn virtual_machine(record: &RunRecord) -> Option<String> {
    let environment = record.header.environment.as_ref()?;
    if let Some(because) = &environment.inside {
        return Some(format!(
            "The run took place in a virtual hypervisor with an emulated processor ({because}): counts are valid; \
             times, rates and CPU time can at most be compared with each other."
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
        "The lab was created in a user namespace without root, so settings that need root have the kernel's defaults."
            .into()
    })
}

fn congestion(record: &RunRecord, measured: &[Observations<'_>]) -> Option<String> {
    let default = record.header.environment.as_ref()?.congestion_default.as_deref()?;
    let mut used: Vec<&str> = measured
        .iter()
        .filter_map(|cell| chosen(cell.record.sent.load()?))
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
    let trials: usize = measured.iter().map(|cell| cell.unusable.len()).sum();
    let ids = ids(measured, |cell| !cell.unusable.is_empty());
    (trials > 0).then(|| {
        format!(
            "{} of {} {} left out for lack of data.",
            count(trials, "trial"),
            list(&ids),
            if trials == 1 { "was" } else { "were" }
        )
    })
}

fn nothing_arrived(measured: &[Observations<'_>]) -> Option<String> {
    let ids = ids(measured, |cell| cell.points.values().any(|point| point.value <= 0.0));
    (!ids.is_empty()).then(|| {
        format!(
            "Nothing arrived in at least one trial of {}. A ratio to zero is meaningless, so {} not compared.",
            list(&ids),
            if ids.len() == 1 { "it is" } else { "they are" }
        )
    })
}

fn devices_changed(measured: &[Observations<'_>]) -> Option<String> {
    let ids = ids(measured, |cell| {
        let mut trials = cell.trials();
        let first = trials.next().map(|trial| &trial.devices);
        trials.any(|trial| Some(&trial.devices) != first)
    });
    (!ids.is_empty()).then(|| {
        format!("Device settings of {} differ between trials; the first trial is shown.", list(&ids))
    })
}

fn free_and_two_humped(measured: &[Observations<'_>]) -> Option<String> {
    let ids = ids(measured, |cell| cell.record.placement == "free" && modality::modality(cell).is_some());
    (!ids.is_empty()).then(|| {
        format!(
            "The scheduler placed the ends of {}, and the results are bimodal: fix the placement (same-cpu or \
             cross-cpu) before comparing.",
            list(&ids)
        )
    })
}

fn ids<'a>(measured: &'a [Observations<'_>], applies: impl Fn(&Observations<'_>) -> bool) -> Vec<&'a str> {
    measured.iter().filter(|cell| applies(cell)).map(|cell| cell.record.id.as_str()).collect()
}

#[cfg(test)]
mod tests;
