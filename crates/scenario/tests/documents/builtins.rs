//! Every shipped scenario parses, plans, stays inside its time, and goes exactly the ways that it says.

use samples::Arm;
use scenario::{Cell, HostKind, Layer, Link, Plan, PlanOptions, Scenario, builtin, variant};
use workload::WorkloadSettings;

const SEED: u64 = 7;

fn builtin(name: &str) -> Scenario {
    let builtin = builtin::find(name).expect("shipped");
    Scenario::parse(builtin.name, builtin.text).unwrap_or_else(|diagnosis| {
        panic!("{name}: {:#?}", diagnosis.problems().collect::<Vec<_>>());
    })
}

fn plan(name: &str) -> Plan {
    Plan::expand(&builtin(name), SEED, &PlanOptions::default())
}

#[test]
fn every_builtin_parses_and_plans() {
    for shipped in builtin::all() {
        let plan = plan(shipped.name);
        assert!(!plan.trials.is_empty(), "{}", shipped.name);
    }
}

#[test]
fn a_run_of_a_builtin_takes_as_long_as_is_said() {
    for (name, least, most) in [
        ("quick", 30.0, 80.0),
        ("engine-limits", 20.0, 80.0),
        ("proxmox-vxlan", 30.0, 190.0),
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
        let budget = plan(name).design.budget.expect("its runs have one");
        assert!((60.0..120.0).contains(&budget.seconds()), "{name}: {budget}");
    }
}

/// The grid of the write-up in small, and the cap that it had to do without telling.
#[test]
fn streams_are_multiples_of_the_queues_and_a_cap_is_told() {
    let (scenario, plan) = (builtin("bridge-queues"), plan("bridge-queues"));
    let shown: Vec<String> = plan
        .cells
        .iter()
        .map(|cell| {
            let WorkloadSettings::Stream(stream) = &cell.load else { panic!("a stream") };
            let queues = cell.devices[&"client:eth0".parse().expect("a device")].queues.expect("queues");
            let labels: Vec<&str> = cell.levels.values().map(String::as_str).collect();
            format!("{}: {queues} queues, {} streams", labels.join(" and "), stream.streams)
        })
        .collect();
    for (queues, times) in [1, 2, 4].into_iter().flat_map(|queues| [1, 2, 4].map(|times| (queues, times))) {
        let cell = format!("{queues} and {times}x: {queues} queues, {} streams", queues * times);
        assert!(shown.contains(&cell), "no `{cell}` in {shown:?}");
    }
    let made = &scenario.lab.devices[&"pve:server".parse().expect("a device")];
    assert_eq!(made.queues, Some(4), "a device is made with the most that it will have");
    let text = builtin::find("bridge-queues").expect("shipped").text.replace("most = 128", "most = 10");
    let scenario = Scenario::parse("capped", &text).expect("parses");
    let capped = Plan::expand(&scenario, SEED, &PlanOptions::default()).cells.pop().expect("cells");
    let WorkloadSettings::Stream(stream) = &capped.load else { panic!("a stream") };
    let label = capped.levels.values().next_back().expect("streams");
    assert_eq!((stream.streams, label.as_str()), (10, "4x (capped at 10)"));
    assert_eq!(capped.id.as_str(), "guest-to-guest/throughput/queues=4,streams=4x");
}

/// A guest's device is made with the most queues that any cell wants, by its machine as well as by the bridge's host.
#[test]
fn queues_of_a_factor_are_made_by_the_virtual_machine() {
    let lab = builtin("bridge-multiqueue").lab;
    let nics =
        || lab.links.iter().filter_map(|link| if let Link::Nic(nic) = link { Some(nic) } else { None });
    for nic in nics() {
        let vm = lab.vm(&nic.at.host).expect("it is one");
        assert_eq!((nic.queues, vm.queues, vm.vcpus), (2, 2, 2), "{}", nic.name);
    }
    assert_eq!(nics().count(), 2);
}

/// Paths that are compared with each other end in guests that differ in nothing else, and none is without its twin.
#[test]
fn twins_of_shipped_scenarios_differ_in_vhost_alone() {
    for (name, suffix, pairs) in [("vhost", "-vhost", 2), ("four-configurations", "-vhost", 1)] {
        let scenario = builtin(name);
        let guests = |path: &str| {
            let path = scenario.paths.iter().find(|known| known.name.as_str() == path).expect("has a twin");
            [&path.from.host, &path.to.host].map(|host| scenario.lab.vm(host).cloned())
        };
        let twins = scenario.paths.iter().filter_map(|path| path.name.as_str().strip_suffix(suffix));
        let seen = twins.map(|without| (guests(without), guests(&format!("{without}{suffix}"))));
        let seen: Vec<_> = seen.collect();
        assert_eq!(seen.len(), pairs, "{name}");
        for (without, with) in seen {
            let turned_on = without.clone().map(|vm| vm.map(|vm| scenario::Vm { vhost: true, ..vm }));
            assert!(turned_on == with && without != with, "{name}: {without:?} {with:?}");
        }
    }
}

