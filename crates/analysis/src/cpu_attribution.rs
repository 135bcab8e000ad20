//! CPU time of a result by owner: the traffic threads, the machine, or owners that another tool reported.

use findings::{ConsumerCost, ConsumerUnit};
use samples::{CpuUsage, Trial};
use stats::describe;

use crate::{cpu, kind, observations::Observations};

/// The machine that both ends run on. Its CPU time includes that of all other owners.
pub(crate) const MACHINE: &str = "machine";

const ENDS: [(&str, &str); 2] = [("client", "client threads"), ("server", "server threads")];

pub(crate) fn costs(result: &Observations<'_>) -> Vec<ConsumerCost> {
    let trials: Vec<Vec<ConsumerCost>> = result.trials().map(of_trial).collect();
    let mut costs: Vec<ConsumerCost> = Vec::new();
    for cost in trials.iter().flatten() {
        if costs.iter().any(|known| known.consumer == cost.consumer) {
            continue;
        }
        let same = |other: &&ConsumerCost| other.consumer == cost.consumer && other.unit == cost.unit;
        let values: Vec<f64> = trials.iter().flatten().filter(same).map(|cost| cost.value).collect();
        costs.extend(describe::median(&values).map(|value| ConsumerCost { value, ..cost.clone() }));
    }
    costs
}

pub(crate) fn of_trial(trial: &Trial) -> Vec<ConsumerCost> {
    kind::of(&trial.measurement).consumers(&trial.cpu)
}

pub(crate) fn measured(usage: &CpuUsage) -> Vec<ConsumerCost> {
    let cpus = |consumer: &str, value| ConsumerCost {
        consumer: consumer.to_owned(),
        value,
        unit: ConsumerUnit::Cpus,
    };
    let known = |end: &str| usage.threads.iter().any(|thread| thread.end == end && thread.elapsed.0 > 0);
    let ends = ENDS.iter().filter(|(end, _)| known(end));
    let mut costs: Vec<ConsumerCost> =
        ends.map(|(end, consumer)| cpus(consumer, cpu::threads(usage, end))).collect();
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

    fn listed(run: &Fixture) -> Vec<(String, f64, ConsumerUnit)> {
        let costs = costs(&gather(&run.record)[0]);
        costs.into_iter().map(|cost| (cost.consumer, cost.value, cost.unit)).collect()
    }

    #[test]
    fn measured_result_has_threads_and_machine() {
        let mut run = Fixture::new(3);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        let cpus = |consumer: &str, value| (consumer.to_owned(), value, ConsumerUnit::Cpus);
        assert_eq!(
            listed(&run),
            [cpus("client threads", 0.5), cpus("server threads", 0.5), cpus("machine", 1.2)]
        );
        run.each("plain/bulk", |trial| trial.cpu = CpuUsage::default());
        assert_eq!(listed(&run), []);
    }

    #[test]
    fn only_cpu_columns_become_owners() {
        let mut run = Fixture::new(1);
        let columns = [
            ("Bandwidth", Quantity::BitRate, 12.7e9),
            ("Server VM CPU", Quantity::Share, 0.01),
            ("CPU Proxmox", Quantity::Share, 0.03),
            ("Loss", Quantity::Share, 0.5),
        ];
        run.path("bridge", &[]).imported("bridge", "table", &[], reported_of(&columns));
        let share = |consumer: &str, value| (consumer.to_owned(), value, ConsumerUnit::Share);
        assert_eq!(listed(&run), [share("Server VM", 0.01), share("Proxmox", 0.03)]);
    }
}
