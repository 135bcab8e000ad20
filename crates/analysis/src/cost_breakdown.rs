//! Cost breakdown by layer. Compares each path with the largest path that has a subset of its layers. Each setting of
//! the path with the most factors gets its own breakdown. This includes the other paths' results at the same levels.

use std::collections::{BTreeMap, BTreeSet};

use findings::{CostBreakdown, CostStep};

use crate::{fits::Fits, observations::Observations};

type Levels = BTreeMap<String, String>;

pub(crate) fn cost_breakdowns(measured: &[Observations<'_>], fits: &Fits) -> Vec<CostBreakdown> {
    let mut workloads: Vec<&str> = Vec::new();
    for result in measured {
        if !workloads.contains(&result.record.workload.as_str()) {
            workloads.push(&result.record.workload);
        }
    }
    workloads.into_iter().flat_map(|workload| of_workload(workload, measured, fits)).collect()
}

fn of_workload(workload: &str, measured: &[Observations<'_>], fits: &Fits) -> Vec<CostBreakdown> {
    let results: Vec<&Observations<'_>> =
        measured.iter().filter(|result| result.record.workload == workload).collect();
    let mut cost_breakdowns: Vec<CostBreakdown> = Vec::new();
    for levels in richest_settings(&results) {
        let steps = steps(&standing(&results, levels), fits);
        let known = cost_breakdowns.iter().any(|breakdown| same_results(&breakdown.steps, &steps));
        if let Some(metric) = results.first().map(|result| result.metric)
            && steps.iter().any(|step| step.below.is_some())
            && !known
        {
            cost_breakdowns.push(CostBreakdown {
                workload: workload.into(),
                metric,
                levels: levels.clone(),
                steps,
            });
        }
    }
    cost_breakdowns
}

fn richest_settings<'a>(results: &[&'a Observations<'_>]) -> Vec<&'a Levels> {
    let mut richest: Vec<&Levels> = Vec::new();
    for result in results {
        let levels = &result.record.levels;
        let contained = results
            .iter()
            .any(|other| other.record.levels.len() > levels.len() && agrees(levels, &other.record.levels));
        if !contained && !richest.contains(&levels) {
            richest.push(levels);
        }
    }
    richest
}

fn agrees(levels: &Levels, setting: &Levels) -> bool {
    levels.iter().all(|(factor, level)| setting.get(factor) == Some(level))
}

/// Returns one result per path at `setting`, sorted by the number of layers and then in scenario order.
fn standing<'c, 'a>(results: &[&'c Observations<'a>], setting: &Levels) -> Vec<&'c Observations<'a>> {
    let mut standing: Vec<&Observations<'_>> = Vec::new();
    for result in results.iter().filter(|result| agrees(&result.record.levels, setting)) {
        if !standing.iter().any(|other| other.record.path == result.record.path) {
            standing.push(result);
        }
    }
    standing.sort_by_key(|result| layers(result).len());
    standing
}

fn steps(standing: &[&Observations<'_>], fits: &Fits) -> Vec<CostStep> {
    standing.iter().filter_map(|result| step(result, standing, fits)).collect()
}

fn step(result: &Observations<'_>, standing: &[&Observations<'_>], fits: &Fits) -> Option<CostStep> {
    let own = layers(result);
    // `max_by_key` returns the last maximum, so ties go to the path listed last.
    let below = standing
        .iter()
        .filter(|other| layers(other).len() < own.len() && layers(other).is_subset(&own))
        .max_by_key(|other| layers(other).len());
    let under = below.map(|other| layers(other)).unwrap_or_default();
    Some(CostStep {
        result: result.record.id.clone(),
        path: result.record.path.clone(),
        value: fits.value(result)?.estimate,
        below: below.map(|other| other.record.path.clone()),
        adds: result.layers().iter().filter(|layer| !under.contains(layer.as_str())).cloned().collect(),
        cost: below.and_then(|other| fits.compare(result, other)),
    })
}

fn layers<'a>(result: &Observations<'a>) -> BTreeSet<&'a str> {
    result.layers().iter().map(String::as_str).collect()
}

