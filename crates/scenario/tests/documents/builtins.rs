//! Tests the built-in scenarios.

use samples::Arm;
use scenario::{
    Family, HostKind, Lab, Layer, Link, Plan, PlanOptions, PlannedResult, Scenario, builtin, variant,
};
use workload::WorkloadSettings;

const SEED: u64 = 7;

fn builtin(name: &str) -> Scenario {
    let builtin = builtin::find(name).expect("built in");
    Scenario::parse(builtin.name, builtin.text).unwrap_or_else(|diagnosis| {
        panic!("{name}: {:#?}", diagnosis.problems().collect::<Vec<_>>());
    })
}

fn plan(name: &str) -> Plan {
    Plan::expand(&builtin(name), SEED, &PlanOptions::default())
}

#[test]
fn stored_design_gives_the_same_plan() {
    for name in ["quick", "bridge-queues"] {
        let plan = plan(name);
        let blocks = plan.trials.last().map(|trial| trial.block + 1);
        let stored = PlanOptions { trials: blocks, stored: Some(plan.design), ..PlanOptions::default() };
        assert_eq!(Plan::expand(&builtin(name), SEED, &stored), plan, "{name}");
    }
}

#[test]
fn parses_and_plans_each_builtin() {
    for builtin_scenario in builtin::all() {
        let plan = plan(builtin_scenario.name);
        assert!(!plan.trials.is_empty(), "{}", builtin_scenario.name);
    }
}

#[test]
fn agents_read_the_lab_of_each_builtin() {
    for known in builtin::all() {
        let lab = builtin(known.name).lab;
        let message = serde_json::to_string(&lab).expect("a lab is JSON");
        let read: Lab =
            serde_json::from_str(&message).unwrap_or_else(|error| panic!("{}: {error}", known.name));
        assert_eq!(read, lab, "{}", known.name);
    }
}

#[test]
fn builtins_can_be_measured_in_each_family() {
    for name in ["quick", "proxmox-vxlan", "egress-gateway", "bridge-streams"] {
        let original = plan(name);
        let text = builtin::find(name).expect("built in").text;
        for families in [&[Family::Ipv6][..], &[Family::Ipv4, Family::Ipv6]] {
            let text = variant::with_families(text, families).expect("valid");
            let scenario = Scenario::parse(name, &text).unwrap_or_else(|diagnosis| {
                panic!("{name}: {:#?}", diagnosis.problems().collect::<Vec<_>>());
            });
            let plan = Plan::expand(&scenario, SEED, &PlanOptions::default());
            assert_eq!(plan.results.len(), original.results.len() * families.len(), "{name}");
            assert!(scenario.paths.iter().all(|path| Family::of(path.to.address) == families[0]), "{name}");
            let baseline = plan.results.iter().find(|result| result.baseline).expect("a baseline");
            assert_eq!(baseline.family, (families.len() > 1).then_some(Family::Ipv4), "{name}");
        }
    }
}

#[test]
fn builtins_have_documented_duration() {
    for (name, least, most) in [
        ("quick", 30.0, 80.0),
        ("engine-limits", 20.0, 80.0),
        ("proxmox-vxlan", 30.0, 190.0),
        ("tunnels", 60.0, 130.0),
        ("ovs-or-bridge", 40.0, 120.0),
        ("egress-gateway", 120.0, 310.0),
        ("bridge-streams", 60.0, 190.0),
        ("balloon", 60.0, 250.0),
        ("vhost", 40.0, 100.0),
        ("four-configurations", 40.0, 130.0),
    ] {
        let plan = plan(name);
        let all = plan.duration_estimate();
        let seconds = plan.design.budget.map_or(all, |budget| budget.min(all)).seconds();
        assert!((least..most).contains(&seconds), "{name}: {seconds} s");
    }
    for name in ["bridge-queues", "bridge-multiqueue"] {
        let budget = plan(name).design.budget.expect("the scenario has a budget");
        assert!((60.0..120.0).contains(&budget.seconds()), "{name}: {budget}");
    }
}

