//! The comparisons that show the costs of a plan's layers and the effects of its factors.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    link::Layer,
    names::{FactorName, PathName, WorkloadName},
    path::Path,
    plan::{PlannedResult, Step},
};

/// Speeds up lookups, because there may be a million results.
struct Index<'c> {
    results: &'c [PlannedResult],
    layers: BTreeMap<&'c PathName, BTreeSet<Layer>>,
    of_path: BTreeMap<(&'c WorkloadName, &'c PathName), Vec<usize>>,
    of_layers: BTreeMap<&'c WorkloadName, BTreeMap<BTreeSet<Layer>, Vec<usize>>>,
    baselines: BTreeMap<&'c WorkloadName, usize>,
}

/// Compares each level of a factor with the factor's first level, and each path with the largest path that it
/// contains, at equal levels of all other common factors. Any other result is compared with the baseline of
/// its workload.
pub(crate) fn steps(results: &[PlannedResult], paths: &[Path]) -> Vec<Step> {
    let index = Index::of(results, paths);
    let mut steps = Vec::new();
    for (place, result) in results.iter().enumerate() {
        let mut references = index.first_levels(result);
        references.extend(index.beneath(result));
        if references.is_empty() && !result.baseline {
            references.extend(index.baselines.get(&result.workload));
        }
        references.sort_unstable();
        references.dedup();
        steps.extend(references.into_iter().map(|reference| Step { result: place, reference }));
    }
    steps
}

impl<'c> Index<'c> {
    fn of(results: &'c [PlannedResult], paths: &'c [Path]) -> Self {
        let layers: BTreeMap<&PathName, BTreeSet<Layer>> =
            paths.iter().map(|path| (&path.name, path.layers.iter().copied().collect())).collect();
        let (mut of_path, mut of_layers, mut baselines) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (place, result) in results.iter().enumerate() {
            of_path.entry((&result.workload, &result.path)).or_insert_with(Vec::new).push(place);
            let of_workload: &mut BTreeMap<_, Vec<usize>> = of_layers.entry(&result.workload).or_default();
            match of_workload.get_mut(&layers[&result.path]) {
                Some(places) => places.push(place),
                None => drop(of_workload.insert(layers[&result.path].clone(), vec![place])),
            }
            if result.baseline {
                baselines.entry(&result.workload).or_insert(place);
            }
        }
        Self { results, layers, of_path, of_layers, baselines }
    }

    fn beneath(&self, result: &PlannedResult) -> Vec<usize> {
        let own = &self.layers[&result.path];
        let within = self.of_layers[&result.workload]
            .iter()
            .filter(|(layers, _)| layers.len() < own.len() && layers.is_subset(own));
        let last = |places: &[usize]| {
            places.iter().copied().rev().find(|place| agree(result, &self.results[*place]))
        };
        // Among paths with the same number of layers, the last one listed wins.
        let nearest = within.filter_map(|(layers, places)| Some((layers.len(), last(places)?))).max();
        let Some((_, nearest)) = nearest else { return Vec::new() };
        let same_path = self.of_path[&(&result.workload, &self.results[nearest].path)].iter().copied();
        same_path.filter(|place| agree(result, &self.results[*place])).collect()
    }

    fn first_levels(&self, result: &PlannedResult) -> Vec<usize> {
        let same_path = &self.of_path[&(&result.workload, &result.path)];
        let first = |factor: &FactorName| {
            let is_reference = |other: &PlannedResult| {
                let is_equal = |(name, level)| name == factor || result.levels.get(name) == Some(level);
                other.levels.len() == result.levels.len() && other.levels.iter().all(is_equal)
            };
            // Results are in document order, so the first match has the factor's first level.
            let place = *same_path.iter().find(|place| is_reference(&self.results[**place]))?;
            (self.results[place].levels.get(factor) != result.levels.get(factor)).then_some(place)
        };
        result.levels.keys().filter_map(first).collect()
    }
}

fn agree(one: &PlannedResult, other: &PlannedResult) -> bool {
    one.levels.iter().all(|(factor, level)| other.levels.get(factor).is_none_or(|theirs| theirs == level))
}

#[cfg(test)]
mod tests {
    use crate::{Plan, PlanOptions, Scenario, builtin};

    #[test]
    fn compares_layers_with_contained_path_and_levels_with_first() {
        let text = builtin::find("quick").expect("quick is built in").text;
        let scenario = Scenario::parse("quick", text).expect("quick is valid");
        let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
        let comparisons: Vec<String> = plan
            .steps
            .iter()
            .map(|step| format!("{} < {}", plan.results[step.result].id, plan.results[step.reference].id))
            .filter(|step| step.contains("/latency"))
            .collect();
        assert_eq!(
            comparisons,
            [
                "pod-to-pod/latency < node-to-node/latency",
                "vxlan-to-vxlan/latency < node-to-node/latency",
                "pod-to-egress/latency < vxlan-to-vxlan/latency",
                "pod-to-target/latency < pod-to-egress/latency",
            ]
        );
    }
}
