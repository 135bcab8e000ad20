//! Hosts that exist already: what may be said of one, and what cannot be made or planned there.

use scenario::{Access, Layer, Plan, PlanOptions, Scenario};

use super::check_text;

const TWO: &str = r#"
schema = 1
name = "two"
title = "Two machines"
[hosts.a]
ssh = "root@a.example"
interface = "eth1"
[hosts.b]
local = true
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
fn two_machines_are_the_ends_of_a_path_over_a_network_that_is_not_known() {
    let scenario = Scenario::parse("test", TWO).expect("nothing is wrong");
    let path = &scenario.paths[0];
    assert_eq!(path.layers, [Layer::Network]);
    assert_eq!(
        (path.from.device.to_string(), path.to.address.to_string()),
        ("a:eth1".into(), "10.0.0.2".into())
    );
    let of = |host: &scenario::HostName| scenario.lab.existing(host).expect("it exists");
    assert_eq!(of(&path.from.host).access, Access::Ssh { destination: "root@a.example".into() });
    assert_eq!((of(&path.to.host).is_local(), of(&path.to.host).port), (true, Some(5201)));
    let made: Vec<String> = scenario.lab.outside().hosts.iter().map(|host| host.name.to_string()).collect();
    assert_eq!(made, ["made", "other"], "for the others no lab is made");
    let plan = Plan::expand(&scenario, 1, &PlanOptions::default());
    let ports = |path: &str| {
        let cell = plan.cells.iter().find(|cell| cell.path.as_str() == path).expect("it is planned");
        cell.load.kind().socket().and_then(|socket| socket.source_port)
    };
    assert!(
        ports("there").is_none() && ports("lab").is_some(),
        "the kernel's choice where it keeps ports for a while"
    );
}

#[test]
fn what_is_wrong_with_such_a_host_is_said_where_it_stands() {
    for (from, to, at, message, help) in [
        (
            "ssh = \"root@a.example\"",
            "ssh = \"-oProxyCommand=x\"",
            "ssh =",
            "no destination of ssh",
            "`user@host`",
        ),
        (
            "ssh = \"root@a.example\"",
            "ssh = \"a\"\nlocal = true",
            "local = true",
            "both `ssh` and `local`",
            "one",
        ),
        ("ssh = \"root@a.example\"\n", "", "interface", "`interface` has no effect", "`ssh = \"user@host\"`"),
        ("address = \"10.0.0.2\"\n", "", "local = true", "where its traffic goes", "interface"),
        ("\"10.0.0.2\"", "\"224.0.0.1\"", "224.0.0.1", "no address of one host", ""),
        ("\"eth1\"", "\"eth1@if3/x\"", "eth1@if3", "cannot be the name of a device", "ip link"),
        ("port = 5201", "port = 0", "port = 0", "`port` is 0", ""),
        ("to = \"b\"", "to = \"made\"", "to = \"made\"", "nothing connects `made`", "local = true"),
        ("from = \"a\"", "from = \"a:eth2\"", "a:eth2", "named in its own table", "interface = \"eth2\""),
        ("[\"made:eth0\"", "[\"a:eth0\"", "between", "no device is made on it", "without `ssh`"),
        ("layers = [\"wire\"]\n", "", "[paths.lab]", "`layers` is missing", "layers = [\"wire\"]"),
        (
            "baseline = true",
            "baseline = true\nlayers = [\"wire\"]",
            "layers",
            "no packet of `there` meets the layer `wire`",
            "\"network\"",
        ),
        (
            "[workloads.bulk]",
            "[devices.\"a:eth1\"]\nmtu = 9000\n[workloads.bulk]",
            "[devices",
            "its devices are read, and none is set",
            "on the host itself",
        ),
        (
            "kind = \"stream\"",
            "kind = \"stream\"\nplacement = \"same-cpu\"",
            "placement",
            "machines with CPUs of their own",
            "take `placement` out",
        ),
    ] {
        assert!(TWO.contains(from), "the case is out of date: {from}");
        check_text(&TWO.replacen(from, to, 1), at, message, help);
    }
}

const FLEET: &str = r#"
schema = 1
name = "fleet"
title = "Some machines"
pairs = "all"
[hosts.a]
ssh = "a"
[hosts.b]
ssh = "b"
[hosts.c]
ssh = "c"
[hosts.d]
ssh = "d"
[hosts.made]
[workloads.bulk]
kind = "stream"
"#;

#[test]
fn each_pair_is_two_paths_and_the_first_is_the_baseline() {
    for (pairs, count, some) in [
        ("\"all\"", 12, ["a-to-b", "d-to-c"]),
        ("\"ring\"", 8, ["d-to-a", "a-to-d"]),
        ("[[\"a\", \"c\"], [\"b\", \"d\"]]", 4, ["c-to-a", "b-to-d"]),
    ] {
        let scenario = Scenario::parse("test", &FLEET.replace("\"all\"", pairs)).expect("nothing is wrong");
        let names: Vec<&str> = scenario.paths.iter().map(|path| path.name.as_str()).collect();
        assert_eq!(names.len(), count, "{names:?}");
        assert!(some.iter().all(|name| names.contains(name)), "{names:?}");
        let baselines = scenario.paths.iter().filter(|path| path.baseline).count();
        assert!(baselines == 1 && scenario.paths[0].baseline, "{names:?}");
        assert_eq!(scenario.workloads[0].paths.len(), count, "each workload runs over all of them");
    }
}

#[test]
fn what_is_wrong_with_pairs_is_said_where_they_stand() {
    for (pairs, at, message, help) in [
        ("\"star\"", "pairs", "`star` is not one of the words", "`all`, `ring`"),
        ("7", "pairs", "expected \"all\", \"ring\" or pairs of hosts", ""),
        ("[[\"a\"]]", "pairs", "a pair is two hosts, not 1", "[\"a\", \"b\"]"),
        ("[[\"a\", \"made\"]]", "pairs", "`made` is no host that exists already", "`a`"),
        ("[[\"a\", \"a\"]]", "pairs", "`a` is paired with itself", ""),
        ("[[\"a\", \"b\"], [\"b\", \"a\"]]", "pairs", "the path `b-to-a` is given twice", "one for each way"),
    ] {
        check_text(&FLEET.replace("\"all\"", pairs), at, message, help);
    }
    let none = FLEET.replace("ssh = ", "#");
    check_text(&none, "pairs", "no two hosts to pair", "`ssh` or `local`");
    let confined = FLEET.replace("kind = \"stream\"", "kind = \"stream\"\npaths = [\"a-to-x\"]");
    check_text(&confined, "paths", "unknown path `a-to-x`", "a-to-");
}
