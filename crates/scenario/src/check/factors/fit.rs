//! Checks each factor against its paths and workloads.

use std::{collections::BTreeMap, ops::Range};
use workload::{PingPongSettings, Placement, Schedule, StreamSettings};

use crate::{
    check::{mtu, workloads},
    diagnosis::Problem,
    document::{Document, Entry, FactorTable, Spanned},
    expand::{self, PlanOptions},
    factor::{Factor, Level, Setting, WorkloadSetting},
    lab::{DeviceSettingKind, DeviceSettings, Lab},
    names::DeviceRef,
    path::Path,
    scenario::Scenario,
    workload::Workload,
};

/// The maximum number of results in a plan with factors. One result per path and workload is always allowed.
const CELLS: usize = 2000;

pub(crate) fn fit(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (entry, factor) in document.factors.iter().zip(&scenario.factors) {
        problems.extend(idle_devices(entry, factor, &scenario.paths));
        if problems.is_empty() {
            problems.extend(without_effect(entry, factor, scenario));
        }
        problems.extend(messages(entry, factor, scenario));
        problems.extend(without_period(entry, factor, scenario));
    }
    problems.extend(too_many(document, scenario));
    if problems.is_empty() {
        problems.extend(mtus(document, scenario));
        problems.extend(spin_on_one_cpu(document, scenario));
    }
    problems
}

fn idle_devices(entry: &Entry<FactorTable>, factor: &Factor, paths: &[Path]) -> Vec<Problem> {
    let applies = |path: &&Path| factor.paths.is_empty() || factor.paths.contains(&path.name);
    let idle = entry
        .table
        .devices
        .iter()
        .filter(|device| !paths.iter().filter(applies).any(|path| path.devices.contains(&device.0)));
    let problem = |device: &Spanned<crate::document::As<DeviceRef>>| {
        let message = format!("no path of the factor `{}` uses `{}`", entry.name(), device.0);
        let help = "remove the device, or add a path through it";
        Problem::new(device.span(), message, "not on any path").help(help)
    };
    idle.map(problem).collect()
}

fn without_effect(entry: &Entry<FactorTable>, factor: &Factor, scenario: &Scenario) -> Option<Problem> {
    let message = format!("the factor `{}` has no effect", entry.name());
    let help = "no path or workload that it applies to has this setting";
    let none = !pairs(scenario).any(|(path, workload)| factor.applies_to(path, workload));
    none.then(|| Problem::new(entry.table.vary.span(), message, "no effect").help(help))
}

fn pairs(scenario: &Scenario) -> impl Iterator<Item = (&Path, &Workload)> {
    scenario.workloads.iter().flat_map(|workload| {
        let its = workload.path_set();
        let paths = scenario.paths.iter().filter(move |path| its.contains(&path.name));
        paths.map(move |path| (path, workload))
    })
}

fn messages(entry: &Entry<FactorTable>, factor: &Factor, scenario: &Scenario) -> Vec<Problem> {
    let loads = pairs(scenario).filter(|(path, workload)| factor.applies_to(path, workload));
    let ranges = loads.map(|(_, workload)| match StreamSettings::of(&workload.load) {
        Some(stream) => workloads::stream_messages(stream.transport),
        None => workloads::MESSAGES,
    });
    let Some(range) = ranges.reduce(|a, b| *a.start().max(b.start())..=*a.end().min(b.end())) else {
        return Vec::new();
    };
    let written = entry.table.places().into_iter().zip(&factor.levels);
    let problems = written.filter_map(|(place, level)| match level.setting {
        Setting::Workload(WorkloadSetting::Message(size)) => workloads::message_out_of(&range, size, place),
        Setting::Workload(_) | Setting::Devices(_) | Setting::Family(_) => None,
    });
    problems.collect()
}

fn without_period(entry: &Entry<FactorTable>, factor: &Factor, scenario: &Scenario) -> Option<Problem> {
    let open = factor
        .levels
        .iter()
        .position(|level| level.setting == Setting::Workload(WorkloadSetting::Open(true)))?;
    let closed = |workload: &Workload| {
        PingPongSettings::of(&workload.load).is_some_and(|ping| ping.schedule == Schedule::Closed)
    };
    let (_, workload) =
        pairs(scenario).find(|(path, workload)| factor.applies_to(path, workload) && closed(workload))?;
    let place = entry.table.places()[open].clone();
    let message = format!("`{}` has no `period` for an open loop", workload.name);
    let help = format!(
        "set `schedule = \"open\"` and a `period` in `[workloads.{}]`; the factor then also measures the closed loop",
        workload.name
    );
    Some(Problem::new(place, message, "no period").help(help))
}

