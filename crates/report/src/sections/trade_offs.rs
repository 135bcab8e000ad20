//! Compares configurations by throughput, latency, CPU time, boot time and memory, and checks requirements. A
//! configuration is a path at one setting of the factors.

use std::collections::BTreeMap;

use findings::{Basis, Finding, Findings, ResultSummary};
use samples::{BootedMachine, PathRecord, ValidityWarning};
use workload::{Metric, ReportedValue, Work};

use super::Source;
use crate::{
    kind, labels,
    page::{Block, Column, Section, Table, left, right, section},
    phrases,
    requirement::{ALLOWANCE, Compliance, Ends, Quantity, Requirement},
    text::{Text, Tone, glued},
};

const TAIL: f64 = 0.99;
const CPU: &str = "CPU-s/GB";
const MACHINES: &str = "Boot: from the start of a machine until its agent responds, for the slower end. Memory: \
     resident size of the machines of both ends at the start of the run.";

struct Configuration<'a> {
    label: String,
    results: Vec<&'a ResultSummary>,
    machines: Vec<&'a BootedMachine>,
    warnings: Vec<&'a Finding>,
    halves: bool,
}

struct Value<'a> {
    value: f64,
    ends: Ends,
    warning: Option<&'a Finding>,
}

struct Judgement<'a> {
    compliance: Compliance,
    value: f64,
    ends: Ends,
    warning: Option<&'a Finding>,
}

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let (findings, required) = (source.findings, source.requirements);
    if required.is_empty() && findings.run.machines.is_empty() {
        return None;
    }
    let configurations = configurations(findings);
    let booted = configurations.iter().filter(|it| !it.machines.is_empty()).count();
    if required.is_empty() && (configurations.len() < 2 || booted < 2) {
        return None;
    }
    let blocks = match required {
        [] => vec![Block::Table(everything(findings, &configurations))],
        _ => what_meets(&configurations, required),
    };
    Some(section("Trade-offs", blocks))
}

pub(super) fn required(source: &Source<'_>) -> Option<Text> {
    let configurations = configurations(source.findings);
    (!source.requirements.is_empty())
        .then(|| answer(&ranked(&configurations, source.requirements), source.requirements))
}

fn configurations(findings: &Findings) -> Vec<Configuration<'_>> {
    let mut places: BTreeMap<(&str, &BTreeMap<String, String>), usize> = BTreeMap::new();
    let mut configurations: Vec<Configuration<'_>> = Vec::new();
    for result in &findings.results {
        let place = *places.entry((&result.path, &result.levels)).or_insert(configurations.len());
        if place == configurations.len() {
            configurations.push(Configuration::new(findings, &result.path, &result.levels));
        }
        configurations[place].add(findings, result);
    }
    configurations
}

fn machines<'a>(findings: &'a Findings, path: &str) -> Vec<&'a BootedMachine> {
    let path: Option<&PathRecord> = findings.run.paths.iter().find(|record| record.name == path);
    let is_end =
        |end: &str, host: &str| end == host || end.strip_prefix(host).is_some_and(|it| it.starts_with(':'));
    let of = |machine: &&BootedMachine| {
        path.is_some_and(|path| is_end(&path.from, &machine.host) || is_end(&path.to, &machine.host))
    };
    findings.run.machines.iter().filter(of).collect()
}

impl<'a> Configuration<'a> {
    fn new(findings: &'a Findings, path: &str, levels: &BTreeMap<String, String>) -> Self {
        let named = labels::are_placed([path].into_iter()) || levels.is_empty();
        let label: Vec<String> =
            named.then(|| path.to_owned()).into_iter().chain(labels::levels(levels)).collect();
        let machines = machines(findings, path);
        Self { label: label.join(", "), results: Vec::new(), machines, warnings: Vec::new(), halves: false }
    }

    fn add(&mut self, findings: &'a Findings, result: &'a ResultSummary) {
        let warnings = |claim: &&Finding| claim.distrusts() && claim.results.contains(&result.id);
        self.warnings.extend(findings.findings.iter().filter(warnings));
        self.halves |= result.warnings.iter().any(|(warning, _)| *warning == ValidityWarning::HalfRoundTrips);
        self.results.push(result);
    }

