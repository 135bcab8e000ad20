//! Selects results to measure simultaneously. Their paths connect existing hosts and share neither a machine
//! nor an uplink.

use std::collections::BTreeMap;

use crate::{
    existing_host::ExistingHost, names::HostName, path::Path, plan::PlannedResult, scenario::Scenario,
};

pub(crate) fn rounds(scenario: &Scenario, results: &[PlannedResult]) -> Vec<Vec<usize>> {
    if !scenario.schedule.at_once {
        return Vec::new();
    }
    let resources = resources(scenario);
    let ways: BTreeMap<&str, [&str; 2]> =
        scenario.paths.iter().filter_map(|path| resource_path(&resources, path)).collect();
    let mut same_load: BTreeMap<_, Vec<(usize, [&str; 2])>> = BTreeMap::new();
    for (place, result) in results.iter().enumerate() {
        if let Some(way) = ways.get(result.path.as_str()) {
            same_load.entry((&result.workload, &result.levels)).or_default().push((place, *way));
        }
    }
    same_load.into_values().flat_map(|results| rounds_of(&results)).collect()
}

fn resources(scenario: &Scenario) -> BTreeMap<&HostName, &str> {
    let lab = &scenario.lab;
    let of = |host: &HostName| Some(lab.existing(lab.seat(host)?)?.resource());
    lab.hosts.iter().filter_map(|host| Some((&host.name, of(&host.name)?))).collect()
}

fn resource_path<'s>(
    resources: &BTreeMap<&HostName, &'s str>,
    path: &'s Path,
) -> Option<(&'s str, [&'s str; 2])> {
    let of = |host: &HostName| resources.get(host).copied();
    (!path.is_host()).then_some((path.name.as_str(), [of(&path.from.host)?, of(&path.to.host)?]))
}

fn rounds_of(results: &[(usize, [&str; 2])]) -> Vec<Vec<usize>> {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut number = |resource| {
        let next = numbers.len();
        *numbers.entry(resource).or_insert(next)
    };
    let ways: Vec<[usize; 2]> = results.iter().map(|(_, way)| way.map(&mut number)).collect();
    let rounds = crate::rounds::rounds(&ways).into_iter();
    rounds.map(|round| round.into_iter().map(|place| results[place].0).collect()).collect()
}

impl ExistingHost {
    fn resource(&self) -> &str {
        self.uplink.as_deref().unwrap_or_else(|| self.access.machine())
    }
}
