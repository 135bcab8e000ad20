//! Derives the verdict: the answer, its cause, the next step and the confidence in the answer.

mod changes;
mod next;
mod trust;
mod values;

pub(crate) use next::suggested;

use findings::{
    Cause, ComparisonCount, Conclusion, FEWEST_TO_ESTABLISH, Finding, Findings, LargestChange, Role,
    RunVerdict, Severity, Statement, WorkloadVerdict,
};
use samples::RunRecord;

use crate::{commands::Commands, observations::Observations};
use changes::Difference;

pub(crate) fn verdict(
    findings: &Findings,
    record: &RunRecord,
    measured: &[Observations<'_>],
    commands: &Commands<'_>,
) -> RunVerdict {
    let differences = changes::all(findings);
    let mut workloads: Vec<Candidate<'_>> = workloads(findings)
        .into_iter()
        .map(|workload| Candidate {
            workload,
            change: changes::largest(findings, workload, &differences),
            judged: is_judged(findings, workload),
        })
        .collect();
    workloads.sort_by(|one, other| {
        other.judged.cmp(&one.judged).then(changes::order(other.change, one.change, findings))
    });
    let leading = workloads.first().and_then(|first| first.change);
    let (conclusion, shown) = conclusion(findings, leading, &workloads);
    let repeats = matches!(conclusion, Conclusion::Repeat { .. });
    // If trials are missing, the next step is to add some. Imported runs cannot get more trials.
    let too_few = findings.run.origin.imported().is_none()
        && matches!(conclusion, Conclusion::Undecided { trials, needed } if trials < needed);
    let investigate = commands.probed("").into_iter().next().filter(|_| findings.probes.used.is_empty());
    let workload = |candidate: &Candidate<'_>| {
        let change = candidate.change.map(|change| {
            let cause = changes::cause(findings, change).filter(|_| change.is_established());
            let unknown = || Cause::Unknown { investigate: investigate.clone() };
            let cause = cause.map_or_else(unknown, |cause| Cause::Found(cause.into()));
            change.largest(cause, &differences)
        });
        workload(findings, candidate.workload, change)
    };
    let settings = next::settings(findings);
    RunVerdict {
        causes: causes(findings),
        cautions: cautions(findings, &shown, &conclusion),
        conclusion: if settings.is_empty() || repeats { conclusion } else { Conclusion::Setting },
        workloads: workloads.iter().map(workload).collect(),
        next: next::step(findings, leading).filter(|_| !repeats && !too_few && settings.is_empty()),
        settings,
        trust: trust::trust(findings, &differences),
        trials: trust::trials(findings, record, measured),
        comparisons: ComparisonCount {
            decided: count(differences.iter().filter(|difference| !difference.is_open()).count()),
            open: count(differences.iter().filter(|difference| difference.is_open()).count()),
        },
    }
}

struct Candidate<'a> {
    workload: &'a str,
    change: Option<&'a Difference<'a>>,
    judged: bool,
}

pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn workloads(findings: &Findings) -> Vec<&str> {
    let mut workloads: Vec<&str> = Vec::new();
    for result in &findings.results {
        if !workloads.contains(&result.workload.as_str()) {
            workloads.push(&result.workload);
        }
    }
    workloads
}

fn is_judged(findings: &Findings, workload: &str) -> bool {
    let mut results = findings.results.iter().filter(|result| result.workload == workload);
    results.any(|result| result.metric.more_is_better().is_some())
}

fn workload(findings: &Findings, workload: &str, change: Option<LargestChange>) -> WorkloadVerdict {
    let results = || findings.results.iter().filter(|result| result.workload == workload);
    let (order, values, levels) = values::of(findings, workload);
    WorkloadVerdict {
        workload: workload.to_owned(),
        metric: results().next().map_or(findings::Metric::Throughput, |result| result.metric),
        results: count(results().count()),
        order,
        values: values.into_iter().map(values::value).collect(),
        levels,
        layers: values::layers(findings, workload),
        change,
    }
}

fn conclusion<'a>(
    findings: &'a Findings,
    leading: Option<&Difference<'a>>,
    workloads: &[Candidate<'a>],
) -> (Conclusion, Vec<&'a str>) {
    let broken = findings.findings.iter().find(|finding| is_broken(findings, finding));
    let broken = broken.map(|finding| Conclusion::Broken {
        reason: finding.into(),
        action: finding.remedy.as_ref().map(|remedy| remedy.action.clone()),
    });
    let Some(first) = workloads.first() else { return (broken.unwrap_or_default(), Vec::new()) };
    let shown: Vec<&str> = match leading {
        Some(change) => change.results.to_vec(),
        None => values::of(findings, first.workload).1.iter().map(|value| value.id.as_str()).collect(),
    };
    let established = leading.is_some_and(Difference::is_established);
    let undermines = |finding: &&Finding| match finding.role {
        Role::Limit => !established,
        _ => shown.iter().any(|result| finding.concerns(result)),
    };
    let most = findings.results.iter().map(|result| result.value.trials).max().unwrap_or_default();
    let conclusion = match (findings.distrusting().find(undermines), leading) {
        _ if broken.is_some() => broken.unwrap_or_default(),
        (Some(finding), _) => Conclusion::Repeat {
            reason: finding.into(),
            action: finding.remedy.as_ref().map(|remedy| remedy.action.clone()),
        },
        (None, None) => Conclusion::Values,
        (None, Some(_)) if established => Conclusion::Difference,
        (None, Some(change)) if change.is_open() => {
            Conclusion::Undecided { trials: most, needed: FEWEST_TO_ESTABLISH }
        }
        (None, Some(_)) => Conclusion::NoDifference,
    };
    (conclusion, shown)
}

fn is_broken(findings: &Findings, finding: &Finding) -> bool {
    let is_skipped = |id: &String| findings.skipped.iter().any(|skipped| skipped.result == *id);
    finding.role == Role::Cause
        && finding.severity == Severity::Serious
        && finding.results.iter().any(is_skipped)
}

fn causes(findings: &Findings) -> Vec<Statement> {
    let counted = |finding: &&Finding| {
        finding.counted
            && finding.established
            && finding.superseded_by.is_none()
            && !finding.results.is_empty()
    };
    findings.findings.iter().filter(counted).map(Into::into).collect()
}

fn cautions(findings: &Findings, shown: &[&str], conclusion: &Conclusion) -> Vec<Statement> {
    let mut cautions: Vec<&Finding> = findings.distrusting()
        .filter(
            |finding| !matches!(conclusion, Conclusion::Repeat { reason, .. } if reason.finding == finding.id),
        )
        .collect();
    cautions.sort_by_key(|finding| !shown.iter().any(|result| finding.concerns(result)));
    cautions.into_iter().map(Into::into).collect()
}

#[cfg(test)]
mod tests;