    fn result(&self, workload: &str) -> Option<&'a ResultSummary> {
        self.results.iter().find(|result| result.workload == workload).copied()
    }

    fn meets_all(&self, required: &[Requirement]) -> Compliance {
        let each =
            required.iter().map(|one| self.judged(one).map_or(Compliance::Unknown, |it| it.compliance));
        each.max().unwrap_or(Compliance::Met)
    }

    /// Returns `None` if nothing was measured. A bound met only by unreliable values is unclear.
    fn judged(&self, requirement: &Requirement) -> Option<Judgement<'a>> {
        let quantity = requirement.quantity;
        let judged =
            self.values(quantity).into_iter().map(|Value { value, ends, warning }| {
                match requirement.judge(ends) {
                    Compliance::Met if warning.is_some() => {
                        Judgement { compliance: Compliance::Unclear, value, ends, warning }
                    }
                    compliance => Judgement { compliance, value, ends, warning: None },
                }
            });
        let worse = |value: f64| if quantity.more_is_better() { -value } else { value };
        judged.max_by(|one, other| {
            one.compliance.cmp(&other.compliance).then(worse(one.value).total_cmp(&worse(other.value)))
        })
    }

    fn values(&self, quantity: Quantity) -> Vec<Value<'a>> {
        let of_result = |result: &ResultSummary, value: f64, ends: Ends| Value {
            value,
            ends,
            warning: self.warnings.iter().find(|warning| warning.results.contains(&result.id)).copied(),
        };
        let of_machines = |value: Option<f64>| {
            let exact = |value| Value { value, ends: Ends::exact(value), warning: None };
            value.map(exact).into_iter().collect()
        };
        let judged_by = |metric: Metric| {
            let results = self.results.iter().filter(move |result| result.metric == metric);
            results
                .map(|result| of_result(result, result.value.estimate, of_trials(result)))
                .collect::<Vec<_>>()
        };
        match quantity {
            Quantity::Percentile(share) => {
                let medians = if share == 0.5 { judged_by(Metric::RoundTrip) } else { Vec::new() };
                let times = self.results.iter().filter_map(|&result| {
                    let (time, ends) = percentile(result, share)?;
                    Some(of_result(result, time, ends))
                });
                let others: Vec<Value<'_>> = times.filter(|_| medians.is_empty()).collect();
                // If the times look like half round trips, the true value may be twice as large.
                let most = if self.halves { 2.0 } else { 1.0 };
                let ends = |time: f64| Ends { low: Some(time), high: Some(most * time) }.widened();
                let reported = self.reported(quantity.word());
                let reported = reported.map(|(result, time)| of_result(result, time, ends(time)));
                medians.into_iter().chain(others).chain(reported).collect()
            }
            Quantity::Throughput => judged_by(Metric::Throughput),
            Quantity::CpuTime => {
                let cost = self.most_cpu_for_bytes();
                cost.map(|(result, cost)| of_result(result, cost, Ends::exact(cost).widened()))
                    .into_iter()
                    .collect()
            }
            Quantity::Boot => of_machines(self.boot()),
            Quantity::Memory => of_machines(self.memory()),
        }
    }

    fn reported(&self, name: &'static str) -> impl Iterator<Item = (&'a ResultSummary, f64)> {
        let is_it = move |value: &&ReportedValue| {
            value.quantity == workload::Quantity::Time && value.name.eq_ignore_ascii_case(name)
        };
        self.results.iter().flat_map(move |&result| {
            result.reported.iter().filter(is_it).map(move |value| (result, value.value))
        })
    }

    fn cpu_for_bytes(&self) -> Option<f64> {
        self.most_cpu_for_bytes().map(|(_, cost)| cost)
    }

    fn most_cpu_for_bytes(&self) -> Option<(&'a ResultSummary, f64)> {
        let costs = self.results.iter().filter_map(|&result| Some((result, result.cpu?.per_work?)));
        let of_bytes = costs.filter(|(_, cost)| cost.work == Work::Bytes);
        of_bytes.map(|(result, cost)| (result, cost.seconds)).max_by(|one, other| one.1.total_cmp(&other.1))
    }

    fn boot(&self) -> Option<f64> {
        self.machines.iter().map(|machine| machine.ready.0 as f64).max_by(f64::total_cmp)
    }

    fn memory(&self) -> Option<f64> {
        let all: Option<Vec<f64>> =
            self.machines.iter().map(|machine| machine.resident.map(|memory| memory.0 as f64)).collect();
        all.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
    }
}

