//! The claims, the most severe first: what was found, on what evidence, and what to do.
//! Must not know how a claim was reached.

use findings::{Evidence, Finding, Remedy, Severity};

use super::Source;
use crate::{
    page::{Block, Section, section},
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

/// What makes numbers untrustworthy shows why; what is worth acting on shows what to do; a note is a sentence.
fn claim(finding: &Finding) -> Vec<Block> {
    let (word, tone) = match finding.severity {
        Severity::Serious => ("Serious: ", Tone::Bad),
        Severity::Warning => ("Warning: ", Tone::Doubtful),
        Severity::Note => ("Note: ", Tone::Good),
    };
    let headline = Block::Heading(Text::of(tone, word).and(Tone::Strong, &finding.claim));
    let (evidence, remedy) = (evidence(finding), finding.remedy.iter().flat_map(remedy));
    let (shown, folded): (Vec<Block>, Vec<Block>) = match finding.severity {
        Severity::Serious => (evidence.into_iter().chain(remedy).collect(), Vec::new()),
        Severity::Warning => (remedy.collect(), evidence.into_iter().collect()),
        Severity::Note => (Vec::new(), evidence.into_iter().chain(remedy).collect()),
    };
    let folded = (!folded.is_empty()).then(|| Block::Folded { title: "Evidence".into(), blocks: folded });
    [headline].into_iter().chain(shown).chain(folded).collect()
}

fn evidence(finding: &Finding) -> Option<Block> {
    let said =
        |evidence: &Evidence| Text::from(format!("{}: ", evidence.what)).and(Tone::Strong, &evidence.value);
    let doubted = |caveat: &String| Text::of(Tone::Faint, format!("But: {caveat}"));
    let items: Vec<Text> =
        finding.evidence.iter().map(said).chain(finding.caveats.iter().map(doubted)).collect();
    (!items.is_empty()).then_some(Block::List(items))
}

fn remedy(remedy: &Remedy) -> Vec<Block> {
    let action = Block::Paragraph(Text::of(Tone::Good, "Remedy: ").and(Tone::Plain, &remedy.action));
    let commands = (!remedy.commands.is_empty()).then(|| Block::Commands(remedy.commands.clone()));
    [action].into_iter().chain(commands).collect()
}