fn same_results(one: &[CostStep], other: &[CostStep]) -> bool {
    one.iter().map(|step| &step.result).eq(other.iter().map(|step| &step.result))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Fixture, egress};
    use findings::Difference;

    fn of(run: &Fixture) -> Vec<CostBreakdown> {
        let measured = crate::observations::gather(&run.record);
        cost_breakdowns(&measured, &Fits::of(&measured))
    }

    fn steps(breakdown: &CostBreakdown) -> Vec<(String, Option<String>, String)> {
        let step = |step: &CostStep| (step.path.clone(), step.below.clone(), step.adds.join("+"));
        breakdown.steps.iter().map(step).collect()
    }

    fn step(path: &str, below: Option<&str>, adds: &str) -> (String, Option<String>, String) {
        (path.into(), below.map(Into::into), adds.into())
    }

    #[test]
    fn each_setting_of_the_richest_path_has_its_own_breakdown() {
        let cost_breakdowns = of(&egress(6));
        let bulk: Vec<&CostBreakdown> =
            cost_breakdowns.iter().filter(|breakdown| breakdown.workload == "bulk").collect();
        assert_eq!(bulk.len(), 4);
        for breakdown in bulk {
            assert_eq!(
                steps(breakdown),
                [
                    step("node-to-node", None, "wire"),
                    step("vxlan-to-vxlan", Some("node-to-node"), "vxlan"),
                    step("pod-to-target", Some("vxlan-to-vxlan"), "veth+gateway"),
                ]
            );
            let under =
                format!("node-to-node/bulk/underlay-offload={}", breakdown.levels["underlay-offload"]);
            assert_eq!(breakdown.steps[0].result, under);
        }
    }

    #[test]
    fn layer_cost_is_the_ratio_to_the_path_below() {
        let cost_breakdowns = of(&egress(6));
        let cost = cost_breakdowns[0].steps[1].cost.expect("both were measured");
        assert!((cost.ratio - 0.8).abs() < 0.01, "{cost:?}");
        assert!((cost.difference + 4e9).abs() < 1e8, "{cost:?}");
        assert_eq!(cost.verdict, Difference::Lower);
    }

    #[test]
    fn layer_without_cost_is_reported_as_none() {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]).path("bridged", &["wire", "bridge"]);
        run.stream("plain", &[], 10e9).stream("bridged", &[], 10e9);
        assert_eq!(of(&run)[0].steps[1].cost.expect("measured").verdict, Difference::None);
    }

    #[test]
    fn path_below_is_the_largest_nested_path() {
        let mut run = Fixture::new(5);
        run.path("base", &["wire"])
            .path("tunnel", &["wire", "vxlan"])
            .path("bridge", &["wire", "bridge"])
            .path("both", &["wire", "bridge", "vxlan"])
            .path("aside", &["veth"]);
        for path in ["base", "tunnel", "bridge", "both", "aside"] {
            run.stream(path, &[], 1e9);
        }
        assert_eq!(
            steps(&of(&run)[0]),
            [
                step("base", None, "wire"),
                step("aside", None, "veth"),
                step("tunnel", Some("base"), "vxlan"),
                step("bridge", Some("base"), "bridge"),
                step("both", Some("bridge"), "vxlan"),
            ]
        );
    }

    #[test]
    fn skips_layer_without_trials() {
        let mut run = egress(6);
        run.record.trials.retain(|trial| !trial.result.starts_with("vxlan-to-vxlan"));
        let breakdown = &of(&run)[0];
        assert_eq!(steps(breakdown)[1], step("pod-to-target", Some("node-to-node"), "veth+vxlan+gateway"));
    }

    #[test]
    fn paths_that_are_not_nested_have_no_breakdown() {
        let mut run = Fixture::new(5);
        run.path("one", &["wire"]).path("other", &["veth"]);
        run.stream("one", &[], 1e9).stream("other", &[], 1e9);
        assert_eq!(of(&run), []);
    }

    #[test]
    fn too_few_blocks_give_cost_without_verdict() {
        for blocks in [1, 2, 4] {
            let cost_breakdowns = of(&egress(blocks));
            assert_eq!(
                cost_breakdowns[0].steps[1].cost.expect("measured").verdict,
                Difference::Unclear,
                "{blocks}"
            );
        }
    }
}
