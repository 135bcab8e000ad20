//! The answer in at most twelve lines of 80 columns: rates, layer costs, the largest difference and its cause, the
//! recommendation, and the confidence.

mod difference;
mod speed;
mod trust;

use findings::{
    Comparison, CostBreakdown, CostStep, FEWEST_TO_ESTABLISH, Finding, Findings, Objective, Severity,
};
use workload::Metric;

use super::{Source, trade_offs};
use crate::{
    backends::wrapped_lines,
    labels,
    page::{Block, Section, section},
    phrases,
    text::{Text, Tone},
};
use difference::Difference;

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
    command: bool,
}

/// Ordered from most to least detailed. The first that fits is used, so no sentence is cut off.
const SCOPES: [Scope; 9] = [
    Scope { warnings: true, ..MOST },
    MOST,
    Scope { room: LINE, ..MOST },
    Scope { room: LINE, cautions: 1, ..MOST },
    Scope { room: LINE, cautions: 1, brief: true, ..MOST },
    Scope { room: LINE, cautions: 1, brief: true, command: false, ..MOST },
    Scope { room: LINE, cautions: 1, brief: true, command: false, layered: 1, ..MOST },
    Scope { workloads: 1, layered: 1, cautions: 1, ..MOST },
    Scope { workloads: 1, layered: 1, cautions: 1, room: LINE, brief: true, command: false, ..MOST },
];

impl Scope {
    const fn gives_way_to_workloads(&self) -> bool {
        self.layered < MOST.layered
    }
}

const MOST: Scope = Scope {
    workloads: 2,
    layered: 2,
    cautions: 2,
    room: TWO_LINES,
    warnings: false,
    brief: false,
    command: true,
};

const DISPENSABLE: [&str; 4] = ["Each layer", "Why", "Set", "Largest"];
/// Suggestions are dropped before workloads.
const NEXT: &str = "Next";

const REQUIRED: &str = "Required";

type Row = (String, Text);

pub(super) const TITLE: &str = "Summary";

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    if findings.results.is_empty() {
        return None;
    }
    let differences = difference::all(findings);
    let answer = Answer {
        source,
        workloads: ranked(findings, &differences),
        largest: differences
            .iter()
            .filter(|it| it.is_established())
            .max_by(|one, other| one.is_main.cmp(&other.is_main).then(one.cmp_size(other))),
        distrust: findings.findings.iter().find(|claim| claim.distrusts()),
        differences: &differences,
    };
    let mut rows = answer.rows(SCOPES[0]);
    for scope in &SCOPES[1..] {
        if lines(&rows) > LINES {
            rows = answer.rows(*scope);
        }
        if scope.gives_way_to_workloads() && lines(&rows) > LINES {
            rows = without(rows, NEXT);
        }
    }
    // Names may have any length, so the text may still be too long.
    for label in DISPENSABLE {
        if lines(&rows) > LINES {
            rows = without(rows, label);
        }
    }
    Some(section(TITLE, vec![Block::KeyValues(rows)]))
}

fn without(mut rows: Vec<Row>, label: &str) -> Vec<Row> {
    let mut of_it = false;
    rows.retain(|(it, _)| {
        of_it = it == label || (of_it && it.is_empty());
        !of_it
    });
    rows
}

struct Answer<'a> {
    source: &'a Source<'a>,
    workloads: Vec<&'a str>,
    differences: &'a [Difference<'a>],
    largest: Option<&'a Difference<'a>>,
    distrust: Option<&'a Finding>,
}

