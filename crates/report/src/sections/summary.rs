//! Lays out the verdict in at most twelve lines of 80 columns.

mod speed;
mod trust;

use std::collections::BTreeMap;

use findings::{
    Basis, Cause, Conclusion, Interval, LargestChange, LayerCost, NextStep, Objective, RunVerdict,
    SettingChoice, Statement, WorkloadVerdict,
};
use workload::Quantity;

use super::{Source, trade_offs};
use crate::{
    backends::wrapped_lines,
    labels,
    page::*,
    phrases::{self, Confidence},
};

const LINES: usize = 12;
/// Maximum characters per line after the label, for a total of 80 columns.
const LINE: usize = 66;
const TWO_LINES: usize = 2 * LINE - 4;

#[derive(Clone, Copy)]
struct Scope {
    workloads: usize,
    layered: usize,
    cautions: usize,
    room: usize,
    warnings: bool,
    brief: bool,
}

/// From the most to the least detailed. The first one that fits is used, so that no sentence is cut off.
const SCOPES: [Scope; 6] = [
    Scope { warnings: true, ..MOST },
    MOST,
    Scope { room: LINE, ..MOST },
    Scope { room: LINE, cautions: 1, layered: 1, ..MOST },
    Scope { room: LINE, cautions: 1, brief: true, layered: 1, ..MOST },
    Scope { workloads: 1, room: LINE, cautions: 1, brief: true, layered: 1, ..MOST },
];

const MOST: Scope =
    Scope { workloads: 2, layered: 2, cautions: 2, room: TWO_LINES, warnings: false, brief: false };

/// Rows to drop, in this order, if names are too long for every scope.
const DISPENSABLE: [&str; 5] = ["Next", "Each layer", "Why", "Set", "Answer"];

const REQUIRED: &str = "Required";

type Row = (String, Text);

pub(super) const TITLE: &str = "Summary";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    if source.findings.verdict.workloads.is_empty() {
        return None;
    }
    let layouts = SCOPES.iter().map(|scope| rows(source, *scope));
    let mut rows = layouts.reduce(|first, next| if lines(&first) > LINES { next } else { first })?;
    for dispensable in DISPENSABLE {
        if lines(&rows) > LINES {
            rows = without(rows, dispensable);
        }
    }
    Some(section(TITLE, vec![Block::KeyValues(rows)]))
}

fn without(mut rows: Vec<Row>, label: &str) -> Vec<Row> {
    let mut dropped = false;
    rows.retain(|(it, _)| {
        dropped = it == label || (dropped && it.is_empty());
        !dropped
    });
    rows
}

fn rows(source: &Source<'_>, scope: Scope) -> Vec<Row> {
    let findings = source.findings;
    let verdict = &findings.verdict;
    let shown = || verdict.workloads.iter().take(scope.workloads);
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(trade_offs::required(source).map(|answer| row(REQUIRED, answer)));
    rows.extend(answer(source, scope.brief));
    rows.extend(setting(source));
    match &verdict.conclusion {
        Conclusion::Difference => {
            let change = verdict.workloads.first().and_then(|first| first.change.as_ref());
            let investigate = verdict.next.is_none();
            rows.extend(change.map(|change| row("Why", cause(&change.cause, scope.brief, investigate))));
        }
        Conclusion::Broken { .. } => {}
        _ => {
            let causes = verdict.causes.iter().take(scope.cautions);
            rows.extend(labelled("Why", causes.map(|cause| statement(Tone::Plain, cause, scope.brief))));
        }
    }
    rows.extend(verdict.next.as_ref().map(|next| step(next, scope.brief)));
    let counts = shown().all(|workload| workload.metric.quantity() == Quantity::Count);
    let speeds = shown().map(|workload| speed::of(findings, workload, scope.room).into());
    let label = match verdict.conclusion {
        _ if counts => "Counted",
        Conclusion::Values => "Answer",
        _ => "Speed",
    };
    rows.extend(labelled(label, speeds));
    let layered = shown().take(scope.layered).filter(|workload| !workload.layers.is_empty());
    rows.extend(labelled("Each layer", layered.map(|workload| layers(source, workload, scope.room).into())));
    let cautions = verdict.cautions.iter().take(scope.cautions);
    rows.extend(labelled("Caution", cautions.map(|caution| statement(Tone::Bad, caution, scope.brief))));
    let marked = is_marked(verdict, shown());
    rows.push(row("Trust", trust::text(findings, scope, marked)));
    rows.push(row("More", more(source, shown().count())));
    rows
}

