//! The next step: the best setting of a sweep, or the remedy of a finding.

use findings::{Finding, Findings, NextStep, Objective, SettingChoice};

use super::{
    changes::{self, Difference},
    count, trust,
};

pub(super) fn settings(findings: &Findings) -> Vec<SettingChoice> {
    let choice = |objective: Objective| {
        findings.answers.iter().find_map(|answer| {
            let chosen = answer.recommendations.iter().find(|it| it.objective == objective)?;
            Some(SettingChoice {
                objective,
                metric: answer.metric,
                result: chosen.result.clone(),
                levels: chosen.levels.clone(),
                value: chosen.value,
                ties: count(chosen.ties.len()),
                withheld: chosen.withheld.clone(),
            })
        })
    };
    [Objective::Max, Objective::Efficient, Objective::LowCpu].into_iter().filter_map(choice).collect()
}

pub(super) fn step(findings: &Findings, leading: Option<&Difference<'_>>) -> Option<NextStep> {
    let change = leading.filter(|change| change.is_established());
    let cause = change.and_then(|change| changes::cause(findings, change));
    let of_change = |finding: &&Finding| {
        leading.is_some_and(|change| change.results.iter().any(|result| finding.concerns(result)))
    };
    let mut with_remedy = changes::about_path(findings).filter(|finding| finding.remedy.is_some());
    let first = cause
        .or_else(|| findings.distrusting().find(|finding| finding.remedy.is_some()))
        .or_else(|| with_remedy.find(of_change))
        .or_else(|| changes::about_path(findings).next())?;
    let explains = cause.is_some() && !trust::has_single_trials(findings);
    suggested(first, explains)
}

pub(crate) fn suggested(finding: &Finding, explains: bool) -> Option<NextStep> {
    let remedy = finding.remedy.as_ref()?;
    Some(NextStep {
        finding: finding.id.clone(),
        action: remedy.action.clone(),
        command: remedy.commands.first().filter(|command| !has_placeholder(command)).cloned(),
        explains,
    })
}

/// Returns whether the user has to fill in a part of the command, as in `taskset -cp THREAD`.
fn has_placeholder(command: &str) -> bool {
    let typed = command.split("  #").next().unwrap_or_default();
    typed.contains('…')
        || typed
            .split_whitespace()
            .any(|word| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_uppercase()))
}