fn spin_on_one_cpu(document: &Document, scenario: &Scenario) -> Option<Problem> {
    let _varied = scenario.factors.first()?;
    let results = expand::results(scenario, &PlanOptions::default());
    let result =
        results.iter().find(|result| result.load.kind().spins() && result.placement == Placement::SameCpu)?;
    let sets = |level: &Level| {
        use WorkloadSetting::{Placement, Waiting};
        matches!(level.setting, Setting::Workload(Waiting(_) | Placement(_)))
    };
    let responsible =
        |factor: &&Factor| result.levels.contains_key(&factor.name) && factor.levels.iter().any(sets);
    let name = scenario.factors.iter().rfind(responsible)?.name.as_str();
    let entry = document.factors.get(name)?;
    let message = format!("both ends of `{}` would spin on one CPU", result.id);
    let help = "each end would wait for the other's time slice; restrict the factor with `workloads`";
    Some(Problem::new(entry.table.values_place(), message, "spins on one CPU").help(help))
}

fn too_many(document: &Document, scenario: &Scenario) -> Option<Problem> {
    // Without factors, many results just mean many pairs of hosts, so there is no limit.
    let last = document.factors.iter().last()?;
    let results = pairs(scenario).map(|(path, workload)| {
        let applied = scenario.factors.iter().filter(|factor| factor.applies_to(path, workload));
        applied.fold(1_usize, |results, factor| results.saturating_mul(factor.levels.len()))
    });
    let (least, results) =
        results.fold((0, 0_usize), |(least, sum), results| (least + 1, sum.saturating_add(results)));
    let most = CELLS.max(least);
    let message = format!("the scenario has {results} results; the limit is {most}");
    let help = "a factor multiplies the results of the paths and workloads that it applies to; restrict it with \
                `paths` and `workloads`, or use fewer values";
    (results > most).then(|| Problem::new(last.name.span(), message, "too many combinations").help(help))
}

fn mtus(document: &Document, scenario: &Scenario) -> Vec<Problem> {
    let factors: Vec<(&Entry<FactorTable>, &Factor)> = document
        .factors
        .iter()
        .zip(&scenario.factors)
        .filter(|(_, factor)| factor.varies(DeviceSettingKind::Mtu))
        .collect();
    let mut problems: Vec<Problem> = Vec::new();
    for choice in choices(&factors) {
        problems.extend(misfits_at(&scenario.lab, &factors, &choice));
        problems.dedup();
    }
    problems
}

fn choices(factors: &[(&Entry<FactorTable>, &Factor)]) -> Vec<Vec<usize>> {
    let mut choices = if factors.is_empty() { Vec::new() } else { vec![Vec::new()] };
    for (_, factor) in factors {
        let longer = |choice: &Vec<usize>, level| choice.iter().copied().chain([level]).collect();
        choices = choices
            .iter()
            .flat_map(|c| (0..factor.levels.len()).map(move |level| longer(c, level)))
            .collect();
        choices.truncate(CELLS);
    }
    choices
}

fn misfits_at(lab: &Lab, factors: &[(&Entry<FactorTable>, &Factor)], choice: &[usize]) -> Vec<Problem> {
    let mut settings: BTreeMap<DeviceRef, DeviceSettings> = lab.devices.clone();
    let mut places: BTreeMap<&DeviceRef, (Range<usize>, &str)> = BTreeMap::new();
    let mut last = (0..0, "");
    for ((entry, factor), &level) in factors.iter().zip(choice) {
        last = (entry.table.places()[level].clone(), entry.name());
        factor.set(level, &mut settings);
        places.extend(factor.devices.iter().map(|device| (device, last.clone())));
    }
    let problem = |misfit: mtu::Misfit| {
        let (place, name) = places.get(&misfit.blamed).cloned().unwrap_or_else(|| last.clone());
        let message = format!("with this value of `{name}`, {}", misfit.message);
        let help = format!("{}: list all devices of the network segment in the factor", misfit.help);
        Problem::new(place, message, "this MTU").help(help)
    };
    mtu::misfits(lab, &settings).into_iter().map(problem).collect()
}