#[test]
fn multiplies_streams_by_queues_and_labels_cap() {
    let (scenario, plan) = (builtin("bridge-queues"), plan("bridge-queues"));
    let actual: Vec<String> = plan
        .results
        .iter()
        .map(|result| {
            let WorkloadSettings::Stream(stream) = &result.load else { panic!("a stream") };
            let queues = result.devices[&"client:eth0".parse().expect("a device")].queues.expect("queues");
            let labels: Vec<&str> = result.levels.values().map(String::as_str).collect();
            format!("{}: {queues} queues, {} streams", labels.join(" and "), stream.streams)
        })
        .collect();
    for (queues, times) in [1, 2, 4].into_iter().flat_map(|queues| [1, 2, 4].map(|times| (queues, times))) {
        let result = format!("{queues} and {times}x: {queues} queues, {} streams", queues * times);
        assert!(actual.contains(&result), "no `{result}` in {actual:?}");
    }
    let device = &scenario.lab.devices[&"pve:server".parse().expect("a device")];
    assert_eq!(device.queues, Some(4), "a device is created with its largest number of queues");
    let text = builtin::find("bridge-queues").expect("built in").text.replace("most = 128", "most = 10");
    let scenario = Scenario::parse("capped", &text).expect("parses");
    let capped = Plan::expand(&scenario, SEED, &PlanOptions::default()).results.pop().expect("results");
    let WorkloadSettings::Stream(stream) = &capped.load else { panic!("a stream") };
    let label = capped.levels.values().next_back().expect("streams");
    assert_eq!((stream.streams, label.as_str()), (10, "4x (capped at 10)"));
    assert_eq!(capped.id.as_str(), "guest-to-guest/throughput/queues=4,streams=4x");
}

#[test]
fn virtual_machine_has_queues_for_each_level() {
    let lab = builtin("bridge-multiqueue").lab;
    let nics =
        || lab.links.iter().filter_map(|link| if let Link::Nic(nic) = link { Some(nic) } else { None });
    for nic in nics() {
        let vm = lab.vm(&nic.at.host).expect("the guest is a virtual machine");
        assert_eq!((nic.queues, vm.queues, vm.vcpus), (2, 2, 2), "{}", nic.name);
    }
    assert_eq!(nics().count(), 2);
}

#[test]
fn matched_guests_differ_only_in_vhost() {
    for (name, suffix, pairs) in [("vhost", "-vhost", 2), ("four-configurations", "-vhost", 1)] {
        let scenario = builtin(name);
        let guests = |path: &str| {
            let path = scenario
                .paths
                .iter()
                .find(|known| known.name.as_str() == path)
                .expect("the path has a counterpart");
            [&path.from.host, &path.to.host].map(|host| scenario.lab.vm(host).cloned())
        };
        let pairs_without_vhost =
            scenario.paths.iter().filter_map(|path| path.name.as_str().strip_suffix(suffix));
        let pairs_found =
            pairs_without_vhost.map(|without| (guests(without), guests(&format!("{without}{suffix}"))));
        let pairs_found: Vec<_> = pairs_found.collect();
        assert_eq!(pairs_found.len(), pairs, "{name}");
        for (without, with) in pairs_found {
            let turned_on = without.clone().map(|vm| vm.map(|vm| scenario::Vm { vhost: true, ..vm }));
            assert!(turned_on == with && without != with, "{name}: {without:?} {with:?}");
        }
    }
}

#[test]
fn parses_each_variant_under_its_own_name() {
    for builtin_scenario in builtin::all() {
        for name in variant::names(builtin_scenario.text) {
            let text = variant::lay_over(builtin_scenario.text, &[&name]).expect("the variant exists");
            let scenario = Scenario::parse("variant", &text).unwrap_or_else(|diagnosis| {
                panic!("{} {name}: {:#?}", builtin_scenario.name, diagnosis.problems().collect::<Vec<_>>());
            });
            assert_eq!(scenario.name, format!("{}-{name}", builtin_scenario.name));
            assert_ne!(scenario.digest, builtin(builtin_scenario.name).digest);
            assert!(!Plan::expand(&scenario, SEED, &PlanOptions::default()).trials.is_empty(), "{name}");
        }
    }
}

fn variant(name: &str, of: &str) -> Scenario {
    let text =
        variant::lay_over(builtin::find(name).expect("built in").text, &[of]).expect("the variant exists");
    Scenario::parse(name, &text).expect("parses")
}

#[test]
fn variant_vm_turns_guests_into_virtual_machines() {
    for name in ["proxmox-vxlan", "egress-gateway"] {
        for host in variant(name, "vm").lab.hosts {
            assert_eq!(host.vm.is_some(), host.kind != HostKind::Host, "{name}: {}", host.name);
        }
    }
}

#[test]
fn full_grid_matches_write_up() {
    let scenario = variant("bridge-multiqueue", "full");
    let levels: Vec<&[scenario::Level]> =
        scenario.factors.iter().map(|factor| factor.levels.as_slice()).collect();
    let queues: Vec<&str> = levels[0].iter().map(|level| level.label.as_str()).collect();
    assert_eq!(queues, ["1", "2", "4", "8", "16", "32", "40"]);
    let plan = Plan::expand(&scenario, SEED, &PlanOptions::default());
    assert_eq!(plan.results.len(), 21);
    let most = plan.results.iter().filter_map(|result| match &result.load {
        WorkloadSettings::Stream(stream) => Some(stream.streams),
        _ => None,
    });
    assert_eq!(most.max(), Some(128));
}

