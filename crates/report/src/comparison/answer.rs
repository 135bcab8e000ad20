//! The verdict in one sentence. If there is a gate, its outcome comes first.

use findings::{
    ComparisonConclusion, ComparisonVerdict, Gate, GateOutcome, ResultChange, RunComparison, Verdict,
    VerdictCount,
};

use super::{
    cases::{self, Case},
    first_of,
};
use crate::{
    page::*,
    phrases::{self, Confidence},
};

const NAMED: usize = 4;

pub(super) fn build(comparison: &RunComparison) -> Option<Section> {
    let verdict = &comparison.verdict;
    let gate = comparison.gate.as_ref();
    let mut blocks = gate.map_or_else(Vec::new, |gate| gated(comparison, gate));
    blocks.push(Block::Paragraph(sentence(verdict)));
    if gate.is_none_or(|gate| gate.outcome == GateOutcome::Passed) {
        blocks.extend(worse_guards(verdict).map(Block::Paragraph));
    }
    Some(section("Verdict", blocks))
}

fn gated(comparison: &RunComparison, gate: &Gate) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(passed_or_not(comparison, gate))];
    let cases: Vec<_> = cases::all(comparison, gate).iter().map(Case::line).collect();
    blocks.extend((!cases.is_empty()).then_some(Block::List(cases)));
    blocks
}

fn sentence(verdict: &ComparisonVerdict) -> Text {
    let tone = match verdict.conclusion {
        ComparisonConclusion::Same | ComparisonConclusion::Better => Tone::Good,
        ComparisonConclusion::Worse | ComparisonConclusion::Mixed => Tone::Bad,
        ComparisonConclusion::Nothing | ComparisonConclusion::Undecided | ComparisonConclusion::Repeat => {
            Tone::Doubtful
        }
    };
    let (phrase, further) = match (verdict.conclusion, &verdict.disturbed) {
        (ComparisonConclusion::Nothing, _) => {
            ("No comparison is possible: the runs have no result in common.".to_owned(), String::new())
        }
        (ComparisonConclusion::Repeat, Some(disturbed)) => {
            ("Measure again when the machine is idle.".to_owned(), format!(" {}", disturbed.reason))
        }
        _ => (counted(verdict), format!("{}.", changes(&verdict.changes))),
    };
    Text::of(tone, phrase).and_plain(further)
}

fn worse_guards(verdict: &ComparisonVerdict) -> Option<Text> {
    let guard = verdict.worse_guards.first()?;
    let more = match verdict.worse_guards.len() {
        1 => String::new(),
        all => format!(" {} more got worse.", all - 1),
    };
    let phrase = format!("{}: {}{more}", guard.label, guard.summary);
    Some(Text::bad("A guarded metric got worse. ").and_plain(phrase))
}

fn counted(verdict: &ComparisonVerdict) -> String {
    let VerdictCount { better, worse, same, unknown } = verdict.results;
    let disturbed = verdict.disturbed.as_ref().map(|it| format!(" ({} disturbed)", it.results));
    let words = [
        (worse, "worse", ""),
        (better, "better", ""),
        (same, "the same within noise", ""),
        (unknown, "undecided", disturbed.as_deref().unwrap_or_default()),
    ];
    let counts: Vec<_> = words.into_iter().filter(|(count, ..)| *count > 0).collect();
    let all = worse + better + same + unknown;
    if let [(_, word, more)] = counts[..] {
        let everywhere = match all {
            1 => "the only common result".to_owned(),
            all => format!("all {all} common results"),
        };
        return match word {
            "undecided" => format!("Undecided whether B differs from A in {everywhere}{more}"),
            "the same within noise" => format!("B is the same as A within noise in {everywhere}"),
            word => format!("B is {word} than A in {everywhere}"),
        };
    }
    let counts: Vec<String> =
        counts.iter().map(|(count, word, more)| format!("{word} in {count}{more}")).collect();
    format!("Of {all} common results, B is {}", listed(&counts))
}

fn changes(changes: &[ResultChange]) -> String {
    let phrases: Vec<String> = changes.iter().map(change).collect();
    if phrases.is_empty() { String::new() } else { format!("; {}", phrases.join(", ")) }
}

fn change(change: &ResultChange) -> String {
    let label = &change.label;
    let share = change.change.map(|it| format!("at {} of A", phrases::share(&it, Confidence::Inline)));
    let share = |run| share.unwrap_or_else(|| format!("because nothing arrived in trials of {run}"));
    match change.verdict {
        Verdict::Worse => format!("the worst is {label} {}", share("B")),
        Verdict::Better => format!("the best is {label} {}", share("A")),
        Verdict::Same | Verdict::Unknown => format!("{label} appears to differ most, {}", share("one run")),
    }
}

fn passed_or_not(comparison: &RunComparison, gate: &Gate) -> Text {
    let most = phrases::percent(gate.threshold);
    match gate.outcome {
        GateOutcome::Passed => Text::good("Passed: ")
            .and_plain(format!(
                "a regression of more than {most} is ruled out for every result, and guarded metrics are \
                     within their limits."
            ))
            .and_plain(tolerated(comparison, gate)),
        GateOutcome::Regressed => {
            let lost = names(comparison, &gate.regressions);
            let lost = format!("a regression of more than {most} is established in {lost}");
            let phrase = match (gate.regressions.is_empty(), gate.violations.is_empty()) {
                (_, true) => format!("{lost}."),
                (true, false) => "a guarded metric exceeds its limit.".to_owned(),
                (false, false) => format!("{lost}, and a guarded metric exceeds its limit."),
            };
            Text::bad("Failed: ").and_plain(phrase)
        }
        GateOutcome::Undecided if gate.undecided.is_empty() => Text::doubtful("Undecided: ").and_plain(
            format!("there is no result in which a regression of more than {most} could be detected."),
        ),
        GateOutcome::Undecided => Text::doubtful("Undecided: ").and_plain(format!(
            "a regression of more than {most}, or of a guarded metric beyond its limit, is neither \
                 established nor excluded for these results."
        )),
    }
}

fn tolerated(comparison: &RunComparison, gate: &Gate) -> String {
    if gate.tolerated.is_empty() {
        return String::new();
    }
    format!(" Worse, but within that threshold: {}.", names(comparison, &gate.tolerated))
}

fn names(comparison: &RunComparison, ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().map(|id| name(comparison, id)).collect();
    first_of(&named, NAMED, "; ")
}

fn name(comparison: &RunComparison, id: &str) -> String {
    let result = comparison.results.iter().find(|result| result.result == id);
    result.map_or_else(|| id.to_owned(), |result| comparison.label(result))
}

fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