/// Each is a scenario of its own, by its name and by its text.
#[test]
fn every_variant_of_a_builtin_parses_under_a_name_of_its_own() {
    for shipped in builtin::all() {
        for name in variant::names(shipped.text) {
            let text = variant::lay_over(shipped.text, &[&name]).expect("it has it");
            let scenario = Scenario::parse("variant", &text).unwrap_or_else(|diagnosis| {
                panic!("{} {name}: {:#?}", shipped.name, diagnosis.problems().collect::<Vec<_>>());
            });
            assert_eq!(scenario.name, format!("{}-{name}", shipped.name));
            assert_ne!(scenario.digest, builtin(shipped.name).digest);
            assert!(!Plan::expand(&scenario, SEED, &PlanOptions::default()).trials.is_empty(), "{name}");
        }
    }
}

fn variant(name: &str, of: &str) -> Scenario {
    let text = variant::lay_over(builtin::find(name).expect("shipped").text, &[of]).expect("it has it");
    Scenario::parse(name, &text).expect("parses")
}

#[test]
fn in_the_variant_vm_every_guest_is_a_virtual_machine_and_no_host_is() {
    for name in ["proxmox-vxlan", "egress-gateway"] {
        for host in variant(name, "vm").lab.hosts {
            assert_eq!(host.vm.is_some(), host.kind != HostKind::Host, "{name}: {}", host.name);
        }
    }
}

#[test]
fn the_full_grid_of_queues_is_the_write_up_s() {
    let scenario = variant("bridge-multiqueue", "full");
    let levels: Vec<&[scenario::Level]> =
        scenario.factors.iter().map(|factor| factor.levels.as_slice()).collect();
    let queues: Vec<&str> = levels[0].iter().map(|level| level.label.as_str()).collect();
    assert_eq!(queues, ["1", "2", "4", "8", "16", "32", "40"]);
    let plan = Plan::expand(&scenario, SEED, &PlanOptions::default());
    assert_eq!(plan.cells.len(), 21);
    let most = plan.cells.iter().filter_map(|cell| match &cell.load {
        WorkloadSettings::Stream(stream) => Some(stream.streams),
        _ => None,
    });
    assert_eq!(most.max(), Some(128));
}

/// The layers as the document has them: in the order in which a packet meets them.
#[test]
fn walking_each_path_gives_exactly_the_declared_layers() {
    for shipped in builtin::all() {
        let document: toml::Table = shipped.text.parse().expect("TOML");
        for path in builtin(shipped.name).paths.into_iter().filter(|path| !path.is_host()) {
            let declared =
                document["paths"][path.name.as_str()]["layers"].as_array().expect("a list").clone();
            let walked: Vec<toml::Value> = path.layers.iter().map(|layer| layer.word().into()).collect();
            assert_eq!(walked, declared, "{} {}", shipped.name, path.name);
        }
    }
}

#[test]
fn a_packet_to_the_target_passes_bridge_tunnel_wire_and_egress_device() {
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
fn guests_of_two_hypervisors_reach_each_other_through_both_bridges() {
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
fn offloads_are_swept_only_where_a_path_passes_the_device() {
    let plan = plan("egress-gateway");
    let ids: Vec<&str> =
        plan.cells.iter().map(|cell| cell.id.as_str()).filter(|id| id.contains("throughput")).collect();
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
    assert_eq!(plan.cells.iter().filter(|cell| cell.baseline).count(), 2, "one of each workload");
}

#[test]
fn each_baseline_is_measured_against_itself_in_every_block() {
    let plan = plan("egress-gateway");
    let blocks = 1 + plan.trials.iter().map(|trial| trial.block).max().expect("trials");
    for block in 0..blocks {
        let again =
            plan.trials.iter().filter(|trial| trial.block == block && trial.arm == Arm::Again).count();
        assert_eq!(again, 2, "block {block}");
    }
}

fn mtu(scenario: &Scenario, cell: &Cell) -> u32 {
    let path = scenario.paths.iter().find(|path| path.name == cell.path).expect("it is there");
    path.mtu(&scenario.lab, &cell.devices)
}

#[test]
fn a_path_carries_the_least_mtu_of_its_devices() {
    let (scenario, plan) = (builtin("egress-gateway"), plan("egress-gateway"));
    for cell in &plan.cells {
        let expected = if cell.path.as_str() == "node-to-node" { 1500 } else { 1450 };
        assert_eq!(mtu(&scenario, cell), expected, "{}", cell.id);
    }
    let (scenario, plan) = (builtin("bridge-streams"), self::plan("bridge-streams"));
    for cell in &plan.cells {
        let expected = if cell.id.as_str().contains("mtu=9000") { 9000 } else { 1500 };
        assert_eq!(mtu(&scenario, cell), expected, "{}", cell.id);
    }
}
