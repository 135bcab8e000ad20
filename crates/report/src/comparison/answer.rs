//! The verdict in one sentence, and the gate's result if a gate was requested.

use findings::{CellComparison, Gate, GateOutcome, OpenQuestion, RunComparison, Verdict};

use super::Source;
use crate::{
    labels,
    page::{Block, Section, section},
    phrases::{self, Confidence},
    text::{Text, Tone},
};

/// Maximum number of results listed by name.
const NAMED: usize = 4;

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let mut blocks = Vec::new();
    if let Some(gate) = source.gate {
        blocks.push(Block::Paragraph(passed_or_not(source.contrast, gate)));
        let open: Vec<Text> = reasons(source.contrast, &gate.unknown);
        blocks.extend((!open.is_empty()).then_some(Block::List(open)));
    }
    blocks.push(Block::Paragraph(sentence(source.contrast)));
    Some(section("Verdict", blocks))
}

fn sentence(contrast: &RunComparison) -> Text {
    let of = |verdict| contrast.cells.iter().filter(move |cell| cell.verdict == verdict);
    let count = |verdict| of(verdict).count();
    let cells = contrast.cells.len();
    let (tone, phrase) = match (count(Verdict::Worse), count(Verdict::Better), count(Verdict::Unknown)) {
        _ if cells == 0 => {
            (Tone::Doubtful, "no comparison is possible: the runs have no result in common".to_owned())
        }
        (0, 0, 0) => (Tone::Good, format!("B is the same as A within noise{}", everywhere(contrast))),
        (0, 0, unknown) if unknown == cells => {
            (Tone::Doubtful, format!("undecided whether B differs from A{}", everywhere(contrast)))
        }
        (worse, 0, _) if worse == cells => (Tone::Bad, format!("B is worse than A{}", everywhere(contrast))),
        (0, better, _) if better == cells => {
            (Tone::Good, format!("B is better than A{}", everywhere(contrast)))
        }
        (worse, better, _) => (overall(worse, better), counted(contrast)),
    };
    Text::of(tone, capital(&phrase)).and(Tone::Plain, extremes(contrast)).and(Tone::Plain, ".")
}

fn overall(worse: usize, better: usize) -> Tone {
    match (worse, better) {
        (0, 0) => Tone::Doubtful,
        (0, _) => Tone::Good,
        _ => Tone::Bad,
    }
}

fn everywhere(contrast: &RunComparison) -> String {
    match contrast.cells.len() {
        1 => " in the only common result".to_owned(),
        cells => format!(" in all {cells} common results"),
    }
}

/// `of 8 cells B is worse in 1 and the same within noise in 7`.
fn counted(contrast: &RunComparison) -> String {
    let words = [
        (Verdict::Worse, "worse"),
        (Verdict::Better, "better"),
        (Verdict::Same, "the same within noise"),
        (Verdict::Unknown, "undecided"),
    ];
    let phrase: Vec<String> = words
        .into_iter()
        .map(|(verdict, word)| (contrast.cells.iter().filter(|cell| cell.verdict == verdict).count(), word))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{word} in {count}"))
        .collect();
    format!("of {} common results, B is {}", contrast.cells.len(), listed(&phrase))
}

/// The results with the largest loss and gain; if undecided, the one that appears to differ most.
fn extremes(contrast: &RunComparison) -> String {
    let phrase: Vec<String> = [(Verdict::Worse, "the worst"), (Verdict::Better, "the best")]
        .into_iter()
        .filter_map(|(verdict, word)| {
            let (cell, share) = furthest(contrast, verdict)?;
            Some(format!("{word} is {} at {share} of A", labels::contrast(contrast, cell)))
        })
        .collect();
    match furthest(contrast, Verdict::Unknown) {
        Some((cell, share)) if phrase.is_empty() => {
            format!("; {} appears to differ most, at {share} of A", labels::contrast(contrast, cell))
        }
        _ if phrase.is_empty() => String::new(),
        _ => format!("; {}", phrase.join(", ")),
    }
}

fn furthest(contrast: &RunComparison, verdict: Verdict) -> Option<(&CellComparison, String)> {
    let compared = contrast.cells.iter().filter(|cell| cell.verdict == verdict);
    let compared = compared.filter_map(|cell| Some((cell, cell.comparison.as_ref()?)));
    // Twice as much is as far away as half.
    let distance = |ratio: f64| ratio.ln().abs();
    let (cell, comparison) =
        compared.max_by(|(_, a), (_, b)| distance(a.ratio).total_cmp(&distance(b.ratio)))?;
    Some((cell, phrases::share(comparison, Confidence::Inline)))
}

fn passed_or_not(contrast: &RunComparison, gate: &Gate) -> Text {
    let most = phrases::percent(gate.most_loss);
    match gate.outcome {
        GateOutcome::Passed => Text::of(Tone::Good, "Passed: ")
            .and(Tone::Plain, format!("a regression of more than {most} is ruled out for every result."))
            .and(Tone::Plain, below(contrast)),
        GateOutcome::Lost => {
            let others = if gate.unknown.is_empty() { "" } else { " Undecided:" };
            let lost = names(contrast, &gate.lost);
            let phrase = format!("a regression of more than {most} is established in {lost}.{others}");
            Text::of(Tone::Bad, "Failed: ").and(Tone::Plain, phrase)
        }
        GateOutcome::CannotTell if gate.unknown.is_empty() => Text::of(Tone::Doubtful, "Undecided: ").and(
            Tone::Plain,
            format!("there is no result in which a regression of more than {most} could be seen."),
        ),
        GateOutcome::CannotTell => Text::of(Tone::Doubtful, "Undecided: ").and(
            Tone::Plain,
            format!(
                "a regression of more than {most} is neither established nor excluded for these results."
            ),
        ),
    }
}

/// The cells that differ all the same.
fn below(contrast: &RunComparison) -> String {
    let worse = contrast.cells.iter().filter(|cell| cell.verdict == Verdict::Worse);
    let worse: Vec<String> = worse.map(|cell| cell.cell.clone()).collect();
    if worse.is_empty() {
        return String::new();
    }
    format!(" Worse, but within that threshold: {}.", names(contrast, &worse))
}

/// Each reason once, with the cells that it leaves open.
fn reasons(contrast: &RunComparison, unknown: &[OpenQuestion]) -> Vec<Text> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for open in unknown {
        match reasons.iter_mut().find(|(why, _)| *why == open.why) {
            Some((_, cells)) => cells.push(open.cell.clone()),
            None => reasons.push((&open.why, vec![open.cell.clone()])),
        }
    }
    let phrase = |(why, cells): &(&str, Vec<String>)| {
        Text::of(Tone::Strong, names(contrast, cells)).and(Tone::Plain, format!(": {why}"))
    };
    reasons.iter().map(phrase).collect()
}

fn names(contrast: &RunComparison, ids: &[String]) -> String {
    let named: Vec<String> = ids.iter().take(NAMED).map(|id| name(contrast, id)).collect();
    let more = ids.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join("; ") + &more
}

fn name(contrast: &RunComparison, id: &str) -> String {
    let cell = contrast.cells.iter().find(|cell| cell.cell == id);
    cell.map_or_else(|| id.to_owned(), |cell| labels::contrast(contrast, cell))
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
