//! Selects one result for each side and workload.

use std::collections::{BTreeMap, BTreeSet};

use ::scenario::{Plan, PlanOptions, PlannedResult, ResultId, Scenario};

use crate::failure::Misuse;

#[derive(Debug)]
pub(super) struct Selection {
    /// The value is `true` for results of A, which are the baselines.
    pub(super) results: BTreeMap<ResultId, bool>,
}

impl Selection {
    pub(super) fn of(scenario: &Scenario, sides: [&str; 2]) -> Result<Self, Misuse> {
        let plan = Plan::expand(scenario, 0, &PlanOptions { trials: Some(1), ..PlanOptions::default() });
        let [a, b] = sides.map(|words| selected(&plan, words));
        let (a, b) = (a?, b?);
        let mut results = BTreeMap::new();
        for workload in a.iter().map(|result| &result.workload).collect::<BTreeSet<_>>() {
            let of = |side: &[&PlannedResult]| -> Vec<PlannedResult> {
                side.iter().filter(|result| result.workload == *workload).map(|it| (*it).clone()).collect()
            };
            let [a, b] = [of(&a), of(&b)];
            if b.is_empty() {
                continue;
            }
            let (a, b) = (only(&a, sides[0])?, only(&b, sides[1])?);
            if a == b {
                let misuse = Misuse::new(format!("both sides select the result {a}"));
                return Err(misuse.hint("name two paths, or two levels of a factor"));
            }
            results.extend([(a, true), (b, false)]);
        }
        if results.is_empty() {
            let misuse = Misuse::new(format!("`{}` and `{}` have no workload in common", sides[0], sides[1]));
            return Err(
                misuse.hint("name paths or levels to compare, with the same workload on both sides or none")
            );
        }
        Ok(Self { results })
    }
}

fn selected<'p>(plan: &'p Plan, words: &str) -> Result<Vec<&'p PlannedResult>, Misuse> {
    let words: Vec<&str> = words.split(',').collect();
    for word in &words {
        if !plan.results.iter().any(|result| words_of(result).contains(*word)) {
            let known: BTreeSet<String> = plan.results.iter().flat_map(words_of).collect();
            return Err(Misuse::new(format!("the scenario has no path, workload or level `{word}`"))
                .hint(format!("available: {}", listed(&known))));
        }
    }
    let fits = |result: &&PlannedResult| words.iter().all(|word| words_of(result).contains(*word));
    let results: Vec<&PlannedResult> = plan.results.iter().filter(fits).collect();
    if results.is_empty() {
        return Err(
            Misuse::new(format!("no result has all of `{}`", words.join(","))).hint("name fewer of them")
        );
    }
    Ok(results)
}

fn words_of(result: &PlannedResult) -> BTreeSet<String> {
    let levels = result.levels.iter().map(|(factor, level)| format!("{factor}={level}"));
    levels.chain([result.path.to_string(), result.workload.to_string()]).collect()
}

fn only(results: &[PlannedResult], words: &str) -> Result<ResultId, Misuse> {
    let [result] = results else {
        let shared =
            results.iter().map(words_of).reduce(|all, its| all.intersection(&its).cloned().collect());
        let shared = shared.unwrap_or_default();
        let others: BTreeSet<String> =
            results.iter().flat_map(words_of).filter(|word| !shared.contains(word)).collect();
        let message =
            format!("`{words}` selects {} results of the workload {}", results.len(), results[0].workload);
        return Err(Misuse::new(message).hint(format!("add one of {}", listed(&others))));
    };
    Ok(result.id.clone())
}

fn listed(words: &BTreeSet<String>) -> String {
    words.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn select(name: &str, sides: [&str; 2]) -> Result<Vec<(String, bool)>, String> {
        let text = builtin(name);
        let scenario = Scenario::parse(name, text).expect("parses");
        let selection = Selection::of(&scenario, sides).map_err(|misuse| format!("{misuse:?}"))?;
        Ok(selection.results.into_iter().map(|(id, baseline)| (id.to_string(), baseline)).collect())
    }

    fn builtin(name: &str) -> &'static str {
        ::scenario::builtin::find(name).expect("built in").text
    }

    #[test]
    fn pairs_results_of_each_workload() {
        let pairs = select("quick", ["pod-to-pod", "pod-to-egress"]).expect("two workloads");
        assert_eq!(
            pairs,
            [
                ("pod-to-egress/latency".into(), false),
                ("pod-to-egress/throughput".into(), false),
                ("pod-to-pod/latency".into(), true),
                ("pod-to-pod/throughput".into(), true),
            ]
        );
        let pairs = select("quick", ["node-to-node", "latency,pod-to-pod"]).expect("one workload");
        assert_eq!(pairs, [("node-to-node/latency".into(), true), ("pod-to-pod/latency".into(), false)]);
        let levels =
            select("bridge-streams", ["streams=1,mtu=1500", "streams=4,mtu=1500"]).expect("two levels");
        assert_eq!(levels.iter().map(|(_, baseline)| *baseline).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn explains_ambiguous_and_unknown_settings() {
        for (name, sides, expected) in [
            ("quick", ["throughput", "node-to-node"], "selects 5 results of the workload throughput"),
            ("quick", ["node-to-node", "vxlan"], "no path, workload or level `vxlan`"),
            ("quick", ["node-to-node,throughput", "pod-to-pod,latency"], "no workload in common"),
            ("quick", ["node-to-node,pod-to-pod", "pod-to-pod"], "no result has all of"),
            ("quick", ["node-to-node", "node-to-node,latency"], "both sides select"),
        ] {
            let error = select(name, sides).expect_err(expected);
            assert!(error.contains(expected), "{sides:?}: {error}");
        }
        let error = select("quick", ["throughput", "node-to-node"]).expect_err("ambiguous");
        assert!(error.contains("add one of node-to-node, pod-to-egress"), "{error}");
    }
}
