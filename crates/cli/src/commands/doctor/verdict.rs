//! Decides which results of a scenario can be measured with the available features.

use std::collections::BTreeSet;

use ::workload::{Placement, Transport};
use scenario::{DeviceSettingKind, Layer, Link, Path, Plan, PlannedResult, Scenario};
use serde::Serialize;
use units::Nanos;

use super::{
    check::{Check, Status},
    guests,
};

const RIGHTS: &str = "rights";

const KVM: &str = "kvm";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Verdict {
    pub(super) name: String,
    pub(super) results: usize,
    pub(super) measurable: usize,
    /// Failed checks that prevent measurements.
    pub(super) missing: BTreeSet<&'static str>,
    pub(super) lost_paths: BTreeSet<String>,
    /// Whether virtual machines would be emulated. If so, times and rates have no meaning.
    pub(super) emulated: bool,
    /// Whether the scenario needs a virtual hypervisor for features that this machine lacks.
    pub(super) in_hypervisor: bool,
    /// Estimated maximum duration. `None` if the scenario needs guests that cannot boot.
    pub(super) duration: Option<Nanos>,
    pub(super) trials_duration: Nanos,
}

impl Verdict {
    /// `inside` means that the scenario runs in a virtual hypervisor.
    pub(super) fn of(
        scenario: &Scenario,
        plan: &Plan,
        checks: &[Check],
        boot: Option<Nanos>,
        inside: bool,
    ) -> Self {
        let results = &plan.results;
        let works = |id: &str| checks.iter().any(|check| check.id == id && check.status != Status::Missing);
        let has_guests = scenario.lab.hosts.iter().any(|host| host.vm.is_some());
        let emulated =
            has_guests && !checks.iter().any(|check| check.id == KVM && check.status == Status::Works);
        let needs_modules = |link: &&Link| !link.modules().is_empty();
        let provided = scenario.lab.links.iter().filter(needs_modules).flat_map(topology::needs);
        let boot = if has_guests || inside { boot } else { Some(Nanos(0)) };
        let mut verdict = Self {
            name: scenario.name.clone(),
            results: results.len(),
            measurable: 0,
            missing: BTreeSet::new(),
            lost_paths: scenario.paths.iter().map(|path| path.name.to_string()).collect(),
            emulated: emulated || inside,
            in_hypervisor: inside,
            duration: boot.map(|boot| ::lab::run_time(scenario, plan, boot, inside)),
            trials_duration: ::lab::run_time(scenario, plan, Nanos(0), false),
        };
        for result in results {
            let mut needs = needs(scenario, result);
            if inside {
                provided.clone().for_each(|id| _ = needs.remove(id));
                needs.insert(guests::BOOT);
            }
            let mut lacking: Vec<_> = needs.into_iter().filter(|id| !works(id)).collect();
            // Without privileges, other checks fail too.
            if lacking.contains(&RIGHTS) {
                lacking = vec![RIGHTS];
            }
            if lacking.is_empty() {
                verdict.measurable += 1;
                verdict.lost_paths.remove(&result.path.to_string());
            }
            verdict.missing.extend(lacking);
        }
        verdict
    }

    pub(super) fn is_measurable(&self) -> bool {
        self.measurable == self.results
    }
}

fn needs(scenario: &Scenario, result: &PlannedResult) -> BTreeSet<&'static str> {
    let mut needs = BTreeSet::from([RIGHTS, "namespaces"]);
    if let Some(path) = scenario.paths.iter().find(|path| path.name == result.path) {
        if path.layers.contains(&Layer::Gateway) {
            needs.extend(topology::GATEWAY_NEEDS);
        }
        needs.extend(path_needs(scenario, result, path));
    }
    // If a workload runs on a single host, its path has that host's name.
    if scenario.lab.hosts.iter().any(|host| host.name.as_str() == result.path.as_str() && host.vm.is_some()) {
        needs.extend(guests::NEEDS);
    }
    if result.placement == Placement::CrossCpu {
        needs.insert("cpus");
    }
    let socket = result.load.kind().socket();
    if result.load.kind().transport() == Some(Transport::Tcp)
        && socket.is_some_and(|socket| socket.congestion.as_deref() == Some("cubic"))
    {
        needs.insert("cubic");
    }
    needs
}

fn path_needs(scenario: &Scenario, result: &PlannedResult, path: &Path) -> BTreeSet<&'static str> {
    let mut needs = BTreeSet::new();
    for device in path.devices.iter().filter(|at| !scenario.lab.is_remote(&at.host)) {
        if scenario.lab.host(&device.host).is_some_and(|host| host.forwards) {
            needs.insert("forwarding");
        }
        // Skip devices of guests, because their features depend on the guest's kernel.
        let settings = result.devices.get(device).filter(|_| scenario.lab.vm(&device.host).is_none());
        if let Some(settings) = settings {
            let set = DeviceSettingKind::ALL.into_iter().filter(|kind| kind.is_in(settings));
            needs.extend(set.filter_map(topology::setting_needs));
        }
        if scenario.lab.vm(&device.host).is_some() {
            needs.extend(guests::NEEDS);
        }
    }
    let passes = |link: &&Link| link.devices().iter().any(|device| path.devices.contains(device.at));
    needs.extend(scenario.lab.outside().links.iter().filter(passes).flat_map(topology::needs));
    needs
}

