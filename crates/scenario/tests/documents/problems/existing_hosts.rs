//! Tests problems of existing hosts: invalid settings, and unsupported devices or workloads.

use std::collections::{BTreeMap, BTreeSet};

use samples::Arm;
use scenario::{Access, Layer, Plan, PlanOptions, PlannedTrial, Scenario};

use super::check_text;

const TWO: &str = r#"
schema = 1
name = "two"
title = "Two machines"
[hosts.a]
at = "ssh:root@a.example"
interface = "eth1"
[hosts.b]
at = "local"
address = "10.0.0.2"
port = 5201
[hosts.made]
[hosts.other]
[wires.cable]
between = ["made:eth0", "other:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
[paths.there]
from = "a"
to = "b"
baseline = true
[paths.lab]
from = "made"
to = "other"
layers = ["wire"]
[workloads.bulk]
kind = "stream"
"#;

#[test]
fn path_between_existing_hosts_uses_unknown_network() {
    let scenario = Scenario::parse("test", TWO).expect("the scenario is valid");
    let path = &scenario.paths[0];
    assert_eq!(path.layers, [Layer::Network]);
    assert_eq!(
        (path.from.device.to_string(), path.to.address.to_string()),
        ("a:eth1".into(), "10.0.0.2".into())
    );
    let of = |host: &scenario::HostName| scenario.lab.existing(host).expect("the host exists");
    assert_eq!(of(&path.from.host).access, Access::Ssh { destination: "root@a.example".into() });
    assert_eq!((of(&path.to.host).is_on_this_machine(), of(&path.to.host).port), (true, Some(5201)));
    let created: Vec<String> =
        scenario.lab.outside().hosts.iter().map(|host| host.name.to_string()).collect();
    assert_eq!(created, ["made", "other"], "no lab for existing hosts");
    let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
    let ports = |path: &str| {
        let result =
            plan.results.iter().find(|result| result.path.as_str() == path).expect("the path is planned");
        result.load.kind().socket().and_then(|socket| socket.source_port)
    };
    assert!(
        ports("there").is_none() && ports("lab").is_some(),
        "kernel-chosen ports where closed connections block them"
    );
}

#[test]
fn reports_invalid_settings_of_existing_host() {
    for (from, to, at, message, help) in [
        (
            "at = \"ssh:root@a.example\"",
            "at = \"ssh:-oProxyCommand=x\"",
            "at =",
            "not an SSH destination",
            "`user@host`",
        ),
        ("at = \"ssh:root@a.example\"", "at = \"container:-x\"", "at =", "`-x` is not a container name", ""),
        ("at = \"ssh:root@a.example\"", "at = \"rack-1\"", "at =", "is not an endpoint; use local", ""),
        (
            "at = \"ssh:root@a.example\"",
            "at = \"member:a..b\"",
            "at =",
            "not a valid member name",
            "`plumb fleet list`",
        ),
        (
            "at = \"ssh:root@a.example\"\n",
            "",
            "interface",
            "`interface` has no effect",
            "`at = \"ssh:user@host\"`",
        ),
        (
            "address = \"10.0.0.2\"\n",
            "",
            "at = \"local\"",
            "neither an address nor an interface",
            "interface",
        ),
        ("\"10.0.0.2\"", "\"224.0.0.1\"", "224.0.0.1", "not the address of a single host", ""),
        ("\"eth1\"", "\"eth1@if3/x\"", "eth1@if3", "not a valid device name", "ip link"),
        (
            "[hosts.made]",
            "[hosts.made]\nuplink = \"rack\"",
            "uplink",
            "`uplink` has no effect",
            "`at = \"ssh:user@host\"`",
        ),
        ("port = 5201", "port = 0", "port = 0", "`port` is 0", ""),
        ("to = \"b\"", "to = \"made\"", "to = \"made\"", "the lab device `made:eth0`", "at = \"local\""),
        ("from = \"a\"", "from = \"a:eth2\"", "a:eth2", "own table names its device", "interface = \"eth2\""),
        ("[\"made:eth0\"", "[\"a:eth0\"", "between", "`a:eth0` cannot be created on", "overlays"),
        (
            "baseline = true",
            "baseline = true\nlayers = [\"wire\"]",
            "layers",
            "packets on `there` do not pass through the layer `wire`",
            "\"network\"",
        ),
        (
            "[workloads.bulk]",
            "[devices.\"a:eth1\"]\nmtu = 9000\n[workloads.bulk]",
            "[devices",
            "its devices cannot be changed",
            "on the host itself",
        ),
        (
            "kind = \"stream\"",
            "kind = \"stream\"\nplacement = \"same-cpu\"",
            "placement",
            "on different machines",
            "remove `placement`",
        ),
    ] {
        assert!(TWO.contains(from), "outdated case: {from}");
        check_text(&TWO.replacen(from, to, 1), at, message, help);
    }
}

const OVERLAY: &str = r#"
schema = 1
name = "overlay"
title = "An overlay between two machines"
[hosts.a]
at = "ssh:root@a.example"
[hosts.b]
at = "ssh:root@b.example"
interface = "eth1"
[hosts.made]
[hosts.other]
[wires.cable]
between = ["made:eth0", "other:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
[bridges.br1]
host = "a"
[vms.small]
[guests.one]
bridge = "br1"
address = "198.18.64.1/24"
[vxlans.vx0]
vni = 100
[vxlans.vx0.members.a]
bridge = "br1"
[vxlans.vx0.members.b]
address = "198.18.64.2/24"
[paths.there]
from = "a"
to = "b"
baseline = true
[paths.overlay]
from = "one"
to = "b:vx0"
layers = ["veth", "bridge", "vxlan", "network"]
[workloads.bulk]
kind = "stream"
"#;

#[test]
fn overlay_uses_host_network_and_its_reported_mtu() {
    let Scenario { mut lab, paths, .. } = Scenario::parse("test", OVERLAY).expect("the scenario is valid");
    let passed: Vec<String> = paths[1].devices.iter().map(ToString::to_string).collect();
    let (inside, outside) = (["one:eth0", "a:one", "a:br1", "a:vx0"], ["a:auto", "b:eth1", "b:vx0"]);
    assert_eq!(passed, [&inside[..], &outside].concat());
    let created: Vec<&str> = vec!["made", "other"];
    let hosts = |lab: &scenario::Lab| lab.hosts.iter().map(|host| host.name.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (hosts(&lab.outside()), lab.outside().links.len()),
        (created.iter().map(ToString::to_string).collect(), 1)
    );
    let of_a = lab.inside(&scenario::HostName::new("a"));
    assert_eq!((hosts(&of_a), of_a.links.len()), (["a", "b", "one"].map(str::to_owned).into(), 3));
    let mtu = |lab: &scenario::Lab, at: &str| lab.mtu(&at.parse().expect("a device"), &lab.devices);
    assert!(inside.iter().all(|at| mtu(&lab, at).is_none()), "not reported yet");
    for (host, mtu) in lab.hosts.iter_mut().filter(|host| host.existing.is_some()).zip([9000, 1500]) {
        let existing = host.existing.as_mut().expect("the host exists");
        (existing.mtu, existing.address) = (Some(mtu), Some("10.0.0.1".parse().expect("an address")));
    }
    lab.locate();
    assert!(inside.iter().all(|at| mtu(&lab, at) == Some(1450)), "the smallest one, minus encapsulation");
    assert_eq!(lab.mtu_misfit(&lab.devices), None);
    let written = Scenario::parse("test", &OVERLAY.replace("vni = 100", "vni = 100\nmtu = 1500"));
    let mut lab = written.expect("MTUs of the machines are unknown").lab;
    for host in &mut lab.hosts {
        host.existing.iter_mut().for_each(|existing| existing.mtu = Some(1500));
    }
    lab.locate();
    let (_, reason) = lab.mtu_misfit(&lab.devices).expect("1500 does not fit into 1500");
    assert!(reason.contains("use an MTU of at most 1450"), "{reason}");
}

#[test]
fn reports_unsupported_devices_of_existing_host() {
    for (from, to, at, message, help) in [
        (
            "bridge = \"br1\"\n[vxlans.vx0.members.b]",
            "over = \"eth0\"\nbridge = \"br1\"\n[vxlans.vx0.members.b]",
            "over",
            "its own network carries the tunnel",
            "remove `over`",
        ),
        (
            "[vxlans.vx0.members.b]",
            "[vxlans.vx0.members.made]\nover = \"eth0\"\naddress = \"198.18.64.3/24\"\n[vxlans.vx0.members.b]",
            "[vxlans.vx0.members.made]",
            "no connection between `made`",
            "`at = \"local\"`",
        ),
        (
            "[paths.there]",
            "[vxlans.eth1]\nvni = 7\n[vxlans.eth1.members.b]\naddress = \"198.18.65.2/24\"\n[vxlans.eth1.members.a]\n\
            address = \"198.18.65.1/24\"\n[paths.there]",
            "[vxlans.eth1]",
            "the name of an existing device on `b`",
            "another name",
        ),
        (
            "address = \"198.18.64.1/24\"",
            "address = \"198.18.64.1/24\"\nvm = \"small\"",
            "[guests.one]",
            "`a:one` cannot be created on",
            "without `vm`",
        ),
        (
            "[paths.there]",
            "[wires.further]\nbetween = [\"one:eth1\", \"other:eth1\"]\n[paths.there]",
            "between",
            "which runs on the existing host `a`",
            "only have `eth0`",
        ),
        (
            "from = \"one\"",
            "from = \"a\"",
            "to = \"b:vx0\"",
            "no connection between the lab device `b:vx0`",
            "devices created on such hosts",
        ),
        (
            "[workloads.bulk]",
            "[devices.\"b:eth1\"]\nmtu = 9000\n[workloads.bulk]",
            "[devices",
            "cannot be changed",
            "on the host itself",
        ),
        (
            "vni = 100",
            "vni = 100\nunderlay = \"ipv6\"",
            "\"ipv6\"",
            "use the network of the existing host `a`",
            "existing host's `address`",
        ),
    ] {
        assert!(OVERLAY.contains(from), "outdated case: {from}");
        check_text(&OVERLAY.replacen(from, to, 1), at, message, help);
    }
    let set = OVERLAY.replace("[workloads.bulk]", "[devices.\"b:vx0\"]\ngro = \"off\"\n[workloads.bulk]");
    Scenario::parse("test", &set).expect("devices created by the lab can be changed");
}

const FLEET: &str = r#"
schema = 1
name = "fleet"
title = "Some machines"
pairs = "all"
[hosts.a]
at = "ssh:a"
[hosts.b]
at = "ssh:b"
[hosts.c]
at = "ssh:c"
[hosts.d]
at = "ssh:d"
[hosts.made]
[workloads.bulk]
kind = "stream"
"#;

#[test]
fn pair_has_two_paths_and_first_is_baseline() {
    for (pairs, count, some) in [
        ("\"all\"", 12, ["a-to-b", "d-to-c"]),
        ("\"ring\"", 8, ["d-to-a", "a-to-d"]),
        ("[[\"a\", \"c\"], [\"b\", \"d\"]]", 4, ["c-to-a", "b-to-d"]),
    ] {
        let scenario =
            Scenario::parse("test", &FLEET.replace("\"all\"", pairs)).expect("the scenario is valid");
        let names: Vec<&str> = scenario.paths.iter().map(|path| path.name.as_str()).collect();
        assert_eq!(names.len(), count, "{names:?}");
        assert!(some.iter().all(|name| names.contains(name)), "{names:?}");
        let baselines = scenario.paths.iter().filter(|path| path.baseline).count();
        assert!(baselines == 1 && scenario.paths[0].baseline, "{names:?}");
        assert_eq!(scenario.workloads[0].paths.len(), count, "each workload runs on all paths");
    }
}

fn rounds(text: &str) -> Vec<BTreeSet<String>> {
    let scenario = Scenario::parse("test", text).expect("the scenario is valid");
    let plan = Plan::expand(&scenario, 7, &PlanOptions::default());
    let measured =
        |trial: &&PlannedTrial| trial.block == 0 && trial.arm == Arm::Measure && trial.round.is_some();
    let mut rounds: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for trial in plan.trials.iter().filter(measured) {
        let path = plan.results[trial.result].path.to_string();
        rounds.entry(trial.round.expect("the trial has a round")).or_default().insert(path);
    }
    let mut rounds: Vec<_> = rounds.into_values().collect();
    rounds.sort();
    rounds
}

#[test]
fn measures_disjoint_pairs_simultaneously() {
    let of = |pairs: &[&[&str]]| -> Vec<BTreeSet<String>> {
        pairs.iter().map(|round| round.iter().map(|path| (*path).to_owned()).collect()).collect()
    };
    let all = of(&[
        &["a-to-b", "c-to-d"],
        &["a-to-c", "b-to-d"],
        &["a-to-d", "b-to-c"],
        &["b-to-a", "d-to-c"],
        &["c-to-a", "d-to-b"],
        &["c-to-b", "d-to-a"],
    ]);
    assert_eq!(rounds(FLEET), all);
    let one_machine = FLEET.replace("at = \"ssh:b\"", "at = \"ssh:a\"\ninterface = \"eth1\"");
    let rack = |host: &str| format!("at = \"ssh:{host}\"\nuplink = \"rack\"");
    let one_rack = FLEET.replace("at = \"ssh:a\"", &rack("a")).replace("at = \"ssh:b\"", &rack("b"));
    for shared in [one_machine, one_rack] {
        assert_eq!(rounds(&shared), of(&[]), "with three resources, any two pairs share one");
    }
    let one_by_one = format!("{FLEET}\n[schedule]\nat_once = false\n");
    assert_eq!(rounds(&one_by_one), of(&[]));
    assert_eq!(rounds(TWO), of(&[]), "declared paths are measured sequentially");
}

#[test]
fn repeats_round_of_baseline_and_measures_some_pairs_individually() {
    let scenario = Scenario::parse("test", FLEET).expect("the scenario is valid");
    let plan = Plan::expand(&scenario, 7, &PlanOptions::default());
    for block in 0..5 {
        let of = |arm: Arm| -> Vec<&PlannedTrial> {
            plan.trials.iter().filter(|trial| trial.block == block && trial.arm == arm).collect()
        };
        let paths: BTreeSet<&str> =
            of(Arm::Again).iter().map(|trial| plan.results[trial.result].path.as_str()).collect();
        assert_eq!(paths, BTreeSet::from(["a-to-b", "c-to-d"]));
        assert!(of(Arm::Again)[0].is_simultaneous_with(of(Arm::Again)[1]));
        assert_eq!(of(Arm::Alone).len(), 3);
        assert!(of(Arm::Alone).iter().all(|trial| trial.round.is_none()));
        assert_eq!(of(Arm::Measure).len(), 12);
    }
    let each = plan.trial_estimate(0);
    assert_eq!(
        plan.duration_estimate().0,
        5 * (6 + 1 + 3) * each.0,
        "a round takes as long as a single trial"
    );
}

#[test]
fn reports_invalid_pairs() {
    for (pairs, at, message, help) in [
        ("\"star\"", "pairs", "`star` is not a valid value", "`all`, `ring`"),
        ("7", "pairs", "expected \"all\", \"ring\" or pairs of hosts", ""),
        ("[[\"a\"]]", "pairs", "a pair has two hosts, not 1", "[\"a\", \"b\"]"),
        ("[[\"a\", \"made\"]]", "pairs", "`made` is not an existing host", "`a`"),
        ("[[\"a\", \"a\"]]", "pairs", "`a` is paired with itself", ""),
        ("[[\"a\", \"b\"], [\"b\", \"a\"]]", "pairs", "duplicate path `b-to-a`", "one per direction"),
    ] {
        check_text(&FLEET.replace("\"all\"", pairs), at, message, help);
    }
    let none = FLEET.replace("at = ", "#");
    check_text(&none, "pairs", "at least two existing hosts", "`at`");
    let confined = FLEET.replace("kind = \"stream\"", "kind = \"stream\"\npaths = [\"a-to-x\"]");
    check_text(&confined, "paths", "unknown path `a-to-x`", "a-to-");
}

#[test]
fn reports_families_and_link_local_addresses_of_existing_hosts() {
    let text = TWO.replacen("title", "family = [\"ipv6\"]\ntitle", 1);
    check_text(&text, "[\"ipv6\"]", "path `there` connects existing hosts", "existing host's `address`");
    let text = TWO.replacen("10.0.0.2", "fe80::2", 1);
    check_text(&text, "\"fe80::2\"", "fe80::2 is a link-local address", "a global address");
}
