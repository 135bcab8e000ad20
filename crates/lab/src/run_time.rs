//! Estimates the duration of a run, including the time to boot guests.

use std::collections::{BTreeSet, HashSet};

use scenario::{HostName, PathName, Plan, Scenario};
use units::Nanos;

use crate::design::forecast;

/// The boot time per guest when several boot at once on two CPUs, relative to a single boot.
const CONCURRENT_BOOT: f64 = 0.65;

/// Returns the approximate maximum duration. `boot` is the boot time of one guest. If `inside` is set, a
/// virtual hypervisor boots first.
#[must_use]
pub fn run_time(scenario: &Scenario, plan: &Plan, boot: Nanos, inside: bool) -> Nanos {
    let trials = forecast(plan).map_or_else(|| plan.duration_estimate(), |forecast| forecast.most);
    let boots = guests(scenario, plan) as f64 * CONCURRENT_BOOT + f64::from(u8::from(inside));
    trials + Nanos((boot.0 as f64 * boots) as u64)
}

#[must_use]
pub fn guests(scenario: &Scenario, plan: &Plan) -> usize {
    let paths: HashSet<&PathName> = plan.results.iter().map(|result| &result.path).collect();
    let planned = scenario.paths.iter().filter(|path| paths.contains(&path.name));
    let ends: BTreeSet<&HostName> = planned.flat_map(|path| [&path.from.host, &path.to.host]).collect();
    ends.into_iter().filter(|host| scenario.lab.vm(host).is_some()).count()
}

#[cfg(test)]
mod tests {
    use scenario::{PlanOptions, builtin};

    use super::*;

    #[test]
    fn includes_boots_of_guests_on_planned_paths() {
        let takes = |name: &str, options: &PlanOptions, boot, inside| {
            let text = builtin::find(name).expect("built in").text;
            let scenario = Scenario::parse(name, text).expect("it parses");
            let plan = Plan::expand(&scenario, 0, options);
            let takes = |boot, inside| run_time(&scenario, &plan, Nanos::from_secs(boot), inside);
            takes(boot, inside) - takes(0, false)
        };
        let all = PlanOptions::default();
        assert_eq!(takes("quick", &all, 100, false), Nanos(0));
        assert_eq!(takes("quick", &all, 100, true), Nanos::from_secs(100));
        let guests = takes("vhost", &all, 100, false).seconds() / 65.0;
        assert!(guests >= 2.0 && (guests - guests.round()).abs() < 1e-6, "{guests}");
    }
}