/// The interval of a result's value, widened if it does not include the variation between trials.
fn of_trials(result: &ResultSummary) -> Ends {
    match result.value.interval {
        Some(it) if result.value.basis == Basis::Trials => Ends { low: Some(it.low), high: Some(it.high) },
        Some(it) => Ends { low: Some(it.low), high: Some(it.high) }.widened(),
        None => Ends::exact(result.value.estimate).widened(),
    }
}

fn percentile(result: &ResultSummary, share: f64) -> Option<(f64, Ends)> {
    let times = kind::of(result).judged()?;
    let it = times.percentile(share)?;
    let ends = Ends { low: it.low.map(|low| low.0 as f64), high: it.high.map(|high| high.0 as f64) };
    Some((it.time.0 as f64, if times.basis == Basis::Trials { ends } else { ends.widened() }))
}

fn what_meets(configurations: &[Configuration<'_>], required: &[Requirement]) -> Vec<Block> {
    let rows = ranked(configurations, required);
    vec![Block::Paragraph(answer(&rows, required)), Block::Table(bounded(&rows, required))]
}

fn ranked<'a, 'f>(
    configurations: &'a [Configuration<'f>],
    required: &[Requirement],
) -> Vec<(Compliance, &'a Configuration<'f>)> {
    let mut rows: Vec<(Compliance, &Configuration<'_>)> =
        configurations.iter().map(|it| (it.meets_all(required), it)).collect();
    rows.sort_by(|(one, first), (other, second)| {
        let cost = |it: &Configuration<'_>| it.cpu_for_bytes().unwrap_or(f64::INFINITY);
        one.cmp(other).then(cost(first).total_cmp(&cost(second)))
    });
    rows
}

fn answer(rows: &[(Compliance, &Configuration<'_>)], required: &[Requirement]) -> Text {
    let bounds = required.iter().map(|one| glued(&one.to_string())).collect::<Vec<_>>().join(" and ");
    if let [(compliance, only)] = rows {
        let (tone, phrase) = match compliance {
            Compliance::Met => (Tone::Good, "meets"),
            Compliance::Unclear => (Tone::Doubtful, "may not meet"),
            Compliance::Unknown => (Tone::Doubtful, "has no measurement for"),
            Compliance::Missed => (Tone::Bad, "misses"),
        };
        return Text::of(tone, format!("{} {phrase} {bounds}.", only.label));
    }
    let count = |wanted: Compliance| rows.iter().filter(|(meets, _)| *meets == wanted).count();
    let open = match count(Compliance::Unclear) {
        0 => String::new(),
        unclear => format!("; {unclear} undecided"),
    };
    let met = count(Compliance::Met);
    let Some((Compliance::Met, first)) = rows.first() else {
        let missed = match count(Compliance::Missed) {
            0 => "None is certain to meet".to_owned(),
            1 => format!("1 of {} misses", rows.len()),
            missed => format!("{missed} of {} miss", rows.len()),
        };
        return Text::of(Tone::Bad, format!("{missed} {bounds}{open}."));
    };
    let cheapest = first.cpu_for_bytes().filter(|_| met > 1).map_or_else(String::new, |cost| {
        format!(" with the lowest CPU time, {}", glued(&Quantity::CpuTime.phrase(cost)))
    });
    let others = format!(" meets {bounds}{cheapest} ({met} of {} do{open}).", rows.len());
    Text::of(Tone::Good, &first.label).and(Tone::Plain, others)
}

fn everything(findings: &Findings, rows: &[Configuration<'_>]) -> Table {
    let workloads = labels::workloads(findings);
    let has_tail = |workload: &str| {
        rows.iter().any(|it| it.result(workload).is_some_and(|result| kind::of(result).judged().is_some()))
    };
    let cpu = rows.iter().any(|it| it.cpu_for_bytes().is_some());
    let mut columns: Vec<Column> = vec![left("Configuration")];
    for workload in &workloads {
        columns.push(right(*workload));
        columns.extend(has_tail(workload).then(|| right("99 %")));
    }
    columns.extend(cpu.then(|| right(CPU)));
    columns.extend(["Boot", "Memory"].map(right));
    let row = |it: &Configuration<'_>| {
        let mut row = vec![Text::of(Tone::Strong, &it.label)];
        for workload in &workloads {
            let result = it.result(workload);
            row.push(phrase(result.map(|result| phrases::value(result.metric, result.value.estimate))));
            let tail = || Some(kind::of(result?).judged()?.at(TAIL)?.to_string());
            row.extend(has_tail(workload).then(|| phrase(tail())));
        }
        row.extend(cpu.then(|| cost(it)));
        row.push(phrase(it.boot().map(|boot| glued(&Quantity::Boot.phrase(boot)))));
        row.push(phrase(it.memory().map(|memory| glued(&Quantity::Memory.phrase(memory)))));
        row
    };
    Table { columns, rows: rows.iter().map(row).collect(), caption: Some(Text::of(Tone::Faint, MACHINES)) }
}

fn bounded(rows: &[(Compliance, &Configuration<'_>)], required: &[Requirement]) -> Table {
    let mut columns: Vec<Column> = vec![left("Configuration")];
    columns.extend(required.iter().map(|one| right(glued(&one.to_string()))));
    columns.push(right(CPU));
    let row = |(_, it): &(Compliance, &Configuration<'_>)| {
        let mut row = vec![Text::of(Tone::Strong, &it.label)];
        row.extend(required.iter().map(|one| held_against(it, one)));
        row.push(cost(it));
        row
    };
    let halves = rows.iter().any(|(_, it)| it.halves).then(|| format!("Note: {}.", phrases::HALVES));
    let caption: Vec<String> = why_unclear(rows, required).into_iter().chain(halves).collect();
    let caption = (!caption.is_empty()).then(|| Text::of(Tone::Faint, caption.join(" ")));
    Table { columns, rows: rows.iter().map(row).collect(), caption }
}

fn why_unclear(rows: &[(Compliance, &Configuration<'_>)], required: &[Requirement]) -> Vec<String> {
    let judged = rows.iter().flat_map(|(_, it)| required.iter().filter_map(|one| it.judged(one)));
    let unclear: Vec<Judgement<'_>> = judged.filter(|it| it.compliance == Compliance::Unclear).collect();
    let mut reasons = Vec::new();
    let is_open = |it: &Judgement<'_>| it.ends.low.is_none() || it.ends.high.is_none();
    let (few, wide): (Vec<_>, Vec<_>) =
        unclear.iter().filter(|it| it.warning.is_none()).partition(|it| is_open(it));
    let share = phrases::percent(ALLOWANCE);
    if !wide.is_empty() {
        reasons.push(format!(
            "Undecided: an interval includes the bound, or a value without an interval is within {share} of it."
        ));
    }
    if !few.is_empty() {
        reasons.push("Undecided: there are too few messages for an interval of this percentile.".to_owned());
    }
    for warning in unclear.iter().filter_map(|it| it.warning) {
        let reason = format!("Undecided: {}", warning.sentence());
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

fn held_against(configuration: &Configuration<'_>, requirement: &Requirement) -> Text {
    let Some(Judgement { compliance, value, .. }) = configuration.judged(requirement) else {
        return Text::of(Tone::Faint, "not measured");
    };
    let value = glued(&requirement.quantity.phrase(value));
    match compliance {
        Compliance::Met | Compliance::Unknown => Text::of(Tone::Good, value),
        Compliance::Unclear => Text::of(Tone::Doubtful, format!("{value}, undecided")),
        Compliance::Missed => Text::of(Tone::Bad, format!("{value}, missed")),
    }
}

fn cost(configuration: &Configuration<'_>) -> Text {
    phrase(configuration.cpu_for_bytes().map(|cost| units::significant(cost, 2)))
}

fn phrase(value: Option<String>) -> Text {
    value.map_or_else(|| Text::of(Tone::Faint, "-"), Text::from)
}
