//! Confidence in a run: the number of trials, the resolution and the warnings.

use findings::{Finding, Findings, NoiseFloor, ResultSummary, Severity};
use samples::{EndReason, RunState};
use units::Share;

use super::Difference;
use crate::{
    labels, phrases,
    text::{Text, Tone},
};

/// Below this floor, both directions are equal to two digits.
const ALIKE: f64 = 0.05;
const APART: f64 = 0.1;

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
        || format!("{unexplained} of {} results differ from one with equal settings", findings.results.len());
    facts.extend((unexplained > 0).then(differ));
    facts.extend(noise(&findings.noise).filter(|_| !brief));
    let unclear = differences.iter().filter(|it| it.is_open()).count();
    facts.extend((unclear > 0).then(|| format!("{unclear} of {} comparisons unclear", differences.len())));
    let warned = warned(findings);
    facts.extend((warned > 0).then(|| format!("warnings on {warned} of {} results", findings.results.len())));
    let skipped = u64::try_from(findings.skipped.len()).unwrap_or(u64::MAX);
    facts.extend((skipped > 0).then(|| phrases::count(skipped, "result skipped", "results skipped")));
    let within = || format!("{}: within one trial, without variation between trials", phrases::WITHIN);
    facts.extend(marked.then(within));
    let warning =
        warning.map(|claim| format!("; {}", labels::named(findings, claim.lead()))).unwrap_or_default();
    Text::from(format!("{}: {}", grade(findings, differences), facts.join("; "))).and(Tone::Doubtful, warning)
}

fn warned(findings: &Findings) -> usize {
    findings.results.iter().filter(|result| !result.warnings.is_empty()).count()
}

/// Returns `low` for unreliable or single values. Returns `fair` for missing trials, measurement
/// warnings, mostly unclear comparisons, mostly results with warnings, or imported trials that vary.
fn grade(findings: &Findings, differences: &[Difference<'_>]) -> &'static str {
    let alone = findings.results.iter().all(|result| result.value.trials <= 1);
    let warns = |claim: &Finding| claim.is_of_the_measurement() && claim.severity == Severity::Warning;
    let open = differences.iter().filter(|it| it.is_open()).count();
    // A log does not show whether its trials had equal conditions.
    let is_doubtful = || {
        let varies = findings.run.origin.imported().is_some() && spread(findings).is_some();
        unexplained(findings) > 0 || varies
    };
    if alone || findings.findings.iter().any(Finding::distrusts) {
        "low"
    } else if findings.run.state == RunState::Unfinished
        || findings.findings.iter().any(warns)
        || 2 * open > differences.len()
        || 2 * warned(findings) > findings.results.len()
        || is_doubtful()
    {
        "fair"
    } else {
        "good"
    }
}

fn trials(findings: &Findings) -> String {
    let run = &findings.run;
    let early =
        run.state == RunState::Complete && run.completed < run.planned && run.origin.imported().is_none();
    if !early {
        return phrases::trials(run);
    }
    let is_over = |result: &ResultSummary| matches!(&result.ended, Some(end) if matches!(end.reason, EndReason::Budget { .. }));
    let is_precise = |result: &ResultSummary| {
        result.ended.as_ref().is_none_or(|end| matches!(end.reason, EndReason::Precise { .. }))
    };
    let is_open = |result: &ResultSummary| result.ended.is_none();
    let reason = match findings.results.iter().any(is_over) {
        true => {
            return format!("time budget used up after {} of up to {} trials", run.completed, run.planned);
        }
        // Narrow intervals are not enough if the values are unreliable.
        false if !run.design.is_adaptive() || findings.findings.iter().any(Finding::distrusts) => "",
        false if findings.results.iter().all(is_precise) => "; stopped early: every result is precise enough",
        false if findings.results.iter().any(is_open) => "; stopped early",
        false => "; stopped early: every comparison is decided",
    };
    let most = if run.design.is_adaptive() { "up to " } else { "" };
    format!("{} of {most}{} trials{reason}", run.completed, run.planned)
}

/// Counts imported results that differ from another with equal settings for unknown reasons.
fn unexplained(findings: &Findings) -> usize {
    findings.run.origin.imported().map_or(0, |import| import.unexplained.len())
}

fn spread(findings: &Findings) -> Option<f64> {
    if !findings.noise.is_empty() {
        return None;
    }
    let extent = |result: &ResultSummary| {
        let (low, high) = (
            result.values.iter().copied().reduce(f64::min)?,
            result.values.iter().copied().reduce(f64::max)?,
        );
        (result.values.len() > 1 && low > 0.0).then(|| high / low - 1.0)
    };
    findings.results.iter().filter_map(extent).reduce(f64::max).filter(|most| *most > APART)
}

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

/// Formats a floor in both directions. A floor of 36 % hides an increase of 36 % or a decrease of 27 %.
fn either_way(floor: f64) -> String {
    if floor < ALIKE {
        Share(floor).to_string()
    } else {
        format!("+{}/−{}", phrases::rough(floor), phrases::rough(1.0 - (1.0 + floor).recip()))
    }
}
