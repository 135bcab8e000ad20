//! Findings with evidence and remedies, most severe first.

use findings::{Difference, Evidence, Finding, Remedy, RemedyEffect, Severity};

use super::{Source, invalid_trials::Valueless};
use crate::{
    page::*,
    phrases::{self, Confidence, MOST_ADVICE},
};

pub(super) fn build(source: &Source<'_>) -> Option<Section> {
    Some(of_first(source, usize::MAX))
}

pub(super) fn short(source: &Source<'_>) -> Section {
    of_first(source, MOST_ADVICE)
}

pub(crate) fn more(count: usize, run: &str) -> Option<Text> {
    (count > 0).then(|| {
        Text::faint(format!("{}: ", phrases::count(count, "more finding")))
            .and_code(format!("plumb explain {run}"))
    })
}

fn of_first(source: &Source<'_>, most: usize) -> Section {
    let findings = source.findings;
    let blocks = if findings.results.is_empty() {
        vec![Block::Paragraph(nothing_measured(source))]
    } else if findings.findings.is_empty() {
        let line = "No known cause of a slowdown was found.";
        vec![Block::Paragraph(Text::good(line))]
    } else {
        let rest = more(findings.findings.len().saturating_sub(most), &findings.run.id.0);
        findings.findings.iter().take(most).flat_map(claim).chain(rest.map(Block::Paragraph)).collect()
    };
    let without = source.record.filter(|_| !findings.results.is_empty()).and_then(|record| {
        let without = Valueless::of(record, findings);
        (without.trials > 0).then(|| Block::Paragraph(Text::doubtful(without.in_words())))
    });
    section("Findings", blocks.into_iter().chain(without).collect())
}

fn nothing_measured(source: &Source<'_>) -> Text {
    let findings = source.findings;
    let reason = match source.record {
        _ if findings.run.completed == 0 && findings.skipped.is_empty() => {
            "no trial has finished yet.".to_owned()
        }
        _ if findings.run.completed == 0 => "every result was skipped, as listed below.".to_owned(),
        Some(record) => Valueless::of(record, findings).in_words(),
        None => {
            let trials = phrases::count_of(findings.run.completed, "trial was", "trials were");
            format!("{trials} run, but none has a value.")
        }
    };
    Text::doubtful(format!("Nothing was measured: {reason}"))
}

/// Number of values shown under a serious finding. Further values and limitations are folded.
const SHOWN: usize = 2;

pub(crate) fn claim(finding: &Finding) -> Vec<Block> {
    let (word, tone, numbers) = match finding.severity {
        Severity::Serious => ("Serious: ", Tone::Bad, SHOWN),
        Severity::Warning => ("Warning: ", Tone::Doubtful, 0),
        Severity::Note => ("Note: ", Tone::Good, 0),
    };
    let explained =
        finding.superseded_by.as_ref().map(|by| format!(" Explained by {by}.")).unwrap_or_default();
    let headline = Block::Claim {
        id: finding.id.clone(),
        text: Text::of(tone, word).then(Text::phrase(Tone::Strong, &finding.claim())).and_faint(explained),
    };
    let numbers = if finding.superseded_by.is_some() { 0 } else { numbers };
    let (shown, folded) = finding.evidence.split_at(numbers.min(finding.evidence.len()));
    let remedy: Vec<Block> = finding.remedy.iter().flat_map(remedy).collect();
    let (remedy, folded_remedy) = if finding.severity == Severity::Note || finding.superseded_by.is_some() {
        (Vec::new(), remedy)
    } else {
        (remedy, Vec::new())
    };
    let rest: Vec<Block> =
        list(folded.iter().map(phrase).chain(finding.limitations.iter().map(limitation_text)))
            .into_iter()
            .chain(folded_remedy)
            .collect();
    let rest = (!rest.is_empty()).then(|| Block::Folded { title: "Evidence".into(), blocks: rest });
    let more =
        (!shown.is_empty() && !folded.is_empty()).then(|| Text::faint(format!("and {} more", folded.len())));
    [headline]
        .into_iter()
        .chain(list(shown.iter().map(phrase).chain(more)))
        .chain(remedy)
        .chain(rest)
        .collect()
}

fn list(items: impl Iterator<Item = Text>) -> Option<Block> {
    let items: Vec<Text> = items.collect();
    (!items.is_empty()).then_some(Block::List(items))
}

fn phrase(evidence: &Evidence) -> Text {
    Text::from(format!("{}: ", evidence.label)).and_strong(&evidence.value)
}

fn limitation_text(limitation: &String) -> Text {
    Text::faint(format!("Limitation: {limitation}"))
}

fn remedy(remedy: &Remedy) -> Vec<Block> {
    let action = Block::Paragraph(Text::good("Remedy: ").and_plain(remedy.text()));
    let commands = (!remedy.commands.is_empty()).then(|| Block::Commands(remedy.commands.clone()));
    [action]
        .into_iter()
        .chain(commands)
        .chain(list(remedy.effects.iter().map(|effects| tried(remedy, effects))))
        .collect()
}

/// Formats e.g. `Tried: offloads on at node1:vxlan0, in pod-to-target/stream: 4.55 Gbit/s became 18.9 Gbit/s: 4.15x`.
fn tried(remedy: &Remedy, effects: &RemedyEffect) -> Text {
    let what =
        remedy.change.as_ref().map(|change| format!(": {},", phrases::change(change))).unwrap_or_default();
    let RemedyEffect { label, metric, before, after, comparison, .. } = effects;
    let value = |value: &f64| phrases::value(*metric, *value);
    let outcome = match comparison.verdict {
        Difference::None => "no difference beyond the noise: ",
        Difference::Unclear => "effect undecided: ",
        Difference::Lower | Difference::Higher => "",
    };
    Text::of(phrases::tone(*metric, comparison), format!("Tried{what} in {label}: ")).and_plain(format!(
        "{outcome}{} became {}: {}",
        value(before),
        value(after),
        phrases::times(comparison, Confidence::Inline)
    ))
}