/// Returns whether an interval of the answer or of a value comes from a single trial.
fn is_marked<'a>(verdict: &RunVerdict, mut shown: impl Iterator<Item = &'a WorkloadVerdict>) -> bool {
    let is_answer = matches!(verdict.conclusion, Conclusion::Difference | Conclusion::Undecided { .. });
    let change = verdict.workloads.first().and_then(|first| first.change.as_ref()).filter(|_| is_answer);
    let within = |basis: Basis, interval: Option<Interval>| basis == Basis::Intervals && interval.is_some();
    let only = |workload: &WorkloadVerdict| match &workload.values[..] {
        [only] => within(only.value.basis, only.value.interval),
        _ => false,
    };
    change.is_some_and(|it| within(it.change.basis, it.change.ratio_interval)) || shown.any(only)
}

fn statement(tone: Tone, Statement { sentence, .. }: &Statement, brief: bool) -> Text {
    if brief { Text::phrase(tone, &sentence.lead) } else { Text::phrase(tone, &sentence.phrase()) }
}

fn answer(source: &Source<'_>, brief: bool) -> Option<Row> {
    let verdict = &source.findings.verdict;
    let largest = || {
        let first = verdict.workloads.first()?;
        Some(change(source, first, first.change.as_ref()?))
    };
    let text = match &verdict.conclusion {
        Conclusion::Nothing | Conclusion::Values | Conclusion::Setting => return None,
        Conclusion::Broken { reason, action } => {
            let action = action.as_ref().map(|action| format!(". {action}")).unwrap_or_default();
            statement(Tone::Bad, reason, brief).and_bad(action)
        }
        Conclusion::Repeat { reason, action } => {
            let action = action.as_ref().map(|action| format!("{action}. ")).unwrap_or_default();
            Text::bad(action).then(statement(Tone::Bad, reason, brief))
        }
        Conclusion::Difference => largest()?,
        Conclusion::NoDifference => Text::doubtful("no difference beyond the noise"),
        Conclusion::Undecided { trials, needed } => {
            let reason = match *trials {
                0 | 1 => "only one trial each".to_owned(),
                few if few < *needed => format!("only {few} trials each, and {needed} are needed"),
                _ => "more trials are needed".to_owned(),
            };
            largest()?.and_doubtful(format!("; this may be noise: {reason}"))
        }
    };
    Some(row("Answer", text))
}

fn change(source: &Source<'_>, workload: &WorkloadVerdict, largest: &LargestChange) -> Text {
    let lead = speed::lead(source.findings, &workload.workload);
    let condition = speed::settings(&largest.condition).unwrap_or_default();
    let gain = phrases::gain(&largest.change, Confidence::Inline);
    let opposite = largest
        .opposite
        .as_ref()
        .map(|other| format!("; {} {}", other.path, phrases::gain_alone(&other.change)));
    Text::from(format!("{lead}{}{condition} ", largest.what))
        .and(phrases::tone(workload.metric, &largest.change), gain)
        .and_plain(opposite.unwrap_or_default())
}

fn cause(cause: &Cause, brief: bool, investigate: bool) -> Text {
    match cause {
        Cause::Found(cause) => statement(Tone::Plain, cause, brief),
        Cause::Unknown { investigate: Some(command) } if investigate => {
            Text::faint("no cause found; to investigate: ").and_code(command)
        }
        Cause::Unknown { .. } => Text::faint("no cause found"),
    }
}