#[cfg(test)]
mod tests {
    use scenario::{PlanOptions, builtin};

    use super::super::check::Group;
    use super::*;

    fn check(id: &'static str, status: Status) -> Check {
        let (detail, needed_for) = (String::new(), "");
        Check { group: Group::Paths, id, title: id, status, detail, needed_for, remedy: None, required: true }
    }

    const ALL: [&str; 22] = [
        "rights",
        "namespaces",
        "veth",
        "bridge",
        "ovs",
        "vxlan",
        "geneve",
        "gre",
        "wireguard",
        "esp",
        "policy-routing",
        "nftables-snat",
        "forwarding",
        "offloads",
        "queues",
        "cpus",
        "cubic",
        "rate-limit",
        "tap",
        "qemu",
        "guest-kernel",
        "guest-boot",
    ];

    fn judged(name: &str, status_of: impl Fn(&str) -> Status) -> Verdict {
        let scenario = Scenario::parse(name, builtin::find(name).expect("built in").text).expect("parses");
        let plan = Plan::expand(&scenario, 0, &PlanOptions::default());
        let checks: Vec<_> = ALL.iter().map(|&id| check(id, status_of(id))).collect();
        let inside = ["wireguard", "ovs"].map(status_of).contains(&Status::Missing)
            && ["tunnels", "ovs-or-bridge"].contains(&name);
        Verdict::of(&scenario, &plan, &checks, None, inside)
    }

    fn without(name: &str, missing: &str) -> Verdict {
        judged(name, |id| if id == missing { Status::Missing } else { Status::Works })
    }

    #[test]
    fn every_builtin_runs_in_full_if_all_checks_pass() {
        for builtin in builtin::all() {
            for status in [Status::Works, Status::Limited] {
                let verdict = judged(builtin.name, |_| status);
                assert!(verdict.is_measurable() && verdict.results > 0, "{verdict:?}");
                assert!(verdict.missing.is_empty() && verdict.lost_paths.is_empty(), "{verdict:?}");
            }
        }
    }

    #[test]
    fn nothing_runs_without_privileges() {
        for builtin in builtin::all() {
            let verdict = judged(builtin.name, |_| Status::Missing);
            assert_eq!(verdict.measurable, 0, "{verdict:?}");
            assert_eq!(verdict.missing, BTreeSet::from(["rights"]), "the cause, not what follows from it");
        }
    }

    #[test]
    fn missing_feature_excludes_only_dependent_results() {
        for (name, missing, measurable) in [
            ("quick", "vxlan", "some"),
            ("quick", "bridge", "some"),
            ("egress-gateway", "nftables-snat", "some"),
            ("bridge-streams", "vxlan", "all"),
            ("bridge-queues", "bridge", "none"),
            ("bridge-streams", "bridge", "none"),
            ("bridge-streams", "nftables-snat", "all"),
            ("quick", "veth", "none"),
            ("bridge-multiqueue", "tap", "none"),
            ("balloon", "qemu", "none"),
            ("balloon", "guest-kernel", "none"),
            ("bridge-queues", "tap", "all"),
            ("bridge-queues", "queues", "none"),
            ("bridge-multiqueue", "queues", "all"),
            // A virtual hypervisor has the missing feature.
            ("tunnels", "wireguard", "all"),
            ("ovs-or-bridge", "ovs", "all"),
        ] {
            let verdict = without(name, missing);
            let found = match verdict.measurable {
                0 => "none",
                measurable if measurable == verdict.results => "all",
                _ => "some",
            };
            assert_eq!(found, measurable, "{verdict:?}");
            assert_eq!(verdict.missing.contains(missing), measurable != "all", "{verdict:?}");
        }
    }

    #[test]
    fn every_builtin_requirement_has_a_required_check() {
        let existing: Vec<Check> = super::super::checks(&Ok::<_, String>(machine::Rights::Root));
        for builtin in builtin::all() {
            let scenario = Scenario::parse(builtin.name, builtin.text).expect("parses");
            for result in Plan::expand(&scenario, 0, &PlanOptions::default()).results {
                // Skip the boot check, because it takes seconds.
                for need in needs(&scenario, &result).into_iter().filter(|need| *need != guests::BOOT) {
                    let is_enough = |check: &Check| check.required || check.group == Group::VirtualMachines;
                    assert!(existing.iter().any(|check| check.id == need && is_enough(check)), "{need}");
                }
            }
        }
    }
}