impl Answer<'_> {
    fn rows(&self, scope: Scope) -> Vec<Row> {
        let findings = self.source.findings;
        let (shown, layered) = (self.shown(scope.workloads), self.shown(scope.layered));
        let distrusting = findings.findings.iter().filter(|claim| claim.distrusts()).take(scope.cautions);
        let lead = |claim: &Finding| {
            let whole = claim.lead();
            labels::named(findings, if scope.brief { clause(whole) } else { whole })
        };
        let caution = |claim: &Finding| Text::of(Tone::Bad, lead(claim));
        let mut rows = labelled("Caution", distrusting.map(caution));
        rows.extend(trade_offs::required(self.source).map(|answer| row(REQUIRED, answer)));
        let speeds = shown.iter().map(|workload| speed::of(findings, workload, scope.room));
        let counts = findings.results.iter().all(|result| result.metric == Metric::Count);
        rows.extend(labelled(if counts { "Counted" } else { "Speed" }, speeds.map(Text::from)));
        let cost_breakdowns = layered.iter().filter_map(|workload| breakdown(findings, workload));
        rows.extend(labelled(
            "Each layer",
            cost_breakdowns.map(|breakdown| layers(findings, breakdown, scope.room).into()),
        ));
        rows.extend(match self.largest {
            Some(largest) => Some(row("Largest", largest.text(findings))),
            None => none_established(findings, self.differences),
        });
        let (reason, told) = (self.reason(), self.told());
        rows.extend(reason.map(|claim| row("Why", lead(claim).into())));
        let open = reason.is_none() && self.largest.is_some();
        rows.extend(open.then(|| row("Why", Text::of(Tone::Faint, self.unexplained()))));
        let distrust = self.distrust.filter(|claim| !claim.leaves_what_is_established());
        let of_largest = told.first().filter(|claim| self.is_of_largest(claim));
        let others = || self.distrust.or_else(|| told.first().copied());
        let first = reason.or(distrust.filter(|claim| claim.remedy.is_some()));
        let told = first.or_else(|| of_largest.copied()).or_else(others);
        rows.extend(set(self.source, told, (reason.is_some(), scope.command), distrust));
        let warns = |claim: &&Finding| claim.is_of_the_measurement() && claim.severity == Severity::Warning;
        let warning =
            findings.findings.iter().find(warns).filter(|_| scope.warnings && self.distrust.is_none());
        let marked = rows.iter().any(|(_, text)| text.characters().contains(phrases::WITHIN));
        rows.push(row("Trust", trust::text(findings, self.differences, warning, (marked, scope.brief))));
        rows.push(row("More", more(findings, shown.len())));
        rows
    }

    fn shown(&self, most: usize) -> Vec<&str> {
        let first = &self.workloads[..most.min(self.workloads.len())];
        let all = labels::workloads(self.source.findings);
        all.into_iter().filter(|workload| first.contains(workload)).collect()
    }

    fn unexplained(&self) -> String {
        let run = &self.source.findings.run;
        match (run.origin.imported().is_some(), self.source.findings.probes.used.is_empty()) {
            // Disturbances have to be removed first.
            _ if self.distrust.is_some() => "no finding explains it".to_owned(),
            (true, _) | (_, false) => "no finding explains it".to_owned(),
            (false, true) => {
                format!("no finding explains it; to investigate: plumb run {} --probe all", run.id)
            }
        }
    }

    fn reason(&self) -> Option<&Finding> {
        self.told().into_iter().find(|claim| claim.explains() && self.explains_largest(claim))
    }

    fn is_of_largest(&self, claim: &Finding) -> bool {
        self.largest.is_some_and(|it| it.results.iter().any(|result| is_of(claim, result)))
    }

    /// Returns whether the finding may explain the largest difference. It cannot if it also applies to
    /// the better end.
    fn explains_largest(&self, claim: &Finding) -> bool {
        self.largest.is_none_or(|it| {
            let [worse, better] = it.worse_first();
            is_of(claim, worse) && !is_of(claim, better)
        })
    }

    /// Returns findings about the path, starting with those about the largest difference. Skips results with
    /// unreliable values.
    fn told(&self) -> Vec<&Finding> {
        let distrust = self.distrust.filter(|claim| !claim.leaves_what_is_established());
        let doubted = |claim: &Finding| {
            distrust.is_some_and(|finding| finding.results.iter().any(|result| is_of(claim, result)))
        };
        let claims = self.source.findings.findings.iter();
        let mut told: Vec<&Finding> =
            claims.filter(|claim| !claim.is_of_the_measurement() && !doubted(claim)).collect();
        told.sort_by_key(|claim| !self.is_of_largest(claim));
        told
    }
}

fn is_of(claim: &Finding, result: &str) -> bool {
    claim.results.iter().any(|its| its == result)
}

/// Returns the part before the details, e.g. `Offloads of a:vxlan0 are off`.
fn clause(sentence: &str) -> &str {
    sentence.split_once(": ").map_or(sentence, |(cause, _)| cause)
}

