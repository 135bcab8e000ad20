//! Scenario to plan: the matrix of cells, and their trials in randomised blocks. The order comes from the seed alone,
//! so that a run can be made again and resumed. Must not know how a trial is made.

use std::collections::{BTreeMap, HashSet};

use samples::{Design, Objective, ProbeKind};
use units::Nanos;
use workload::WorkloadSettings;

use crate::{
    design::MOST_TRIALS,
    factor::{Level, Setting, WorkloadSetting},
    lab::DeviceSettings,
    names::{CellId, DeviceRef, PathName, WorkloadName},
    order,
    path::Path,
    plan::{Cell, Plan, PlannedTrial},
    ports,
    probes::Probes,
    scenario::{Ports, Scenario},
    simultaneous, steps,
    workload::Workload,
};

/// What a trial takes beside its traffic: settings, connecting, settling, storing. A guess for the estimate.
const OVERHEAD: Nanos = Nanos::from_millis(150);

/// What a stream of so many bytes is taken to run at, in bytes a second. A guess for the estimate.
const GUESSED_SPEED: f64 = 1e9;

/// What of a scenario is planned; the default is all of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanOptions {
    /// Trials of each cell, where they differ from the scenario's.
    pub trials: Option<u32>,
    /// The paths to plan; empty means all. The baseline is always planned: the others are shown as shares of it.
    pub paths: Vec<PathName>,
    /// The workloads to plan; empty means all.
    pub workloads: Vec<WorkloadName>,
    /// Time for all trials, where it differs from the scenario's.
    pub budget: Option<Nanos>,
    /// How narrow intervals are to be, where it differs from the scenario's.
    pub precision: Option<f64>,
    /// What the best setting is sought for, where it differs from the scenario's.
    pub objective: Option<Objective>,
    /// What some trials are watched with, where it differs from the scenario's; empty means nothing.
    pub probes: Option<Vec<ProbeKind>>,
}

impl PlanOptions {
    fn design(&self, written: &Design) -> Design {
        Design {
            budget: self.budget.or(written.budget),
            precision: self.precision.or(written.precision),
            objective: self.objective.unwrap_or(written.objective),
            // Who asks for a precision or an objective seeks a setting.
            until_clear: written.until_clear && self.precision.is_none() && self.objective.is_none(),
        }
    }

    /// Trials of each cell.
    pub(crate) fn blocks(&self, scenario: &Scenario) -> u32 {
        self.trials(scenario, &self.design(&scenario.schedule.design))
    }

    /// Trials of each cell: a scenario that means a full matrix says too few of them for intervals to narrow.
    fn trials(&self, scenario: &Scenario, design: &Design) -> u32 {
        let written = &scenario.schedule;
        let becomes_adaptive = design.is_adaptive() && !written.design.is_adaptive();
        self.trials.unwrap_or(if becomes_adaptive { written.trials.max(MOST_TRIALS) } else { written.trials })
    }

    pub(crate) fn wants_workload(&self, workload: &Workload) -> bool {
        self.workloads.is_empty() || self.workloads.contains(&workload.name)
    }

    fn probes(&self, written: &Probes) -> Probes {
        let asked = self.probes.as_deref().unwrap_or(&written.kinds);
        let kinds = ProbeKind::ALL.into_iter().filter(|kind| asked.contains(kind)).collect();
        Probes { kinds, ..*written }
    }
}

impl Plan {
    /// Expands `scenario`; equal seeds and options give equal plans.
    #[must_use]
    pub fn expand(scenario: &Scenario, seed: u64, options: &PlanOptions) -> Self {
        let cells = cells(scenario, options);
        let design = options.design(&scenario.schedule.design);
        let probes = options.probes(&scenario.probes);
        let rounds = simultaneous::rounds(scenario, &cells);
        let trials = order::trials(&cells, &rounds, options.trials(scenario, &design), &probes, seed);
        let steps = if design.until_clear { steps::steps(&cells, &scenario.paths) } else { Vec::new() };
        Self { seed, cells, steps, trials, pause: scenario.schedule.pause, design, probes: probes.kinds }
    }

    /// So many blocks of these cells: each once in a block, baselines twice.
    #[must_use]
    pub fn of(cells: Vec<Cell>, blocks: u32, seed: u64, pause: Nanos) -> Self {
        let trials = order::trials(&cells, &[], blocks, &Probes::default(), seed);
        let (design, probes, steps) = (Design::default(), Vec::new(), Vec::new());
        Self { seed, cells, steps, trials, pause, design, probes }
    }

    /// How long the run will take, about: warm-up, traffic and pause of every trial, and what goes on around it.
    #[must_use]
    pub fn duration_estimate(&self) -> Nanos {
        self.estimate_of(&self.trials)
    }

