//! Selects the values and layer costs that the verdict shows for a workload.

use std::collections::BTreeMap;

use findings::{CostBreakdown, CostStep, Findings, LayerCost, ResultSummary, ResultValue, ValueOrder};

type Levels = BTreeMap<String, String>;

pub(super) fn of<'a>(findings: &'a Findings, workload: &str) -> (ValueOrder, Vec<&'a ResultSummary>, Levels) {
    let ends = |order, levels: &Levels, first: &str, last: &str| {
        let result = |id: &str| findings.result(id);
        Some((order, vec![result(first)?, result(last)?], levels.clone()))
    };
    let breakdown = breakdown(findings, workload).and_then(|breakdown| {
        let (first, last) = (breakdown.steps.first()?, breakdown.steps.last()?);
        ends(ValueOrder::Layers, &breakdown.levels, &first.result, &last.result)
    });
    let ranking = || {
        let mut rankings = findings.rankings.iter().filter(|ranking| ranking.workload == workload);
        let ranking = rankings.next().filter(|_| rankings.next().is_none())?;
        let (first, last) = (ranking.ranks.first()?, ranking.ranks.last()?);
        ends(ValueOrder::Ranking, &ranking.levels, &first.result, &last.result)
    };
    let extremes = || {
        let more = |result: &&ResultSummary| result.metric.more_is_better().unwrap_or(true);
        let mut results: Vec<&ResultSummary> =
            findings.results.iter().filter(|result| result.workload == workload).collect();
        results.sort_by(|one, other| {
            let rising = one.value.estimate.total_cmp(&other.value.estimate);
            if more(one) { rising.reverse() } else { rising }
        });
        if results.len() > 2 {
            results.drain(1..results.len() - 1);
        }
        (ValueOrder::BestToWorst, results, Levels::new())
    };
    breakdown.or_else(ranking).unwrap_or_else(extremes)
}

pub(super) fn value(result: &ResultSummary) -> ResultValue {
    ResultValue {
        result: result.id.clone(),
        path: result.path.clone(),
        levels: result.levels.clone(),
        value: result.value,
    }
}

fn breakdown<'a>(findings: &'a Findings, workload: &str) -> Option<&'a CostBreakdown> {
    findings.cost_breakdowns.iter().find(|breakdown| breakdown.workload == workload)
}

pub(super) fn layers(findings: &Findings, workload: &str) -> Vec<LayerCost> {
    let Some(breakdown) = breakdown(findings, workload) else { return Vec::new() };
    let below = |step: &CostStep| breakdown.steps.iter().find(|it| Some(&it.path) == step.below.as_ref());
    let unreliable = |step: &CostStep| findings.unreliable(&step.result).is_some();
    let layer = |step: &CostStep| {
        Some(LayerCost {
            result: step.result.clone(),
            adds: step.adds.clone(),
            cost: step.cost?,
            unreliable: unreliable(step) || below(step).is_some_and(unreliable),
        })
    };
    breakdown.steps.iter().filter_map(layer).collect()
}