/// With unreliable values, this is only the best setting so far.
fn setting(source: &Source<'_>) -> Option<Row> {
    let verdict = &source.findings.verdict;
    let chosen = verdict.settings.iter().find(|setting| setting.objective == source.objective)?;
    let SettingChoice { metric, result, levels, value, ties, withheld, .. } = chosen;
    let levels = labels::levels(levels).unwrap_or_else(|| result.clone());
    let value = phrases::value(*metric, *value);
    let ties = match ties {
        0 => String::new(),
        1 => "; statistically tied with 1 other setting".to_owned(),
        ties => format!("; statistically tied with {ties} other settings"),
    };
    let text = match withheld {
        Some(reason) => Text::doubtful(format!("none yet: {reason}")),
        None if verdict.conclusion != Conclusion::Setting => {
            Text::doubtful(format!("none yet; best so far {levels}: {value}{ties}"))
        }
        None => {
            let single = if trust::is_single(verdict) { ", one trial each" } else { "" };
            let value = format!(": {value}, {}{single}{ties}", objective(source.objective));
            Text::good(levels).and_plain(value)
        }
    };
    Some(row("Set", text))
}

fn step(next: &NextStep, brief: bool) -> Row {
    let NextStep { action, command, explains, .. } = next;
    let fits =
        |command: &&String| !brief && action.chars().count() + command.chars().count() + 2 <= TWO_LINES;
    let text = Text::good(action);
    let text = match command.as_ref().filter(fits) {
        Some(command) => text.and_plain(": ").and_code(command),
        None => text,
    };
    row(if *explains { "Set" } else { "Next" }, text)
}

/// Counts the lines at 80 columns. Excludes the answer to requirements.
fn lines(rows: &[Row]) -> usize {
    rows.iter().filter(|(label, _)| label != REQUIRED).map(|(_, text)| wrapped_lines(text, LINE)).sum()
}

fn row(label: &str, text: Text) -> Row {
    (label.to_owned(), text)
}

fn labelled(label: &str, lines: impl Iterator<Item = Text>) -> Vec<Row> {
    lines.enumerate().map(|(place, text)| row(if place == 0 { label } else { "" }, text)).collect()
}

/// Lists the costs of layers, e.g. `stream: vxlan −41.8 %; not significant: veth, bridge −1.9 %`. Omits the
/// smallest costs if there is no room.
fn layers(source: &Source<'_>, workload: &WorkloadVerdict, room: usize) -> String {
    let lead = speed::lead(source.findings, &workload.workload);
    let mut layers: Vec<&LayerCost> = workload.layers.iter().collect();
    // If all values are unreliable, the caution already states this.
    let all_unreliable = layers.iter().all(|layer| layer.unreliable);
    let settings = speed::settings(&workload.levels).unwrap_or_default();
    let whole = format!("{lead}{}{settings}", costs(&layers, all_unreliable, 0));
    if whole.chars().count() <= room {
        return whole;
    }
    let size = |layer: &LayerCost| layer.cost.ratio.ln().abs();
    loop {
        let line = format!("{lead}{}", costs(&layers, all_unreliable, workload.layers.len() - layers.len()));
        let least =
            layers.iter().enumerate().min_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)));
        match least.map(|(place, _)| place) {
            Some(place) if line.chars().count() > room && layers.len() > 1 => drop(layers.remove(place)),
            _ => return line,
        }
    }
}

fn costs(layers: &[&LayerCost], all_unreliable: bool, left_out: usize) -> String {
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for layer in layers {
        let judgement = match layer.cost.verdict {
            _ if layer.unreliable && !all_unreliable => "unreliable: ",
            findings::Difference::Lower | findings::Difference::Higher => "",
            findings::Difference::None => "not significant: ",
            findings::Difference::Unclear => "unclear: ",
        };
        let phrase = format!("{} {}", layer.adds.join(" + "), phrases::gain_alone(&layer.cost));
        groups.entry(judgement).or_default().push(phrase);
    }
    let more = (left_out > 0).then(|| format!("{left_out} more"));
    let groups = groups.into_iter().map(|(judgement, costs)| format!("{judgement}{}", costs.join(", ")));
    groups.chain(more).join("; ")
}

const fn objective(sought: Objective) -> &'static str {
    match sought {
        Objective::Max => "best value",
        Objective::Efficient => "most efficient",
        Objective::LowCpu => "lowest CPU time",
    }
}

fn more(source: &Source<'_>, shown: usize) -> Text {
    let others = match source.findings.verdict.workloads.len() - shown {
        0 => String::new(),
        1 => "1 more workload, ".to_owned(),
        others => format!("{others} more workloads, "),
    };
    Text::faint(format!("{others}all sections: "))
        .and_code(format!("plumb report {} --full", source.findings.run.id))
}
