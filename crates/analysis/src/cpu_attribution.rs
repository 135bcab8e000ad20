//! CPU time of a result by owner: traffic threads, machine, or owners reported by another tool.

use findings::{OwnerCost, OwnerUnit};
use samples::{CpuUsage, Trial};
use stats::describe;

use crate::{cpu, kind, observations::Observations};

/// The owner that every other one's time is a part of: the machine that both ends are on.
pub(crate) const MACHINE: &str = "machine";

/// Thread groups by end.
const ENDS: [(&str, &str); 2] = [("client", "client threads"), ("server", "server threads")];

/// CPU time by owner, median over the trials that have it; empty if not recorded.
pub(crate) fn costs(cell: &Observations<'_>) -> Vec<OwnerCost> {
    let trials: Vec<Vec<OwnerCost>> = cell.trials().map(of_trial).collect();
    let mut costs: Vec<OwnerCost> = Vec::new();
    for cost in trials.iter().flatten() {
        if costs.iter().any(|known| known.owner == cost.owner) {
            continue;
        }
        let same = |other: &&OwnerCost| other.owner == cost.owner && other.unit == cost.unit;
        let values: Vec<f64> = trials.iter().flatten().filter(same).map(|cost| cost.value).collect();
        costs.extend(describe::median(&values).map(|value| OwnerCost { value, ..cost.clone() }));
    }
    costs
}

/// CPU time by owner in a trial.
pub(crate) fn of_trial(trial: &Trial) -> Vec<OwnerCost> {
    kind::of(&trial.measurement).owners(&trial.cpu)
}

/// CPU time of the traffic threads and the machine.
pub(crate) fn measured(usage: &CpuUsage) -> Vec<OwnerCost> {
    let cpus = |owner: &str, value| OwnerCost { owner: owner.to_owned(), value, unit: OwnerUnit::Cpus };
    let known = |end: &str| usage.threads.iter().any(|thread| thread.end == end && thread.elapsed.0 > 0);
    let ends = ENDS.iter().filter(|(end, _)| known(end));
    let mut costs: Vec<OwnerCost> = ends.map(|(end, owner)| cpus(owner, cpu::threads(usage, end))).collect();
    costs.extend(usage.own_cpus().map(|busy| cpus(MACHINE, busy)));
    costs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixtures::{Fixture, reported_of},
        observations::gather,
    };
    use workload::Quantity;

    fn said(run: &Fixture) -> Vec<(String, f64, OwnerUnit)> {
        let costs = costs(&gather(&run.record)[0]);
        costs.into_iter().map(|cost| (cost.owner, cost.value, cost.unit)).collect()
    }

    #[test]
    fn a_measured_cell_knows_its_threads_and_its_machine() {
        let mut run = Fixture::new(3);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        let cpus = |owner: &str, value| (owner.to_owned(), value, OwnerUnit::Cpus);
        assert_eq!(
            said(&run),
            [cpus("client threads", 0.5), cpus("server threads", 0.5), cpus("machine", 1.2)]
        );
        run.each("plain/bulk", |trial| trial.cpu = CpuUsage::default());
        assert_eq!(said(&run), []);
    }

    #[test]
    fn the_cpu_columns_of_a_table_are_owners_and_other_shares_are_not() {
        let mut run = Fixture::new(1);
        let columns = [
            ("Bandwidth", Quantity::BitRate, 12.7e9),
            ("Server VM CPU", Quantity::Share, 0.01),
            ("CPU Proxmox", Quantity::Share, 0.03),
            ("Loss", Quantity::Share, 0.5),
        ];
        run.path("bridge", &[]).told("bridge", "table", &[], reported_of(&columns));
        let share = |owner: &str, value| (owner.to_owned(), value, OwnerUnit::Share);
        assert_eq!(said(&run), [share("Server VM", 0.01), share("Proxmox", 0.03)]);
    }
}