/// Counts the lines at 80 columns, excluding the answer to requirements.
fn lines(rows: &[Row]) -> usize {
    rows.iter().filter(|(label, _)| label != REQUIRED).map(|(_, text)| wrapped_lines(text, LINE)).sum()
}

fn row(label: &str, text: Text) -> Row {
    (label.to_owned(), text)
}

fn labelled(label: &str, lines: impl Iterator<Item = Text>) -> Vec<Row> {
    lines.enumerate().map(|(place, text)| row(if place == 0 { label } else { "" }, text)).collect()
}

fn ranked<'a>(findings: &'a Findings, differences: &[Difference<'_>]) -> Vec<&'a str> {
    let mut ranked = labels::workloads(findings);
    let size = |workload: &str| {
        let own = differences.iter().filter(|it| it.workload == workload && it.is_established());
        own.map(Difference::size).fold(0.0, f64::max)
    };
    let judged = |workload: &str| {
        let mut results = findings.results.iter().filter(|result| result.workload == workload);
        results.any(|result| result.metric.more_is_better().is_some())
    };
    ranked.sort_by(|one, other| judged(other).cmp(&judged(one)).then(size(other).total_cmp(&size(one))));
    ranked
}

fn breakdown<'a>(findings: &'a Findings, workload: &str) -> Option<&'a CostBreakdown> {
    findings.cost_breakdowns.iter().find(|breakdown| breakdown.workload == workload)
}

struct Step<'a> {
    step: &'a CostStep,
    cost: &'a Comparison,
    judgement: &'static str,
}

fn steps<'a>(findings: &'a Findings, breakdown: &'a CostBreakdown) -> Vec<Step<'a>> {
    let warnings =
        findings.findings.iter().filter(|claim| claim.distrusts() && !claim.leaves_what_is_established());
    let doubted: Vec<&String> = warnings.flat_map(|claim| &claim.results).collect();
    let is_doubted = |step: &CostStep| doubted.contains(&&step.result);
    let all = breakdown.steps.iter().all(is_doubted);
    let stands_on = |step: &CostStep| breakdown.steps.iter().find(|it| Some(&it.path) == step.below.as_ref());
    let step = |step: &'a CostStep| {
        let cost = step.cost.as_ref()?;
        let is_doubtful = !all && (is_doubted(step) || stands_on(step).is_some_and(is_doubted));
        let judgement = if is_doubtful { "unreliable: " } else { difference::judgement(cost) };
        Some(Step { step, cost, judgement })
    };
    breakdown.steps.iter().filter_map(step).collect()
}

/// Lists the layers' costs: `stream: vxlan −41.8 %; not significant: veth, bridge −1.90 %`. The smallest are omitted
/// if there is no room.
fn layers(findings: &Findings, breakdown: &CostBreakdown, room: usize) -> String {
    let mut steps = steps(findings, breakdown);
    let (lead, all) = (speed::lead(findings, &breakdown.workload), steps.len());
    let settings = speed::settings(&breakdown.levels).unwrap_or_default();
    let whole = format!("{lead}{}{settings}", steps_in_words(&steps, 0));
    if whole.chars().count() <= room {
        return whole;
    }
    let size = |step: &Step<'_>| step.cost.ratio.ln().abs();
    loop {
        let line = format!("{lead}{}", steps_in_words(&steps, all - steps.len()));
        let least = steps.iter().enumerate().min_by(|(_, one), (_, other)| size(one).total_cmp(&size(other)));
        match least.map(|(place, _)| place) {
            Some(place) if line.chars().count() > room && steps.len() > 1 => drop(steps.remove(place)),
            _ => return line,
        }
    }
}

fn steps_in_words(steps: &[Step<'_>], left_out: usize) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for Step { step, cost, judgement } in steps {
        let phrase = format!("{} {}", step.adds.join(" + "), phrases::gain_alone(cost));
        match groups.iter_mut().find(|(word, _)| word == judgement) {
            Some((_, group)) => group.push(phrase),
            None => groups.push((judgement, vec![phrase])),
        }
    }
    groups.sort_by_key(|(judgement, _)| !judgement.is_empty());
    let mut phrase: Vec<String> =
        groups.into_iter().map(|(judgement, steps)| format!("{judgement}{}", steps.join(", "))).collect();
    if left_out > 0 {
        phrase.push(format!("{left_out} more"));
    }
    phrase.join("; ")
}

