//! Which cells of a plan are compared with which: what its layers cost and what its factors change. Must not know numbers.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{link::Layer, names::PathName, path::Path, plan::Cell};

/// A cell and what it is compared with, by their places in [`crate::Plan::cells`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Step {
    pub cell: usize,
    pub reference: usize,
}

/// Every step: a level of a factor against its first one, all else equal; a path against the largest one within it, as far as
/// both have the same factors at the same levels; and what is in neither, against the baseline of its workload.
pub(crate) fn steps(cells: &[Cell], paths: &[Path]) -> Vec<Step> {
    let layers: BTreeMap<&PathName, BTreeSet<Layer>> =
        paths.iter().map(|path| (&path.name, path.layers.iter().copied().collect())).collect();
    let mut steps = BTreeSet::new();
    for (place, cell) in cells.iter().enumerate() {
        steps.extend(first_levels(cells, cell).map(|reference| Step { cell: place, reference }));
        let own = &layers[&cell.path];
        let below = |other: &Cell| {
            let of_other = &layers[&other.path];
            let within = of_other.len() < own.len() && of_other.is_subset(own);
            (within && other.workload == cell.workload && agree(cell, other)).then_some(of_other.len())
        };
        // `max_by_key` keeps the last of equals: the path listed latest is the nearest relative.
        let nearest =
            cells.iter().filter_map(|other| Some((below(other)?, other))).max_by_key(|(size, _)| *size);
        let beneath = cells.iter().enumerate().filter(|(_, other)| {
            nearest.is_some_and(|(_, nearest)| nearest.path == other.path) && below(other).is_some()
        });
        steps.extend(beneath.map(|(reference, _)| Step { cell: place, reference }));
    }
    let beside: BTreeSet<usize> = steps.iter().map(|step: &Step| step.cell).collect();
    let alone = (0..cells.len()).filter(|place| !cells[*place].baseline && !beside.contains(place));
    let against_baseline: Vec<Step> = alone
        .filter_map(|cell| {
            let is_baseline = |other: &Cell| other.baseline && other.workload == cells[cell].workload;
            Some(Step { cell, reference: cells.iter().position(is_baseline)? })
        })
        .collect();
    steps.extend(against_baseline);
    steps.into_iter().collect()
}

/// The same cell with one factor at its first level, for each factor that is at another.
fn first_levels<'a>(cells: &'a [Cell], cell: &'a Cell) -> impl Iterator<Item = usize> + 'a {
    cell.levels.keys().filter_map(move |factor| {
        let mut alike = cells.iter().enumerate().filter(|(_, other)| {
            (&other.path, &other.workload) == (&cell.path, &cell.workload)
                && other.levels.len() == cell.levels.len()
                && other
                    .levels
                    .iter()
                    .all(|(name, level)| name == factor || cell.levels.get(name) == Some(level))
        });
        // Cells are in the order of the document, so the first has the first level.
        let (place, first) = alike.next()?;
        (first.levels.get(factor) != cell.levels.get(factor)).then_some(place)
    })
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
