//! Confidence in a run: number of trials, resolution and warnings.

use findings::{CellSummary, Finding, Findings, NoiseFloor, Severity};
use samples::{EndReason, RunState};
use units::Share;

use super::Difference;
use crate::{
    labels, phrases,
    text::{Text, Tone},
};

/// Where the floor is smaller, as much more and as much less are the same to two digits.
const ALIKE: f64 = 0.05;
/// Smaller spreads between trials of a result are not mentioned.
const APART: f64 = 0.1;

/// The facts, then a finding that warns.
pub(super) fn text(
    findings: &Findings,
    differences: &[Difference<'_>],
    warning: Option<&Finding>,
    (marked, brief): (bool, bool),
) -> Text {
    let mut facts = vec![trials(findings)];
    facts.extend(
        spread(findings)
            .map(|most| format!("trials of the same result vary by up to {}", phrases::rough(most))),
    );
    let unexplained = unexplained(findings);
    let differ =
        || format!("{unexplained} of {} results differ from one with equal settings", findings.cells.len());
    facts.extend((unexplained > 0).then(differ));
    facts.extend(noise(&findings.noise).filter(|_| !brief));
    let unclear = differences.iter().filter(|it| it.is_open()).count();
    facts.extend((unclear > 0).then(|| format!("{unclear} of {} comparisons unclear", differences.len())));
    let warned = warned(findings);
    facts.extend((warned > 0).then(|| format!("warnings on {warned} of {} results", findings.cells.len())));
    let skipped = u64::try_from(findings.skipped.len()).unwrap_or(u64::MAX);
    facts.extend((skipped > 0).then(|| phrases::count(skipped, "result skipped", "results skipped")));
    let within = || format!("{}: within one trial, without variation between trials", phrases::WITHIN);
    facts.extend(marked.then(within));
    let warning =
        warning.map(|claim| format!("; {}", labels::named(findings, claim.lead()))).unwrap_or_default();
    Text::from(format!("{}: {}", grade(findings, differences), facts.join("; "))).and(Tone::Doubtful, warning)
}

/// Results of which trials have warnings.
fn warned(findings: &Findings) -> usize {
    findings.cells.iter().filter(|cell| !cell.doubts.is_empty()).count()
}

/// `low` for unreliable or single numbers; `fair` for missing trials, warnings about the measurement, mostly unclear
/// comparisons, mostly results with warnings, or imported trials that vary.
fn grade(findings: &Findings, differences: &[Difference<'_>]) -> &'static str {
    let alone = findings.cells.iter().all(|cell| cell.value.trials <= 1);
    let warns = |claim: &Finding| claim.is_of_the_measurement() && claim.severity == Severity::Warning;
    let open = differences.iter().filter(|it| it.is_open()).count();
    // Whether trials in a log had equal conditions is unknown.
    let is_doubtful = || {
        let varies = findings.run.origin.imported().is_some() && spread(findings).is_some();
        unexplained(findings) > 0 || varies
    };
    if alone || findings.claims.iter().any(Finding::distrusts) {
        "low"
    } else if findings.run.state == RunState::Unfinished
        || findings.claims.iter().any(warns)
        || 2 * open > differences.len()
        || 2 * warned(findings) > findings.cells.len()
        || is_doubtful()
    {
        "fair"
    } else {
        "good"
    }
}

/// `71 of up to 240 trials; stopped early: every comparison is decided`, or which budget ended the run.
fn trials(findings: &Findings) -> String {
    let run = &findings.run;
    let early = run.state == RunState::Complete && run.made < run.planned && run.origin.imported().is_none();
    if !early {
        return phrases::trials(run);
    }
    let is_over =
        |cell: &CellSummary| matches!(&cell.ended, Some(end) if matches!(end.why, EndReason::Budget { .. }));
    let is_precise = |cell: &CellSummary| {
        cell.ended.as_ref().is_none_or(|end| matches!(end.why, EndReason::Precise { .. }))
    };
    let why = match findings.cells.iter().any(is_over) {
        true => return format!("time budget used up after {} of up to {} trials", run.made, run.planned),
        // Narrow intervals of numbers that cannot be relied on are not enough.
        false if !run.design.is_adaptive() || findings.claims.iter().any(Finding::distrusts) => "",
        false if findings.cells.iter().all(is_precise) => "; stopped early: every result is precise enough",
        false => "; stopped early: every comparison is decided",
    };
    let most = if run.design.is_adaptive() { "up to " } else { "" };
    format!("{} of {most}{} trials{why}", run.made, run.planned)
}

/// Results of an import that differ from one with equal settings, for unknown reasons.
fn unexplained(findings: &Findings) -> usize {
    findings.run.origin.imported().map_or(0, |import| import.unexplained.len())
}

/// Spread between trials of a result, if it is worth mentioning and there is no repeated baseline.
fn spread(findings: &Findings) -> Option<f64> {
    if !findings.noise.is_empty() {
        return None;
    }
    let extent = |cell: &CellSummary| {
        let (low, high) =
            (cell.values.iter().copied().reduce(f64::min)?, cell.values.iter().copied().reduce(f64::max)?);
        (cell.values.len() > 1 && low > 0.0).then(|| high / low - 1.0)
    };
    findings.cells.iter().filter_map(extent).reduce(f64::max).filter(|most| *most > APART)
}

/// `noise floor 1.20 %`, `noise floor of throughput +8.8 %/−8.1 %, of latency 1.20 %`, or for several `noise floors 1.20 % to
/// +36 %/−27 %`.
fn noise(floors: &[NoiseFloor]) -> Option<String> {
    let least = floors.iter().map(|noise| noise.floor).reduce(f64::min)?;
    let most = floors.iter().map(|noise| noise.floor).reduce(f64::max)?;
    Some(match floors {
        [_] => format!("noise floor {}", either_way(most)),
        [one, other] if one.workload != other.workload => format!(
            "noise floor of {} {}, of {} {}",
            one.workload,
            either_way(one.floor),
            other.workload,
            either_way(other.floor)
        ),
        _ => format!("noise floors {} to {}", either_way(least), either_way(most)),
    })
}

/// A floor of 36 % hides 27 % less as well as 36 % more.
fn either_way(floor: f64) -> String {
    if floor < ALIKE {
        Share(floor).to_string()
    } else {
        format!("+{}/−{}", phrases::rough(floor), phrases::rough(1.0 - (1.0 + floor).recip()))
    }
}
