//! How far to trust a run: its trials, what they can tell, and what warns. Must not know what was found.

use findings::{Findings, Severity};
use units::Share;

use super::{Difference, TWO_LINES, short};
use crate::{
    phrases,
    text::{Text, Tone},
};

pub(super) fn text(findings: &Findings, differences: &[Difference<'_>]) -> Text {
    let mut facts = vec![phrases::trials(&findings.run)];
    let floors: Vec<f64> = findings.noise.iter().map(|noise| noise.floor).collect();
    let (least, most) =
        (floors.iter().copied().fold(f64::INFINITY, f64::min), floors.iter().copied().fold(0.0, f64::max));
    facts.extend(match floors.len() {
        0 => None,
        1 => Some(format!("noise floor {}", Share(most))),
        _ => Some(format!("noise floors {} to {}", Share(least), Share(most))),
    });
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let unclear = differences.iter().filter(|it| it.is_open()).count();
    facts.extend((unclear > 0).then(|| format!("{unclear} of {} comparisons unclear", differences.len())));
    let warned = findings.cells.iter().filter(|cell| !cell.doubts.is_empty()).count();
    facts.extend((warned > 0).then(|| format!("warnings on {warned} of {} results", findings.cells.len())));
    let skipped = findings.skipped.len();
    facts.extend((skipped > 0).then(|| phrases::count(count(skipped), "result skipped", "results skipped")));
    let facts = facts.join("; ");
    let warns =
        |claim: &&findings::Finding| claim.is_of_the_measurement() && claim.severity == Severity::Warning;
    let room = TWO_LINES.saturating_sub(facts.chars().count() + 2);
    let claim = findings
        .claims
        .iter()
        .find(warns)
        .map(|claim| short(&claim.claim, room))
        .filter(|claim| claim.len() > 12);
    let claim = claim.map(|claim| format!("; {claim}")).unwrap_or_default();
    Text::from(short(&facts, TWO_LINES)).and(Tone::Doubtful, claim)
}
