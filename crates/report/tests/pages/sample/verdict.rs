//! Verdicts of the hand-written findings, as the analysis would make them.

use std::collections::{BTreeMap, BTreeSet};

use findings::{
    Cause, Comparison, Conclusion, Findings, Grade, LargestChange, LayerCost, NextStep, ResultValue,
    SettingChoice, StopReason, TrialCount, Trust, TrustReason, ValueOrder, WorkloadVerdict, result_label,
};

fn of_workload(findings: &Findings, workload: &str) -> WorkloadVerdict {
    let mut results: Vec<_> = findings.results.iter().filter(|result| result.workload == workload).collect();
    results.sort_by(|one, other| other.value.estimate.total_cmp(&one.value.estimate));
    if results[0].metric.more_is_better() == Some(false) {
        results.reverse();
    }
    let value = |result: &&&findings::ResultSummary| ResultValue {
        result: result.id.clone(),
        path: result.path.clone(),
        levels: result.levels.clone(),
        value: result.value,
    };
    let (first, last) = (results.first(), results.last().filter(|_| results.len() > 1));
    WorkloadVerdict {
        workload: workload.to_owned(),
        metric: results[0].metric,
        results: u32::try_from(results.len()).expect("a few"),
        order: ValueOrder::BestToWorst,
        values: first.iter().chain(&last).map(value).collect(),
        levels: BTreeMap::new(),
        layers: Vec::new(),
        change: None,
    }
}

pub(super) fn of_values(mut findings: Findings) -> Findings {
    let workloads: Vec<String> = findings.results.iter().map(|result| result.workload.clone()).collect();
    let several = workloads.iter().collect::<BTreeSet<_>>().len() > 1;
    for result in &mut findings.results {
        let workload = several.then_some(result.workload.as_str());
        result.label = result_label(&result.path, &result.levels, workload);
    }
    let mut seen = BTreeSet::new();
    let distinct = workloads.iter().filter(|workload| seen.insert(*workload));
    let warned = findings.results.iter().filter(|result| !result.warnings.is_empty()).count();
    let (warned, results) = (warned as u32, findings.results.len() as u32);
    findings.verdict.conclusion = Conclusion::Values;
    findings.verdict.workloads = distinct.map(|workload| of_workload(&findings, workload)).collect();
    findings.verdict.trust = Trust {
        grade: if 2 * warned > results { Grade::Fair } else { Grade::Good },
        reasons: (warned > 0)
            .then_some(TrustReason::Warnings { results: warned, of: results })
            .into_iter()
            .collect(),
    };
    findings
}

fn change(what: &str, [result, reference]: [&str; 2], change: Comparison, cause: Cause) -> LargestChange {
    LargestChange {
        what: what.into(),
        condition: BTreeMap::new(),
        result: result.into(),
        reference: reference.into(),
        change,
        opposite: None,
        cause,
    }
}

pub(super) fn of_egress(findings: Findings) -> Findings {
    let mut findings = of_values(findings);
    let reason = &findings.findings[0];
    let cause = Cause::Found(reason.into());
    let remedy = reason.remedy.as_ref().expect("it has one");
    let next = NextStep {
        finding: reason.id.clone(),
        action: remedy.action.clone(),
        command: remedy.commands.first().cloned(),
        explains: true,
    };
    let effect = &findings.effects[0];
    let change = change(
        "vxlan-offload off instead of on, vxlan-to-vxlan",
        [&effect.result, &effect.reference_result],
        effect.change,
        cause,
    );
    let verdict = &mut findings.verdict;
    verdict.conclusion = Conclusion::Difference;
    verdict.next = Some(next);
    verdict.trust.reasons.push(TrustReason::Skipped { results: 1 });
    for workload in &mut verdict.workloads {
        let breakdown = findings.cost_breakdowns.iter().find(|it| it.workload == workload.workload);
        let steps = &breakdown.expect("each has one").steps;
        workload.order = ValueOrder::Layers;
        let ends = steps.iter().filter(|step| step.below.is_none() || step.path == "pod-to-target");
        let ends = ends.filter_map(|step| findings.results.iter().find(|result| result.id == step.result));
        workload.values = ends
            .map(|result| ResultValue {
                result: result.id.clone(),
                path: result.path.clone(),
                levels: result.levels.clone(),
                value: result.value,
            })
            .collect();
        workload.layers = steps
            .iter()
            .filter_map(|step| {
                let (result, adds) = (step.result.clone(), step.adds.clone());
                Some(LayerCost { result, adds, cost: step.cost?, unreliable: false })
            })
            .collect();
    }
    verdict.workloads[0].change = Some(change);
    findings
}

pub(super) fn of_ranking(findings: Findings) -> Findings {
    let mut findings = of_values(findings);
    let pair = &findings.matched_pairs[0].pairs[0];
    let cause = Cause::Unknown { investigate: Some("plumb run egress-gateway --probe all".into()) };
    let change = change("vhost, qemu-vhost vs qemu", [&pair.with, &pair.without], pair.change, cause);
    findings.verdict.conclusion = Conclusion::Difference;
    findings.verdict.workloads[0].change = Some(change);
    findings.verdict.trust.reasons.push(TrustReason::Unclear { comparisons: 1, of: 2 });
    findings.verdict.workloads.iter_mut().for_each(|workload| workload.order = ValueOrder::Ranking);
    findings
}

pub(super) fn of_change(findings: Findings) -> Findings {
    let mut findings = of_values(findings);
    let effect = &findings.effects[2];
    let change = change(
        "vhost-net on instead of off, vm0-to-vm1",
        [&effect.result, &effect.reference_result],
        effect.change,
        Cause::Unknown { investigate: None },
    );
    findings.verdict.conclusion = Conclusion::Difference;
    findings.verdict.workloads[0].change = Some(change);
    findings.verdict.trust = Trust {
        grade: Grade::Low,
        reasons: vec![TrustReason::SingleTrials, TrustReason::Unclear { comparisons: 1, of: 4 }],
    };
    findings
}

pub(super) fn of_sweep(findings: Findings) -> Findings {
    let mut findings = of_values(findings);
    let answer = &findings.answers[0];
    let choice = |it: &findings::Recommendation| SettingChoice {
        objective: it.objective,
        metric: answer.metric,
        result: it.result.clone(),
        levels: it.levels.clone(),
        value: it.value,
        ties: 0,
        withheld: None,
    };
    findings.verdict.settings = answer.recommendations.iter().map(choice).collect();
    findings.verdict.conclusion = Conclusion::Setting;
    findings.verdict.trials = TrialCount { stopped: Some(StopReason::Budget), ..TrialCount::default() };
    findings
}
