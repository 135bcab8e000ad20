//! CPU placement of a workload's threads.

use workload::{Placement, WorkloadSettings};

use crate::{
    diagnosis::Problem,
    document::{PlacementValue, WorkloadTable},
};

pub(super) fn placement(
    table: &WorkloadTable,
    load: &WorkloadSettings,
    problems: &mut Vec<Problem>,
) -> Placement {
    let Some(written) = &table.placement else { return Placement::Free };
    let placement = match written.get_ref() {
        PlacementValue::Free => Placement::Free,
        PlacementValue::SameCpu => Placement::SameCpu,
        PlacementValue::CrossCpu => Placement::CrossCpu,
        PlacementValue::Cpus(cpus) => {
            Placement::Cpus { client: cpus.client.clone(), server: cpus.server.clone() }
        }
    };
    if let Placement::Cpus { client, server } = &placement
        && (client.is_empty() || server.is_empty())
    {
        let problem = Problem::new(written.span(), "a list of CPUs is empty", "no CPU to run on");
        problems
            .push(problem.help("list at least one CPU for each end, e.g. `{ client = [0], server = [1] }`"));
    }
    if load.kind().spins() && share_a_cpu(&placement) {
        let message = "both ends spin and cannot share a CPU: each would wait for the other's time slice";
        let problem = Problem::new(written.span(), message, "one CPU for both");
        problems.push(problem.help("write `placement = \"cross-cpu\"`, or `waiting = \"block\"`"));
    }
    placement
}

fn share_a_cpu(placement: &Placement) -> bool {
    match placement {
        Placement::SameCpu => true,
        Placement::Cpus { client, server } => client.first().is_some_and(|cpu| server.first() == Some(cpu)),
        Placement::Free | Placement::CrossCpu => false,
    }
}