#[test]
fn traced_layers_match_declared_ones() {
    for builtin_scenario in builtin::all() {
        let document: toml::Table = builtin_scenario.text.parse().expect("TOML");
        for path in builtin(builtin_scenario.name).paths.into_iter().filter(|path| !path.is_host()) {
            let declared =
                document["paths"][path.name.as_str()]["layers"].as_array().expect("a list").clone();
            let walked: Vec<toml::Value> = path.layers.iter().map(|layer| layer.word().into()).collect();
            assert_eq!(walked, declared, "{} {}", builtin_scenario.name, path.name);
        }
    }
}

#[test]
fn traces_packet_through_egress_gateway() {
    let scenario = builtin("egress-gateway");
    let path = scenario.paths.iter().find(|path| path.name.as_str() == "pod-to-target").expect("a path");
    let devices: Vec<String> = path.devices.iter().map(ToString::to_string).collect();
    assert_eq!(
        devices,
        [
            "app:eth0",
            "node1:app",
            "node1:cni0",
            "node1:egress.vxlan",
            "node1:eth0",
            "egress:eth0",
            "egress:egress.vxlan",
            "egress:eth1",
            "target:eth0",
        ]
    );
    assert_eq!(path.layers, [Layer::Veth, Layer::Bridge, Layer::Gateway, Layer::Vxlan, Layer::Wire]);
}

#[test]
fn traces_packet_between_guests_of_two_hypervisors() {
    let scenario = builtin("proxmox-vxlan");
    let path = scenario.paths.iter().find(|path| path.name.as_str() == "guest-to-guest").expect("a path");
    let devices: Vec<String> = path.devices.iter().map(ToString::to_string).collect();
    assert_eq!(
        devices,
        [
            "dev-gateway:eth0",
            "pmx-green:dev-gateway",
            "pmx-green:vnet0",
            "pmx-green:vxlan-vnet0",
            "pmx-green:eth0",
            "pmx-black:eth0",
            "pmx-black:vxlan-vnet0",
            "pmx-black:vnet0",
            "pmx-black:dev-app02",
            "dev-app02:eth0",
        ]
    );
}

#[test]
fn device_factors_apply_only_to_paths_through_the_device() {
    let plan = plan("egress-gateway");
    let ids: Vec<&str> =
        plan.results.iter().map(|result| result.id.as_str()).filter(|id| id.contains("throughput")).collect();
    assert_eq!(
        ids[..6],
        [
            "node-to-node/throughput/underlay-offload=on",
            "node-to-node/throughput/underlay-offload=off",
            "vxlan-to-vxlan/throughput/underlay-offload=on,vxlan-offload=on",
            "vxlan-to-vxlan/throughput/underlay-offload=on,vxlan-offload=off",
            "vxlan-to-vxlan/throughput/underlay-offload=off,vxlan-offload=on",
            "vxlan-to-vxlan/throughput/underlay-offload=off,vxlan-offload=off",
        ]
    );
    assert_eq!(ids.len(), 14);
    assert_eq!(plan.results.iter().filter(|result| result.baseline).count(), 2, "one per workload");
}

#[test]
fn repeats_baselines_in_each_block() {
    let plan = plan("egress-gateway");
    let blocks = 1 + plan.trials.iter().map(|trial| trial.block).max().expect("trials");
    for block in 0..blocks {
        let again =
            plan.trials.iter().filter(|trial| trial.block == block && trial.arm == Arm::Again).count();
        assert_eq!(again, 2, "block {block}");
    }
}

fn mtu(scenario: &Scenario, result: &PlannedResult) -> u32 {
    let path = scenario.paths.iter().find(|path| path.name == result.path).expect("the path exists");
    path.mtu(&scenario.lab, &result.devices)
}

#[test]
fn path_mtu_is_smallest_of_its_devices() {
    let (scenario, plan) = (builtin("egress-gateway"), plan("egress-gateway"));
    for result in &plan.results {
        let expected = if result.path.as_str() == "node-to-node" { 1500 } else { 1450 };
        assert_eq!(mtu(&scenario, result), expected, "{}", result.id);
    }
    let (scenario, plan) = (builtin("bridge-streams"), self::plan("bridge-streams"));
    for result in &plan.results {
        let expected = if result.id.as_str().contains("mtu=9000") { 9000 } else { 1500 };
        assert_eq!(mtu(&scenario, result), expected, "{}", result.id);
    }
}
