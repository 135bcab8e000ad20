//! States the verdict in one sentence, followed by the result of the gate if one was requested.

use findings::{Gate, GateOutcome, GuardComparison, ResultComparison, RunComparison, Verdict};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, section},
    phrases::{self, Confidence},
    text::{Text, Tone},
};

const NAMED: usize = 4;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let mut blocks = Vec::new();
    if let Some(gate) = source.gate {
        blocks.push(Block::Paragraph(passed_or_not(source.comparison, gate)));
        let violations = gate.violations.iter().map(|it| (it.result.as_str(), it.reason.as_str()));
        let violations = reasons(source.comparison, violations);
        blocks.extend((!violations.is_empty()).then_some(Block::List(violations)));
        if gate.outcome == GateOutcome::Regressed && !gate.undecided.is_empty() {
            blocks.push(Block::Paragraph("Undecided:".into()));
        }
        let open = gate.undecided.iter().map(|it| (it.result.as_str(), it.reason.as_str()));
        let open = reasons(source.comparison, open);
        blocks.extend((!open.is_empty()).then_some(Block::List(open)));
    }
    blocks.push(Block::Paragraph(sentence(source.comparison)));
    if source.gate.is_none_or(|gate| gate.outcome == GateOutcome::Passed) {
        blocks.extend(worse_guards(source.comparison).map(Block::Paragraph));
    }
    Some(section("Verdict", blocks))
}

fn sentence(comparison: &RunComparison) -> Text {
    let of = |verdict| comparison.results.iter().filter(move |result| result.verdict == verdict);
    let count = |verdict| of(verdict).count();
    let results = comparison.results.len();
    let (tone, phrase) = match (count(Verdict::Worse), count(Verdict::Better), count(Verdict::Unknown)) {
        _ if results == 0 => {
            (Tone::Doubtful, "no comparison is possible: the runs have no result in common".to_owned())
        }
        (0, 0, 0) => (Tone::Good, format!("B is the same as A within noise{}", everywhere(comparison))),
        (0, 0, unknown) if unknown == results => {
            (Tone::Doubtful, format!("undecided whether B differs from A{}", everywhere(comparison)))
        }
        (worse, 0, _) if worse == results => {
            (Tone::Bad, format!("B is worse than A{}", everywhere(comparison)))
        }
        (0, better, _) if better == results => {
            (Tone::Good, format!("B is better than A{}", everywhere(comparison)))
        }
        (worse, better, _) => (overall(worse, better), counted(comparison)),
    };
    Text::of(tone, capital(&phrase)).and(Tone::Plain, extremes(comparison)).and(Tone::Plain, ".")
}

/// Names the guarded metrics that are worse, because the sentence covers only the metrics that results are judged by.
fn worse_guards(comparison: &RunComparison) -> Option<Text> {
    let guards = comparison.results.iter().flat_map(|it| it.guards.iter().map(move |guard| (it, guard)));
    let worse: Vec<(&ResultComparison, &GuardComparison)> =
        guards.filter(|(_, guard)| guard.verdict == Verdict::Worse).collect();
    let (result, guard) = worse.first()?;
    let more = match worse.len() {
        1 => String::new(),
        all => format!(" {} more got worse.", all - 1),
    };
    let phrase = format!("{}: {}{more}", labels::comparison(comparison, result), guard.summary);
    Some(Text::of(Tone::Bad, "A guarded metric got worse. ").and(Tone::Plain, phrase))
}

fn overall(worse: usize, better: usize) -> Tone {
    match (worse, better) {
        (0, 0) => Tone::Doubtful,
        (0, _) => Tone::Good,
        _ => Tone::Bad,
    }
}

fn everywhere(comparison: &RunComparison) -> String {
    match comparison.results.len() {
        1 => " in the only common result".to_owned(),
        results => format!(" in all {results} common results"),
    }
}

