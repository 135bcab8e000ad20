//! Expands a scenario into a plan.

use std::collections::{BTreeMap, HashSet};

use samples::{Design, Objective, ProbeKind};
use units::Nanos;
use workload::WorkloadSettings;

use crate::{
    design::MOST_TRIALS,
    factor::{Level, Setting, WorkloadSetting},
    lab::DeviceSettings,
    names::{DeviceRef, PathName, ResultId, WorkloadName},
    order,
    path::Path,
    plan::{Plan, PlannedResult, PlannedTrial},
    ports,
    probes::Probes,
    scenario::{Ports, Scenario},
    simultaneous, steps,
    workload::Workload,
};

/// The estimated overhead per trial: configuring devices, connecting, settling and storing.
const OVERHEAD: Nanos = Nanos::from_millis(150);

/// The rate assumed for streams that send a fixed number of bytes, in bytes per second.
const GUESSED_SPEED: f64 = 1e9;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanOptions {
    pub trials: Option<u32>,
    pub paths: Vec<PathName>,
    pub workloads: Vec<WorkloadName>,
    pub budget: Option<Nanos>,
    pub precision: Option<f64>,
    pub objective: Option<Objective>,
    /// The design of a stored run, which replaces the scenario's and the options above.
    pub stored: Option<Design>,
    pub probes: Option<Vec<ProbeKind>>,
    /// If not empty, only these results are measured. Entries with `true` are the baselines.
    pub results: BTreeMap<ResultId, bool>,
}

impl PlanOptions {
    fn design(&self, written: &Design) -> Design {
        self.stored.unwrap_or_else(|| Design {
            budget: self.budget.or(written.budget),
            precision: self.precision.or(written.precision),
            objective: self.objective.unwrap_or(written.objective),
            // With a precision or an objective, the run searches for the best setting instead.
            until_clear: written.until_clear && self.precision.is_none() && self.objective.is_none(),
        })
    }

    pub(crate) fn blocks(&self, scenario: &Scenario) -> u32 {
        self.trials(scenario, &self.design(&scenario.schedule.design))
    }

    fn trials(&self, scenario: &Scenario, design: &Design) -> u32 {
        let written = &scenario.schedule;
        let becomes_adaptive = design.is_adaptive() && !written.design.is_adaptive();
        self.trials.unwrap_or(if becomes_adaptive { written.trials.max(MOST_TRIALS) } else { written.trials })
    }

    pub(crate) fn wants_workload(&self, workload: &Workload) -> bool {
        self.workloads.is_empty() || self.workloads.contains(&workload.name)
    }

    fn probes(&self, written: &Probes) -> Probes {
        let requested = self.probes.as_deref().unwrap_or(&written.kinds);
        let kinds = ProbeKind::ALL.into_iter().filter(|kind| requested.contains(kind)).collect();
        Probes { kinds, ..*written }
    }
}

impl Plan {
    /// The same seed and options always produce the same plan, so a run can be repeated and resumed.
    #[must_use]
    pub fn expand(scenario: &Scenario, seed: u64, options: &PlanOptions) -> Self {
        let results = results(scenario, options);
        let design = options.design(&scenario.schedule.design);
        let probes = options.probes(&scenario.probes);
        let rounds = simultaneous::rounds(scenario, &results);
        let trials = order::trials(&results, &rounds, options.trials(scenario, &design), &probes, seed);
        let steps = if design.until_clear { steps::steps(&results, &scenario.paths) } else { Vec::new() };
        Self { seed, results, steps, trials, pause: scenario.schedule.pause, design, probes: probes.kinds }
    }

    #[must_use]
    pub fn of(results: Vec<PlannedResult>, blocks: u32, seed: u64, pause: Nanos) -> Self {
        let trials = order::trials(&results, &[], blocks, &Probes::default(), seed);
        let (design, probes, steps) = (Design::default(), Vec::new(), Vec::new());
        Self { seed, results, steps, trials, pause, design, probes }
    }

    #[must_use]
    pub fn duration_estimate(&self) -> Nanos {
        self.estimate_of(&self.trials)
    }

    pub fn estimate_of<'t>(&self, trials: impl IntoIterator<Item = &'t PlannedTrial>) -> Nanos {
        let (mut sum, mut before): (Nanos, Option<(&PlannedTrial, Nanos)>) = (Nanos(0), None);
        for trial in trials {
            let estimate = self.trial_estimate(trial.result);
            let simultaneous =
                before.filter(|(before, _)| before.is_simultaneous_with(trial)).map(|(_, longest)| longest);
            let longest = estimate.max(simultaneous.unwrap_or_default());
            sum = Nanos(sum.0 + longest.0 - simultaneous.unwrap_or_default().0);
            before = Some((trial, longest));
        }
        sum
    }

    #[must_use]
    pub fn trial_estimate(&self, result: usize) -> Nanos {
        duration_estimate(&self.results[result].load) + self.pause + OVERHEAD
    }
}

