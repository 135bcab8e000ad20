//! Confidence in a run: the number of trials, the resolution and the warnings.

use findings::{
    FEWEST_TO_ESTABLISH, Finding, Findings, Grade, ResultSummary, Role, Severity, StopReason, TrialCount,
    Trust, TrustReason,
};
use samples::{EndReason, RunRecord, RunState};

use super::{changes::Difference, count};
use crate::observations::Observations;

/// Smaller relative variations between a result's trials are not mentioned.
const NOTABLE: f64 = 0.1;

pub(super) fn trust(findings: &Findings, differences: &[Difference<'_>]) -> Trust {
    let open = differences.iter().filter(|difference| difference.is_open()).count();
    let warned = findings.results.iter().filter(|result| !result.warnings.is_empty()).count();
    let imported = findings.run.origin.imported();
    let unexplained = imported.map_or(0, |import| import.unexplained.len());
    let (single, unfinished) = (has_single_trials(findings), findings.run.state == RunState::Unfinished);
    let variation = variation(findings);
    let warning = findings.findings.iter().filter(|finding| warns(finding));
    let mut serious = findings.distrusting().peekable();
    let results = count(findings.results.len());
    let reasons = [
        single.then_some(TrustReason::SingleTrials),
        unfinished.then_some(TrustReason::Unfinished),
        variation.map(|fraction| TrustReason::Variation { fraction }),
        (unexplained > 0).then(|| TrustReason::Unexplained { results: count(unexplained), of: results }),
        (open > 0).then(|| TrustReason::Unclear { comparisons: count(open), of: count(differences.len()) }),
        (warned > 0).then(|| TrustReason::Warnings { results: count(warned), of: results }),
        (!findings.skipped.is_empty())
            .then(|| TrustReason::Skipped { results: count(findings.skipped.len()) }),
    ];
    let few = findings.results.iter().all(|result| result.value.trials < FEWEST_TO_ESTABLISH);
    let grade = if few || serious.peek().is_some() {
        Grade::Low
    } else if unfinished
        || warning.clone().next().is_some()
        || 2 * open > differences.len()
        || 2 * warned > findings.results.len()
        || unexplained > 0
        // A log does not show whether the conditions of its trials were the same.
        || (imported.is_some() && variation.is_some())
    {
        Grade::Fair
    } else {
        Grade::Good
    };
    let reasons = reasons.into_iter().flatten();
    let statements = serious.chain(warning).map(|finding| TrustReason::Finding(finding.into()));
    Trust { grade, reasons: reasons.chain(statements).collect() }
}

pub(super) fn has_single_trials(findings: &Findings) -> bool {
    findings.results.iter().all(|result| result.value.trials <= 1)
}

fn warns(finding: &Finding) -> bool {
    finding.severity == Severity::Warning
        && finding.superseded_by.is_none()
        && matches!(finding.role, Role::Measurement | Role::Limit)
}

/// Returns `None` if the variation is small or a baseline was repeated.
fn variation(findings: &Findings) -> Option<f64> {
    if !findings.noise.is_empty() {
        return None;
    }
    let extent = |result: &ResultSummary| {
        let values = || result.values.iter().copied();
        let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
        (result.values.len() > 1 && low > 0.0).then(|| high / low - 1.0)
    };
    findings.results.iter().filter_map(extent).reduce(f64::max).filter(|most| *most > NOTABLE)
}

pub(super) fn trials(findings: &Findings, record: &RunRecord, measured: &[Observations<'_>]) -> TrialCount {
    let used = measured.iter().map(|it| it.points.len() + it.again.len() + it.alone.len()).sum();
    let repeated = record.trials.iter().filter(|trial| !trial.discarded.is_empty()).count();
    let dropped = measured.iter().map(|it| it.left_out.len() + it.unusable.len()).sum();
    TrialCount {
        used: count(used),
        repeated: count(repeated),
        dropped: count(dropped),
        stopped: stopped(findings),
    }
}

fn stopped(findings: &Findings) -> Option<StopReason> {
    let run = &findings.run;
    if run.state != RunState::Complete || run.completed >= run.planned || run.origin.imported().is_some() {
        return None;
    }
    let ended = || findings.results.iter().map(|result| result.ended.as_ref().map(|end| &end.reason));
    Some(if ended().any(|reason| matches!(reason, Some(EndReason::Budget { .. }))) {
        StopReason::Budget
    } else if !run.design.is_adaptive() || findings.distrusting().next().is_some() {
        // Narrow intervals are not enough if the values are unreliable.
        StopReason::Other
    } else if ended().all(|reason| matches!(reason, None | Some(EndReason::Precise { .. }))) {
        StopReason::Precise
    } else if ended().any(|reason| reason.is_none()) {
        StopReason::Other
    } else {
        StopReason::Decided
    })
}
