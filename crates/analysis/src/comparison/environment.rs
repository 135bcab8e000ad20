//! Differences between the environments of two runs: machine, tool, scenario and settings.

use std::collections::BTreeSet;

use findings::{EnvironmentChange, RunComparison};
use samples::{Environment, Origin, RunHeader, RunRecord};
use units::significant;

use super::{
    matching::Pair,
    settings::{self, differs},
};

/// A larger difference in load average per CPU suggests other work on the machine.
const MUCH_LOAD: f64 = 0.25;
/// Basic speeds count as equal if their ratio does not exceed this.
const ALIKE_STEPS: f64 = 1.25;

/// Maximum number of characters of a scenario line in a table.
const LONGEST_LINE: usize = 40;

const SCENARIO: &str = "scenario";
const SCENARIO_TEXT: &str = "scenario text";
const CPU_MODEL: &str = "CPU model";
const CPUS: &str = "CPUs";
const ARCHITECTURE: &str = "architecture";
pub(super) const LOAD_AVERAGE: &str = "load average before the run";

pub(super) fn changes(a: &RunRecord, b: &RunRecord, pairs: &[Pair<'_, '_>]) -> Vec<EnvironmentChange> {
    let mut changes = of_runs(a, b);
    if let (Some(a), Some(b)) = (&a.header.environment, &b.header.environment) {
        changes.extend(of_machines(a, b));
    }
    let settings = settings::changes(pairs);
    if settings.iter().any(|change| change.important) {
        // The settings already list the relevant differences between the scenario texts.
        changes
            .iter_mut()
            .filter(|change| change.property == SCENARIO_TEXT)
            .for_each(|text| text.important = false);
    }
    changes.extend(settings);
    changes.sort_by_key(|change| !change.important);
    changes
}

pub(super) fn other_machine(comparison: &RunComparison) -> bool {
    comparison
        .environment_changes
        .iter()
        .any(|change| [CPU_MODEL, CPUS, ARCHITECTURE].contains(&change.property.as_str()))
}

pub(super) fn other_scenario(comparison: &RunComparison) -> bool {
    comparison.environment_changes.iter().any(|change| change.property == SCENARIO)
}

fn of_runs(a: &RunRecord, b: &RunRecord) -> Vec<EnvironmentChange> {
    let blocks = differs("blocks", blocks(a).to_string(), blocks(b).to_string(), false);
    let (a, b) = (&a.header, &b.header);
    let [name, text] = of_scenarios(a, b);
    [
        name,
        text,
        differs("plumb", a.tool.clone(), b.tool.clone(), true),
        differs("measured by", by(&a.origin), by(&b.origin), true),
        kernels(a).zip(kernels(b)).and_then(|(a, b)| differs("kernels of guests", a, b, true)),
        blocks,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn kernels(header: &RunHeader) -> Option<String> {
    let kernels: BTreeSet<&str> =
        header.machines.iter().filter_map(|machine| machine.kernel.as_deref()).collect();
    (!kernels.is_empty()).then(|| Vec::from_iter(kernels).join(", "))
}

fn blocks(record: &RunRecord) -> usize {
    record.trials.iter().map(|trial| trial.block).collect::<BTreeSet<_>>().len()
}

fn of_scenarios(a: &RunHeader, b: &RunHeader) -> [Option<EnvironmentChange>; 2] {
    if a.origin.imported().is_some() || b.origin.imported().is_some() {
        return [None, None];
    }
    let (a, b) = (&a.scenario, &b.scenario);
    let known = a.name == b.name && !a.digest.is_empty() && !b.digest.is_empty();
    let text = (known && a.digest != b.digest).then(|| {
        let equal = a.text.lines().zip(b.text.lines()).take_while(|(a, b)| a == b).count();
        let line_of = |text: &str| line(text, equal);
        let property = SCENARIO_TEXT.to_owned();
        EnvironmentChange { property, a: line_of(&a.text), b: line_of(&b.text), important: true }
    });
    [differs(SCENARIO, a.name.clone(), b.name.clone(), true), text]
}

fn line(text: &str, index: usize) -> String {
    let number = index + 1;
    match text.lines().nth(index) {
        Some(line) if line.chars().count() > LONGEST_LINE => {
            format!("line {number}: {} ...", line.chars().take(LONGEST_LINE).collect::<String>())
        }
        Some(line) => format!("line {number}: {line}"),
        None => format!("no line {number}"),
    }
}

fn by(origin: &Origin) -> String {
    match origin {
        Origin::Measured => "plumb".to_owned(),
        Origin::Imported(_) => "other tools".to_owned(),
    }
}

pub(crate) fn of_machines(a: &Environment, b: &Environment) -> Vec<EnvironmentChange> {
    let (one, other) = (a, b);
    let yes = |on: bool| if on { "yes" } else { "no" }.to_owned();
    let known = |what: &str, of: fn(&Environment) -> Option<String>, important: bool| {
        differs(what, of(one)?, of(other)?, important)
    };
    let whole =
        |what: &str, of: fn(&Environment) -> String, important| differs(what, of(one), of(other), important);
    [
        known(CPU_MODEL, |it| it.cpu_model.clone(), true),
        whole(CPUS, |it| it.cpus.to_string(), true),
        whole(ARCHITECTURE, |it| it.architecture.clone(), true),
        whole("kernel", |it| it.kernel.clone(), true),
        known("default congestion control", |it| it.congestion_default.clone(), true),
        known("frequency governor", |it| it.governor.clone(), true),
        differs("virtual machine", yes(a.virtual_machine), yes(b.virtual_machine), true),
        differs("root", yes(a.privileged), yes(b.privileged), true),
        load_average(a, b),
        steps(a, b),
        whole("usable CPUs", |it| it.usable_cpus.len().to_string(), true),
        known("clock source", |it| it.clock_source.clone(), false),
        whole("memory", |it| it.memory.to_string(), false),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn load_average(a: &Environment, b: &Environment) -> Option<EnvironmentChange> {
    let each = |it: &Environment| Some(it.load_average?[0] / f64::from(it.cpus.max(1)));
    if (each(a)? - each(b)?).abs() <= MUCH_LOAD {
        return None;
    }
    let words = |it: &Environment| it.load_average.map(|load| format!("{:.2}", load[0]));
    differs(LOAD_AVERAGE, words(a)?, words(b)?, true)
}

/// Compares the machines' basic speed, judging by the overhead of the measurement engine.
fn steps(a: &Environment, b: &Environment) -> Option<EnvironmentChange> {
    let cost = |it: &Environment| it.engine.map(|engine| engine.syscall_ns).filter(|cost| *cost > 0.0);
    let (one, other) = (cost(a)?, cost(b)?);
    if (one.max(other) / one.min(other)) <= ALIKE_STEPS {
        return None;
    }
    let words = |cost| format!("{} ns", significant(cost, 3));
    differs("cost of a system call", words(one), words(other), false)
}