fn duration_estimate(load: &WorkloadSettings) -> Nanos {
    let kind = load.kind();
    let (sent, requested) = kind.sends().unwrap_or_default();
    let speed = requested.unwrap_or(GUESSED_SPEED).min(GUESSED_SPEED);
    kind.flows_for().unwrap_or(Nanos((sent.0 as f64 / speed * 1e9) as u64))
}

pub(crate) fn results(scenario: &Scenario, options: &PlanOptions) -> Vec<PlannedResult> {
    let mut results = Vec::new();
    let wanted = scenario.workloads.iter().filter(|workload| options.wants_workload(workload));
    let workloads: Vec<(&Workload, HashSet<&PathName>)> =
        wanted.map(|workload| (workload, workload.path_set())).collect();
    let named: HashSet<&PathName> = options.paths.iter().collect();
    let is_wanted = |path: &&Path| path.baseline || named.is_empty() || named.contains(&path.name);
    for path in scenario.paths.iter().filter(is_wanted) {
        for (workload, _) in workloads.iter().filter(|(_, paths)| paths.contains(&path.name)) {
            results.extend(results_of(scenario, path, workload));
        }
    }
    if !options.results.is_empty() {
        results.retain_mut(|result| {
            let chosen = options.results.get(&result.id);
            result.baseline = chosen.copied().unwrap_or_default();
            chosen.is_some()
        });
    }
    results
}

fn results_of(scenario: &Scenario, path: &Path, workload: &Workload) -> Vec<PlannedResult> {
    let mut choices: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for factor in &scenario.factors {
        let levels: Vec<Option<usize>> = match factor.applies_to(path, workload) {
            true => (0..factor.levels.len()).map(Some).collect(),
            false => vec![None],
        };
        let extended = |choice: &[Option<usize>]| -> Vec<Vec<Option<usize>>> {
            levels.iter().map(|level| choice.iter().copied().chain([*level]).collect()).collect()
        };
        choices = choices.iter().flat_map(|choice| extended(choice)).collect();
    }
    choices.iter().map(|choice| result(scenario, path, workload, choice)).collect()
}

/// If a factor does not apply to a result, the factor's devices still get the first level, to undo the settings
/// of other results.
fn result(scenario: &Scenario, path: &Path, workload: &Workload, choice: &[Option<usize>]) -> PlannedResult {
    let mut varied = workload.without_paths();
    let mut devices: BTreeMap<DeviceRef, DeviceSettings> = scenario.lab.devices.clone();
    let mut levels = BTreeMap::new();
    let (mut words, mut family) = (Vec::new(), None);
    for (factor, chosen) in scenario.factors.iter().zip(choice) {
        factor.set(chosen.unwrap_or(0), &mut devices);
        let Some(level) = chosen.map(|level| &factor.levels[level]) else { continue };
        words.push(format!("{}={}", factor.name, level.label));
        if let Setting::Family(level) = level.setting {
            family = Some(level);
        }
        levels.insert(factor.name.clone(), apply_level(scenario, choice, level, &mut varied));
    }
    varied.size_writes();
    // On existing hosts, closed connections keep their ports in TIME-WAIT for a minute.
    if scenario.schedule.ports == Ports::Fixed && scenario.lab.seat(&path.from.host).is_none() {
        ports::fix(&mut varied.load, &path.name, &workload.name);
    }
    let is_first = path.baseline || (path.is_host() && workload.paths.first() == Some(&path.name));
    let baseline = is_first && choice.iter().all(|level| level.unwrap_or(0) == 0);
    let id = ResultId::new(slug(path, workload, &words));
    PlannedResult {
        id,
        path: path.name.clone(),
        workload: workload.name.clone(),
        levels,
        load: varied.load,
        placement: varied.placement,
        devices,
        baseline,
        family,
    }
}

fn apply_level(
    scenario: &Scenario,
    choice: &[Option<usize>],
    level: &Level,
    workload: &mut Workload,
) -> String {
    let label = level.label.clone();
    match &level.setting {
        Setting::Devices(_) | Setting::Family(_) => label,
        Setting::Workload(WorkloadSetting::StreamsPer { of, times, most }) => {
            let mut factors = scenario.factors.iter().zip(choice);
            let other = factors.find(|(factor, _)| factor.name == *of);
            let number = other.and_then(|(factor, chosen)| factor.number(chosen.unwrap_or(0)));
            let requested = number.unwrap_or(1).saturating_mul(*times);
            WorkloadSetting::Streams(requested.min(*most)).put(workload);
            if requested > *most { format!("{label} (capped at {most})") } else { label }
        }
        Setting::Workload(setting) => {
            setting.put(workload);
            label
        }
    }
}

fn slug(path: &Path, workload: &Workload, levels: &[String]) -> String {
    let stem = format!("{}/{}", path.name, workload.name);
    if levels.is_empty() { stem } else { format!("{stem}/{}", levels.join(",")) }
}
