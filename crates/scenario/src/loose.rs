//! Workloads whose ends the scheduler may move. Must not know what they send.

use workload::{Placement, StreamSettings};

use crate::{
    names::{PathName, WorkloadName},
    plan::{Cell, Plan},
    scenario::Scenario,
};

/// The workloads of this machine's namespaces that are placed nowhere at any level: trials on one CPU and on two often make them
/// bimodal. Several streams at once are the scheduler's to spread.
#[must_use]
pub fn loose_workloads<'a>(scenario: &Scenario, plan: &'a Plan) -> Vec<&'a WorkloadName> {
    let path = |name: &PathName| scenario.paths.iter().find(|path| path.name == *name);
    let mut loose: Vec<&WorkloadName> = Vec::new();
    for name in plan.cells.iter().map(|cell| &cell.workload) {
        let is_loose = |cell: &Cell| {
            cell.placement == Placement::Free
                && StreamSettings::of(&cell.load).is_none_or(|stream| stream.streams == 1)
                && path(&cell.path).is_some_and(|path| {
                    !path.is_host()
                        && [&path.from, &path.to].iter().all(|end| !scenario.lab.has_own_kernel(&end.host))
                })
        };
        let mut own = plan.cells.iter().filter(|cell| cell.workload == *name);
        if !loose.contains(&name) && own.all(is_loose) {
            loose.push(name);
        }
    }
    loose
}
