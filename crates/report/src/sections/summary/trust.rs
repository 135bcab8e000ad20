//! Confidence in a run: the number of trials, the resolution and the warnings.

use findings::{Findings, Grade, NoiseFloor, RunVerdict, StopReason, TrustReason};

use super::{Scope, statement};
use crate::{page::*, phrases};

pub(super) fn text(findings: &Findings, scope: Scope, marked: bool) -> Text {
    let verdict = &findings.verdict;
    let grade = match verdict.trust.grade {
        Grade::Low => "low",
        Grade::Fair => "fair",
        Grade::Good => "good",
    };
    let mut facts = vec![trials(findings)];
    facts.extend(noise(&findings.noise).filter(|_| !scope.brief));
    facts.extend(verdict.trust.reasons.iter().filter_map(reason));
    let within = || format!("{}: within one trial, without variation between trials", phrases::WITHIN);
    facts.extend(marked.then(within));
    let warning = verdict.trust.reasons.iter().find_map(|reason| match reason {
        TrustReason::Finding(warning) => Some(statement(Tone::Doubtful, warning, false)),
        _ => None,
    });
    let warning = warning.filter(|_| scope.warnings && !shows_serious(verdict));
    let text = Text::from(format!("{grade}: {}", facts.join("; ")));
    match warning {
        Some(warning) => text.and_doubtful("; ").then(warning),
        None => text,
    }
}

fn shows_serious(verdict: &RunVerdict) -> bool {
    matches!(verdict.conclusion, findings::Conclusion::Repeat { .. }) || !verdict.cautions.is_empty()
}

pub(super) fn is_single(verdict: &RunVerdict) -> bool {
    verdict.trust.reasons.contains(&TrustReason::SingleTrials)
}

fn reason(reason: &TrustReason) -> Option<String> {
    Some(match reason {
        TrustReason::SingleTrials | TrustReason::Unfinished | TrustReason::Finding(_) => return None,
        TrustReason::Variation { fraction } => {
            format!("trials of the same result vary by up to {}", phrases::rough(*fraction))
        }
        TrustReason::Unexplained { results, of } => {
            format!("{results} of {of} results differ from another with equal settings")
        }
        TrustReason::Unclear { comparisons, of } => format!("{comparisons} of {of} comparisons unclear"),
        TrustReason::Warnings { results, of } => format!("warnings on {results} of {of} results"),
        TrustReason::Skipped { results } => phrases::count_of(*results, "result skipped", "results skipped"),
    })
}

fn trials(findings: &Findings) -> String {
    let run = &findings.run;
    let Some(stopped) = findings.verdict.trials.stopped else { return phrases::trials(run) };
    let reason = match stopped {
        StopReason::Budget => {
            return format!("time budget used up after {} of up to {} trials", run.completed, run.planned);
        }
        StopReason::Precise => "; stopped early: every result is precise enough",
        StopReason::Decided => "; stopped early: every comparison is decided",
        StopReason::Other if run.design.is_adaptive() => "; stopped early",
        StopReason::Other => "",
    };
    let most = if run.design.is_adaptive() { "up to " } else { "" };
    format!("{} of {most}{} trials{reason}", run.completed, run.planned)
}

fn noise(floors: &[NoiseFloor]) -> Option<String> {
    let least = floors.iter().map(|noise| noise.floor).reduce(f64::min)?;
    let most = floors.iter().map(|noise| noise.floor).reduce(f64::max)?;
    Some(match floors {
        [_] => format!("noise floor {}", phrases::either_way(most)),
        [one, other] if one.workload != other.workload => format!(
            "noise floor of {} {}, of {} {}",
            one.workload,
            phrases::either_way(one.floor),
            other.workload,
            phrases::either_way(other.floor)
        ),
        _ => format!("noise floors {} to {}", phrases::either_way(least), phrases::either_way(most)),
    })
}
