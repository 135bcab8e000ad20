//! Configurations side by side, and which of them meet the requirements.

use findings::{
    Compliance, Configuration, Findings, Judgement, RequiredQuantity, Requirement, ResultSummary, TradeOffs,
    UnclearReason,
};

use super::Source;
use crate::{labels, page::*, phrases};

const TAIL: f64 = 0.99;
const CPU: &str = "CPU-s/GB";
const MACHINES: &str = "Boot: from the start of a machine until its agent responds, for the slower end. Memory: \
     resident size of the machines of both ends at the start of the run.";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let it = source.findings.trade_offs.as_ref()?;
    let blocks = if it.requirements.is_empty() {
        vec![Block::Table(everything(source.findings, &it.configurations))]
    } else {
        vec![Block::Paragraph(answer(it)), Block::Table(bounded(it))]
    };
    Some(section("Trade-offs", blocks))
}

pub(super) fn required(source: &Source<'_>) -> Option<Text> {
    source.findings.trade_offs.as_ref().filter(|it| !it.requirements.is_empty()).map(answer)
}

fn label(it: &Configuration) -> String {
    findings::label_in_workload(&it.path, &it.levels, &it.path)
}

fn answer(it: &TradeOffs) -> Text {
    let bounds = it.requirements.iter().map(|one| glued(&one.to_string())).join(" and ");
    let all = it.configurations.len();
    if let [only] = &it.configurations[..] {
        let (tone, phrase) = match only.compliance {
            Compliance::Met => (Tone::Good, "meets"),
            Compliance::Unclear => (Tone::Doubtful, "may not meet"),
            Compliance::Unknown => (Tone::Doubtful, "has no measurement for"),
            Compliance::Missed => (Tone::Bad, "misses"),
        };
        return Text::of(tone, format!("{} {phrase} {bounds}.", label(only)));
    }
    let count = |wanted| it.configurations.iter().filter(|one| one.compliance == wanted).count();
    let open = match count(Compliance::Unclear) {
        0 => String::new(),
        unclear => format!("; {unclear} undecided"),
    };
    let met = count(Compliance::Met);
    let Some(first) = it.configurations.first().filter(|_| met > 0) else {
        let missed = match count(Compliance::Missed) {
            0 => "None is certain to meet".to_owned(),
            1 => format!("1 of {all} misses"),
            missed => format!("{missed} of {all} miss"),
        };
        return Text::bad(format!("{missed} {bounds}{open}."));
    };
    let cheapest = first.cpu_per_gb.filter(|_| met > 1).map_or_else(String::new, |cost| {
        format!(" with the lowest CPU time, {}", glued(&RequiredQuantity::CpuTime.phrase(cost)))
    });
    let others = format!(" meets {bounds}{cheapest} ({met} of {all} do{open}).");
    Text::good(label(first)).and_plain(others)
}

fn everything(findings: &Findings, rows: &[Configuration]) -> Table {
    let workloads = labels::workloads(findings);
    let result = |it: &Configuration, workload: &str| {
        let is_it = |result: &&ResultSummary| result.workload == workload && it.results.contains(&result.id);
        findings.results.iter().find(is_it)
    };
    let has_tail =
        |workload: &str| rows.iter().any(|it| result(it, workload).is_some_and(|it| it.times().is_some()));
    let cpu = rows.iter().any(|it| it.cpu_per_gb.is_some());
    let mut columns: Vec<Column> = vec![left("Configuration")];
    for workload in &workloads {
        columns.push(right(*workload));
        columns.extend(has_tail(workload).then(|| right("99 %")));
    }
    columns.extend(cpu.then(|| right(CPU)));
    columns.extend(["Boot", "Memory"].map(right));
    let row = |it: &Configuration| {
        let mut row = vec![Text::strong(label(it))];
        for workload in &workloads {
            let result = result(it, workload);
            row.push(phrase(result.map(|result| phrases::value(result.metric, result.value.estimate))));
            let tail = || Some(result?.times()?.at(TAIL)?.to_string());
            row.extend(has_tail(workload).then(|| phrase(tail())));
        }
        row.extend(cpu.then(|| cost(it)));
        row.push(phrase(it.boot.map(|boot| glued(&boot.to_string()))));
        row.push(phrase(it.memory.map(|memory| glued(&memory.to_string()))));
        row
    };
    Table { columns, rows: rows.iter().map(row).collect(), caption: Some(Text::faint(MACHINES)) }
}

fn bounded(it: &TradeOffs) -> Table {
    let mut columns: Vec<Column> = vec![left("Configuration")];
    columns.extend(it.requirements.iter().map(|one| right(glued(&one.to_string()))));
    columns.push(right(CPU));
    let row = |one: &Configuration| {
        let judged = it.requirements.iter().zip(&one.judgements);
        let mut row = vec![Text::strong(label(one))];
        row.extend(judged.map(|(requirement, judgement)| judged_value(requirement, judgement)));
        row.push(cost(one));
        row
    };
    let halves = it.configurations.iter().any(|one| one.half_round_trips);
    let halves = halves.then(|| format!("Note: {}.", phrases::HALVES));
    let caption: Vec<String> = why_unclear(it).into_iter().chain(halves).collect();
    let caption = (!caption.is_empty()).then(|| Text::faint(caption.join(" ")));
    Table { columns, rows: it.configurations.iter().map(row).collect(), caption }
}

fn why_unclear(it: &TradeOffs) -> Vec<String> {
    let judgements = it.configurations.iter().flat_map(|one| &one.judgements);
    let mut reasons = Vec::new();
    for reason in judgements.filter_map(|judgement| judgement.reason.as_ref()) {
        let reason = match reason {
            UnclearReason::Interval => {
                "an interval includes the bound, or a value without an interval is near the bound.".into()
            }
            UnclearReason::FewMessages => {
                "there are too few messages for an interval of this percentile.".to_owned()
            }
            UnclearReason::Unreliable(finding) => format!("{}.", finding.sentence),
        };
        let reason = format!("Undecided: {reason}");
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

fn judged_value(requirement: &Requirement, judgement: &Judgement) -> Text {
    let Some(value) = judgement.value else { return Text::faint("not measured") };
    let value = glued(&requirement.quantity.phrase(value));
    match judgement.compliance {
        Compliance::Met | Compliance::Unknown => Text::good(value),
        Compliance::Unclear => Text::doubtful(format!("{value}, undecided")),
        Compliance::Missed => Text::bad(format!("{value}, missed")),
    }
}

fn cost(configuration: &Configuration) -> Text {
    phrase(configuration.cpu_per_gb.map(|cost| units::significant(cost, 2)))
}

fn phrase(value: Option<String>) -> Text {
    value.map_or_else(|| Text::faint("-"), Text::from)
}