fn none_established(findings: &Findings, differences: &[Difference<'_>]) -> Option<Row> {
    let most = findings.results.iter().map(|result| result.value.trials).max().unwrap_or_default();
    let phrase = match differences.iter().filter(|it| it.is_open()).count() {
        _ if differences.is_empty() => return None,
        0 => "no difference beyond the noise".to_owned(),
        _ if most <= 1 => "only one trial each: differences may be noise".to_owned(),
        _ if most < FEWEST_TO_ESTABLISH => {
            format!("only {most} trials each; at least {FEWEST_TO_ESTABLISH} are needed to compare")
        }
        _ => "no significant difference; more trials may show one".to_owned(),
    };
    Some(row("Largest", Text::of(Tone::Doubtful, phrase)))
}

fn has_single_trials(findings: &Findings) -> bool {
    findings.results.iter().all(|result| result.value.trials <= 1)
}

/// Returns the recommended setting or a finding's remedy. If values are unreliable, suggests the next step instead.
fn set(
    source: &Source<'_>,
    told: Option<&Finding>,
    (is_cause, has_command): (bool, bool),
    distrust: Option<&Finding>,
) -> Option<Row> {
    let chosen = source.findings.answers.iter().find_map(|answer| {
        let of = |objective| answer.recommendations.iter().find(move |it| it.objective == objective);
        Some((answer, of(source.objective)?))
    });
    if let Some((answer, chosen)) = chosen {
        let levels = labels::levels(&chosen.levels).unwrap_or_else(|| chosen.result.clone());
        let value = phrases::value(answer.metric, chosen.value);
        let unsure = if has_single_trials(source.findings) { ", one trial each" } else { "" };
        let ties = match chosen.ties.len() {
            0 => String::new(),
            1 => "; statistically tied with 1 other setting".to_owned(),
            ties => format!("; statistically tied with {ties} other settings"),
        };
        return Some(match (&chosen.withheld, distrust) {
            (Some(reason), _) => row("Set", Text::of(Tone::Doubtful, format!("none yet: {reason}"))),
            (None, Some(_)) => {
                let best = format!("repeat without the disturbance; best so far {levels}: {value}{ties}");
                row(NEXT, Text::of(Tone::Doubtful, best))
            }
            (None, None) => {
                let value = format!(": {value}, {}{unsure}{ties}", objective(source.objective));
                row("Set", Text::of(Tone::Good, levels).and(Tone::Plain, value))
            }
        });
    }
    let told = told?;
    let remedy = told.remedy.as_ref()?;
    let phrase = Text::of(Tone::Good, labels::named(source.findings, remedy.lead()));
    let command = remedy.commands.first().filter(|command| {
        has_command
            && remedy.lead().chars().count() + command.chars().count() + 2 <= TWO_LINES
            && !has_placeholder(command)
    });
    // Without an observed cause, or with single or unreliable measurements, the remedy is only a suggestion.
    let label = if is_cause && !has_single_trials(source.findings) { "Set" } else { NEXT };
    Some(row(
        label,
        match command {
            Some(command) => phrase.and(Tone::Plain, ": ").and(Tone::Code, command.clone()),
            None => phrase,
        },
    ))
}

/// Returns whether the user has to fill in a part of the command, as in `taskset -cp THREAD`.
fn has_placeholder(command: &str) -> bool {
    let typed = command.split("  #").next().unwrap_or_default();
    typed.contains('…')
        || typed
            .split_whitespace()
            .any(|word| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_uppercase()))
}

const fn objective(sought: Objective) -> &'static str {
    match sought {
        Objective::Max => "best value",
        Objective::Efficient => "most efficient",
        Objective::LowCpu => "lowest CPU time",
    }
}

fn more(findings: &Findings, shown: usize) -> Text {
    let others = labels::workloads(findings).len().saturating_sub(shown);
    let others = match others {
        0 => String::new(),
        1 => "1 more workload, ".to_owned(),
        _ => format!("{others} more workloads, "),
    };
    Text::of(Tone::Faint, format!("{others}all sections: "))
        .and(Tone::Code, format!("plumb report {} --full", findings.run.id))
}
