//! Finds workloads that the scheduler may migrate between CPUs.

use workload::Placement;

use crate::{
    names::{PathName, WorkloadName},
    plan::{Plan, PlannedResult},
    scenario::Scenario,
};

/// Without pinning, results are often bimodal: some trials run on one CPU, others on two.
#[must_use]
pub fn unpinned_workloads<'a>(scenario: &Scenario, plan: &'a Plan) -> Vec<&'a WorkloadName> {
    let path = |name: &PathName| scenario.paths.iter().find(|path| path.name == *name);
    let mut unpinned: Vec<&WorkloadName> = Vec::new();
    for name in plan.results.iter().map(|result| &result.workload) {
        let is_unpinned = |result: &PlannedResult| {
            result.placement == Placement::Free
                && result.load.kind().threads() <= 1
                && path(&result.path).is_some_and(|path| {
                    !path.is_host()
                        && [&path.from, &path.to].iter().all(|end| !scenario.lab.has_own_kernel(&end.host))
                })
        };
        let mut own = plan.results.iter().filter(|result| result.workload == *name);
        if !unpinned.contains(&name) && own.all(is_unpinned) {
            unpinned.push(name);
        }
    }
    unpinned
}
