//! Which cells of a plan are compared with which: what its layers cost and what its factors change. Must not know numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    link::Layer,
    names::{FactorName, PathName, WorkloadName},
    path::Path,
    plan::Cell,
};

/// A cell and what it is compared with, by their places in [`crate::Plan::cells`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub cell: usize,
    pub reference: usize,
}

/// The cells of a plan, by their places, under what they are looked up by: all pairs of a thousand hosts are a million.
struct Index<'c> {
    cells: &'c [Cell],
    layers: BTreeMap<&'c PathName, BTreeSet<Layer>>,
    of_path: BTreeMap<(&'c WorkloadName, &'c PathName), Vec<usize>>,
    of_layers: BTreeMap<&'c WorkloadName, BTreeMap<BTreeSet<Layer>, Vec<usize>>>,
    baselines: BTreeMap<&'c WorkloadName, usize>,
}

/// Every step: a level of a factor against its first one, all else equal; a path against the largest one within it, as far as
/// both have the same factors at the same levels; and what is in neither, against the baseline of its workload.
pub(crate) fn steps(cells: &[Cell], paths: &[Path]) -> Vec<Step> {
    let index = Index::of(cells, paths);
    let mut steps = Vec::new();
    for (place, cell) in cells.iter().enumerate() {
        let mut references = index.first_levels(cell);
        references.extend(index.beneath(cell));
        if references.is_empty() && !cell.baseline {
            references.extend(index.baselines.get(&cell.workload));
        }
        references.sort_unstable();
        references.dedup();
        steps.extend(references.into_iter().map(|reference| Step { cell: place, reference }));
    }
    steps
}

impl<'c> Index<'c> {
    fn of(cells: &'c [Cell], paths: &'c [Path]) -> Self {
        let layers: BTreeMap<&PathName, BTreeSet<Layer>> =
            paths.iter().map(|path| (&path.name, path.layers.iter().copied().collect())).collect();
        let (mut of_path, mut of_layers, mut baselines) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for (place, cell) in cells.iter().enumerate() {
            of_path.entry((&cell.workload, &cell.path)).or_insert_with(Vec::new).push(place);
            let of_workload: &mut BTreeMap<_, Vec<usize>> = of_layers.entry(&cell.workload).or_default();
            match of_workload.get_mut(&layers[&cell.path]) {
                Some(places) => places.push(place),
                None => drop(of_workload.insert(layers[&cell.path].clone(), vec![place])),
            }
            if cell.baseline {
                baselines.entry(&cell.workload).or_insert(place);
            }
        }
        Self { cells, layers, of_path, of_layers, baselines }
    }

    /// The cells of the largest path within this one's, as far as both have the same factors at the same levels.
    fn beneath(&self, cell: &Cell) -> Vec<usize> {
        let own = &self.layers[&cell.path];
        let within = self.of_layers[&cell.workload]
            .iter()
            .filter(|(layers, _)| layers.len() < own.len() && layers.is_subset(own));
        let last =
            |places: &[usize]| places.iter().copied().rev().find(|place| agree(cell, &self.cells[*place]));
        // Of paths with as many layers the one listed latest is the nearest relative.
        let nearest = within.filter_map(|(layers, places)| Some((layers.len(), last(places)?))).max();
        let Some((_, nearest)) = nearest else { return Vec::new() };
        let beside = self.of_path[&(&cell.workload, &self.cells[nearest].path)].iter().copied();
        beside.filter(|place| agree(cell, &self.cells[*place])).collect()
    }

    /// The same cell with one factor at its first level, for each factor that is at another.
    fn first_levels(&self, cell: &Cell) -> Vec<usize> {
        let beside = &self.of_path[&(&cell.workload, &cell.path)];
        let first = |factor: &FactorName| {
            let is_alike = |other: &Cell| {
                let is_equal = |(name, level)| name == factor || cell.levels.get(name) == Some(level);
                other.levels.len() == cell.levels.len() && other.levels.iter().all(is_equal)
            };
            // Cells are in the order of the document, so the first has the first level.
            let place = *beside.iter().find(|place| is_alike(&self.cells[**place]))?;
            (self.cells[place].levels.get(factor) != cell.levels.get(factor)).then_some(place)
        };
        cell.levels.keys().filter_map(first).collect()
    }
}

/// Whether the factors that both have are at the same levels.
fn agree(one: &Cell, other: &Cell) -> bool {
    one.levels.iter().all(|(factor, level)| other.levels.get(factor).is_none_or(|of_other| of_other == level))
}

#[cfg(test)]
mod tests {
    use crate::{Plan, PlanOptions, Scenario, builtin};

    #[test]
    fn layers_are_held_against_the_path_within_and_levels_against_the_first() {
        let text = builtin::find("quick").expect("it is shipped").text;
        let scenario = Scenario::parse("quick", text).expect("it is valid");
        let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
        let said: Vec<String> = plan
            .steps
            .iter()
            .map(|step| format!("{} < {}", plan.cells[step.cell].id, plan.cells[step.reference].id))
            .filter(|said| said.contains("/latency"))
            .collect();
        assert_eq!(
            said,
            [
                "pod-to-pod/latency < node-to-node/latency",
                "vxlan-to-vxlan/latency < node-to-node/latency",
                "pod-to-egress/latency < vxlan-to-vxlan/latency",
                "pod-to-target/latency < pod-to-egress/latency",
            ]
        );
    }
}