fn counted(comparison: &RunComparison) -> String {
    let words = [
        (Verdict::Worse, "worse"),
        (Verdict::Better, "better"),
        (Verdict::Same, "the same within noise"),
        (Verdict::Unknown, "undecided"),
    ];
    let phrase: Vec<String> = words
        .into_iter()
        .map(|(verdict, word)| {
            (comparison.results.iter().filter(|result| result.verdict == verdict).count(), word)
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} in {count}"))
        .collect();
    format!("of {} common results, B is {}", comparison.results.len(), listed(&phrase))
}

fn extremes(comparison: &RunComparison) -> String {
    let phrase: Vec<String> = [(Verdict::Worse, "the worst"), (Verdict::Better, "the best")]
        .into_iter()
        .filter_map(|(verdict, word)| {
            let (result, share) = furthest(comparison, verdict)?;
            Some(format!("{word} is {} at {share} of A", labels::comparison(comparison, result)))
        })
        .collect();
    match furthest(comparison, Verdict::Unknown) {
        Some((result, share)) if phrase.is_empty() => {
            format!("; {} appears to differ most, at {share} of A", labels::comparison(comparison, result))
        }
        _ if phrase.is_empty() => String::new(),
        _ => format!("; {}", phrase.join(", ")),
    }
}

fn furthest(comparison: &RunComparison, verdict: Verdict) -> Option<(&ResultComparison, String)> {
    let compared = comparison.results.iter().filter(|result| result.verdict == verdict);
    let compared = compared.filter_map(|result| Some((result, result.comparison.as_ref()?)));
    // Twice as much is as far from equal as half as much.
    let distance = |ratio: f64| ratio.ln().abs();
    let (result, comparison) =
        compared.max_by(|(_, a), (_, b)| distance(a.ratio).total_cmp(&distance(b.ratio)))?;
    Some((result, phrases::share(comparison, Confidence::Inline)))
}

fn passed_or_not(comparison: &RunComparison, gate: &Gate) -> Text {
    let most = phrases::percent(gate.threshold);
    match gate.outcome {
        GateOutcome::Passed => Text::of(Tone::Good, "Passed: ")
            .and(
                Tone::Plain,
                format!(
                    "a regression of more than {most} is ruled out for every result, and guarded metrics are \
                     within their limits."
                ),
            )
            .and(Tone::Plain, below(comparison)),
        GateOutcome::Regressed => {
            let lost = names(comparison, &gate.regressions);
            let lost = format!("a regression of more than {most} is established in {lost}");
            let phrase = match (gate.regressions.is_empty(), gate.violations.is_empty()) {
                (_, true) => format!("{lost}."),
                (true, false) => "a guarded metric exceeds its limit.".to_owned(),
                (false, false) => format!("{lost}, and a guarded metric exceeds its limit."),
            };
            Text::of(Tone::Bad, "Failed: ").and(Tone::Plain, phrase)
        }
        GateOutcome::Undecided if gate.undecided.is_empty() => Text::of(Tone::Doubtful, "Undecided: ").and(
            Tone::Plain,
            format!("there is no result in which a regression of more than {most} could be seen."),
        ),
        GateOutcome::Undecided => Text::of(Tone::Doubtful, "Undecided: ").and(
            Tone::Plain,
            format!(
                "a regression of more than {most}, or of a guarded metric beyond its limit, is neither \
                 established nor excluded for these results."
            ),
        ),
    }
}

fn below(comparison: &RunComparison) -> String {
    let worse = comparison.results.iter().filter(|result| result.verdict == Verdict::Worse);
    let worse: Vec<String> = worse.map(|result| result.result.clone()).collect();
    if worse.is_empty() {
        return String::new();
    }
    format!(" Worse, but within that threshold: {}.", names(comparison, &worse))
}

fn reasons<'a>(comparison: &RunComparison, questions: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<Text> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (result, reason) in questions {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, results)) => results.push(result.to_owned()),
            None => reasons.push((reason, vec![result.to_owned()])),
        }
    }
    let phrase = |(reason, results): &(&str, Vec<String>)| {
        Text::of(Tone::Strong, names(comparison, results)).and(Tone::Plain, format!(": {reason}"))
    };
    reasons.iter().map(phrase).collect()
}

fn names(comparison: &RunComparison, ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED).map(|id| name(comparison, id)).collect();
    let more = ids.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join("; ") + &more
}

fn name(comparison: &RunComparison, id: &str) -> String {
    let result = comparison.results.iter().find(|result| result.result == id);
    result.map_or_else(|| id.to_owned(), |result| labels::comparison(comparison, result))
}

fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
