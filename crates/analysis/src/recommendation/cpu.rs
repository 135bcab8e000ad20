//! Total CPU time of settings. Only owners with data for every setting count.

use findings::{ConsumerCost, ConsumerUnit};
use samples::Trial;

use crate::{
    cpu_attribution::{self, MACHINE},
    observations::Observations,
};

pub(super) struct Cpu {
    pub(super) total: f64,
    pub(super) consumers: Vec<ConsumerCost>,
    pub(super) trials: Vec<f64>,
}

/// Returns the owners that have data in the same unit for every result, and this unit. Returns only the machine if it
/// is one of them, because its time includes the threads.
pub(super) fn consumers(results: &[&Observations<'_>]) -> (Vec<String>, Option<ConsumerUnit>) {
    let all: Vec<Vec<ConsumerCost>> = results.iter().map(|result| cpu_attribution::costs(result)).collect();
    let Some(first) = all.first().and_then(|costs| costs.last().or(costs.first())) else {
        return Default::default();
    };
    let everywhere = |cost: &&ConsumerCost| {
        cost.unit == first.unit
            && all
                .iter()
                .all(|costs| costs.iter().any(|it| it.consumer == cost.consumer && it.unit == cost.unit))
    };
    let mut names: Vec<String> = all[0].iter().filter(everywhere).map(|cost| cost.consumer.clone()).collect();
    if names.iter().any(|name| name == MACHINE) {
        names = vec![MACHINE.to_owned()];
    }
    let unit = (!names.is_empty()).then_some(first.unit);
    (names, unit)
}

pub(super) fn of(result: &Observations<'_>, names: &[String]) -> Option<Cpu> {
    let consumers: Vec<ConsumerCost> =
        cpu_attribution::costs(result).into_iter().filter(|cost| names.contains(&cost.consumer)).collect();
    let total: f64 = consumers.iter().map(|cost| cost.value).sum();
    let trials = result.trials().filter_map(|trial| of_trial(trial, names)).collect();
    (total > 0.0 && total.is_finite()).then_some(Cpu { total, consumers, trials })
}

fn of_trial(trial: &Trial, names: &[String]) -> Option<f64> {
    let costs = cpu_attribution::of_trial(trial);
    let of = |name: &String| costs.iter().find(|cost| cost.consumer == *name).map(|cost| cost.value);
    let total: f64 = names.iter().map(of).sum::<Option<f64>>()?;
    (total > 0.0).then_some(total)
}
