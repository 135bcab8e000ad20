//! The claims, the most severe first: what was found, on what evidence, and what to do.
//! Must not know how a claim was reached.

use findings::{Brought, Difference, Evidence, Finding, Remedy, Severity};

use super::Source;
use crate::{
    page::{Block, Section, section},
    phrases::{self, Confidence},
    text::{Text, Tone},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    let findings = source.findings;
    let blocks = if findings.cells.is_empty() {
        vec![Block::Paragraph(nothing_measured(findings.skipped.len()))]
    } else if findings.claims.is_empty() {
        let line = "Nothing to act on: no rule saw a loss that a setting explains.";
        vec![Block::Paragraph(Text::of(Tone::Good, line))]
    } else {
        findings.claims.iter().flat_map(claim).collect()
    };
    Some(section("Verdict", blocks))
}

fn nothing_measured(skipped: usize) -> Text {
    let reason =
        if skipped == 0 { "no trial has ended yet." } else { "every cell was skipped, as listed below." };
    Text::of(Tone::Doubtful, format!("Nothing was measured: {reason}"))
}

/// So many numbers stand under a claim; the others, and what could be wrong with it, are folded away.
const SHOWN: usize = 2;

/// What is serious shows its numbers; what is worth acting on shows what to do; a note is a sentence.
pub(crate) fn claim(finding: &Finding) -> Vec<Block> {
    let (word, tone, numbers) = match finding.severity {
        Severity::Serious => ("Serious: ", Tone::Bad, SHOWN),
        Severity::Warning => ("Warning: ", Tone::Doubtful, 0),
        Severity::Note => ("Note: ", Tone::Good, 0),
    };
    let headline = Block::Heading(Text::of(tone, word).and(Tone::Strong, &finding.claim));
    let (shown, folded) = finding.evidence.split_at(numbers.min(finding.evidence.len()));
    let remedy: Vec<Block> = finding.remedy.iter().flat_map(remedy).collect();
    let (remedy, folded_remedy) =
        if finding.severity == Severity::Note { (Vec::new(), remedy) } else { (remedy, Vec::new()) };
    let rest: Vec<Block> = list(folded.iter().map(said).chain(finding.caveats.iter().map(doubted)))
        .into_iter()
        .chain(folded_remedy)
        .collect();
    let rest = (!rest.is_empty()).then(|| Block::Folded { title: "Evidence".into(), blocks: rest });
    [headline].into_iter().chain(list(shown.iter().map(said))).chain(remedy).chain(rest).collect()
}

fn list(items: impl Iterator<Item = Text>) -> Option<Block> {
    let items: Vec<Text> = items.collect();
    (!items.is_empty()).then_some(Block::List(items))
}

fn said(evidence: &Evidence) -> Text {
    Text::from(format!("{}: ", evidence.what)).and(Tone::Strong, &evidence.value)
}

fn doubted(caveat: &String) -> Text {
    Text::of(Tone::Faint, format!("But: {caveat}"))
}

fn remedy(remedy: &Remedy) -> Vec<Block> {
    let action = Block::Paragraph(Text::of(Tone::Good, "Remedy: ").and(Tone::Plain, &remedy.action));
    let commands = (!remedy.commands.is_empty()).then(|| Block::Commands(remedy.commands.clone()));
    [action].into_iter().chain(commands).chain(list(remedy.brought.iter().map(tried))).collect()
}

/// `Tried on pod-to-target/stream: 4.55 Gbit/s became 18.9 Gbit/s, 4.15x (4.05 to 4.27, 94 %)`.
fn tried(brought: &Brought) -> Text {
    let Brought { cell, metric, before, after, comparison } = brought;
    let value = |value: &f64| phrases::value(*metric, *value);
    let outcome = match comparison.verdict {
        Difference::None => "made no difference beyond the noise: ",
        Difference::Unclear => "whether it helps is unclear: ",
        Difference::Lower | Difference::Higher => "",
    };
    Text::of(phrases::tone(*metric, comparison), format!("Tried on {cell}: ")).and(
        Tone::Plain,
        format!(
            "{outcome}{} became {}, {} of it",
            value(before),
            value(after),
            phrases::share(comparison, Confidence::Inline)
        ),
    )
}