    /// How long these trials will take, about, in that order; those made at the same time as long as the longest of them.
    pub fn estimate_of<'t>(&self, trials: impl IntoIterator<Item = &'t PlannedTrial>) -> Nanos {
        let (mut sum, mut before): (Nanos, Option<(&PlannedTrial, Nanos)>) = (Nanos(0), None);
        for trial in trials {
            let estimate = self.trial_estimate(trial.cell);
            let beside = before.filter(|(before, _)| before.is_beside(trial)).map(|(_, longest)| longest);
            let longest = estimate.max(beside.unwrap_or_default());
            sum = Nanos(sum.0 + longest.0 - beside.unwrap_or_default().0);
            before = Some((trial, longest));
        }
        sum
    }

    /// How long one trial of the cell will take, about, with the pause after it.
    #[must_use]
    pub fn trial_estimate(&self, cell: usize) -> Nanos {
        duration_estimate(&self.cells[cell].load) + self.pause + OVERHEAD
    }
}

/// How long its traffic flows, with the warm-up; a guess where it ends after a number of bytes.
fn duration_estimate(load: &WorkloadSettings) -> Nanos {
    let kind = load.kind();
    let (sent, asked) = kind.sends().unwrap_or_default();
    let speed = asked.unwrap_or(GUESSED_SPEED).min(GUESSED_SPEED);
    kind.flows_for().unwrap_or(Nanos((sent.0 as f64 / speed * 1e9) as u64))
}

/// The cells of a path and workload: every combination of the levels of the factors that apply.
/// The cells of a plan alone: a matrix may be too large for anything else.
pub(crate) fn cells(scenario: &Scenario, options: &PlanOptions) -> Vec<Cell> {
    let mut cells = Vec::new();
    let wanted = scenario.workloads.iter().filter(|workload| options.wants_workload(workload));
    let workloads: Vec<(&Workload, HashSet<&PathName>)> =
        wanted.map(|workload| (workload, workload.path_set())).collect();
    let named: HashSet<&PathName> = options.paths.iter().collect();
    let is_wanted = |path: &&Path| path.baseline || named.is_empty() || named.contains(&path.name);
    for path in scenario.paths.iter().filter(is_wanted) {
        for (workload, _) in workloads.iter().filter(|(_, paths)| paths.contains(&path.name)) {
            cells.extend(cells_of(scenario, path, workload));
        }
    }
    cells
}

fn cells_of(scenario: &Scenario, path: &Path, workload: &Workload) -> Vec<Cell> {
    let mut choices: Vec<Vec<Option<usize>>> = vec![Vec::new()];
    for factor in &scenario.factors {
        let levels: Vec<Option<usize>> = match factor.applies_to(path, workload) {
            true => (0..factor.levels.len()).map(Some).collect(),
            false => vec![None],
        };
        let longer = |choice: &[Option<usize>]| -> Vec<Vec<Option<usize>>> {
            levels.iter().map(|level| choice.iter().copied().chain([*level]).collect()).collect()
        };
        choices = choices.iter().flat_map(|choice| longer(choice)).collect();
    }
    choices.iter().map(|choice| cell(scenario, path, workload, choice)).collect()
}

/// One cell. A factor that does not apply keeps its devices at its first level: what another cell has set must not
/// stay behind.
fn cell(scenario: &Scenario, path: &Path, workload: &Workload, choice: &[Option<usize>]) -> Cell {
    let mut given = workload.without_paths();
    let mut devices: BTreeMap<DeviceRef, DeviceSettings> = scenario.lab.devices.clone();
    let mut levels = BTreeMap::new();
    let mut words = Vec::new();
    for (factor, chosen) in scenario.factors.iter().zip(choice) {
        factor.set(chosen.unwrap_or(0), &mut devices);
        let Some(level) = chosen.map(|level| &factor.levels[level]) else { continue };
        words.push(format!("{}={}", factor.name, level.label));
        levels.insert(factor.name.clone(), give(scenario, choice, level, &mut given));
    }
    given.size_writes();
    // The kernel of a host that exists already keeps the ports of a connection that has ended for a minute.
    if scenario.schedule.ports == Ports::Fixed && scenario.lab.seat(&path.from.host).is_none() {
        ports::fix(&mut given.load, &path.name, &workload.name);
    }
    // Of hosts, the first that the workload names.
    let is_first = path.baseline || (path.is_host() && workload.paths.first() == Some(&path.name));
    let baseline = is_first && choice.iter().all(|level| level.unwrap_or(0) == 0);
    let id = CellId::new(slug(path, workload, &words));
    Cell {
        id,
        path: path.name.clone(),
        workload: workload.name.clone(),
        levels,
        load: given.load,
        placement: given.placement,
        devices,
        baseline,
    }
}

/// Gives a workload what the level says of workloads. The level's label; where it is a multiple of another factor's level,
/// it tells if they are fewer than asked.
fn give(scenario: &Scenario, choice: &[Option<usize>], level: &Level, workload: &mut Workload) -> String {
    let label = level.label.clone();
    match &level.setting {
        Setting::Devices(_) => label,
        Setting::Workload(WorkloadSetting::StreamsPer { of, times, most }) => {
            let mut factors = scenario.factors.iter().zip(choice);
            // A factor that does not apply keeps its devices at the first level.
            let other = factors.find(|(factor, _)| factor.name == *of);
            let number = other.and_then(|(factor, chosen)| factor.number(chosen.unwrap_or(0)));
            let asked = number.unwrap_or(1).saturating_mul(*times);
            WorkloadSetting::Streams(asked.min(*most)).put(workload);
            if asked > *most { format!("{label} (capped at {most})") } else { label }
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
