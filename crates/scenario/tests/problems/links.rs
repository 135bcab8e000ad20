//! Links that stand on an end of a wire: the way through them, and what they cannot stand on.

use scenario::Scenario;

use super::check_text;

/// Two hosts with a wire, and a device on each of its ends.
const MACVLAN: &str = r#"
schema = 1
name = "macvlan"
title = "A macvlan on each end of a wire"
[hosts.a]
[hosts.b]
[wires.w]
between = ["a:eth0", "b:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
mtu = 9000
[macvlans.mv-a]
host = "a"
over = "eth0"
address = "198.18.1.1/24"
[macvlans.mv-b]
host = "b"
over = "eth0"
address = "198.18.1.2/24"
[paths.plain]
from = "a:eth0"
to = "b:eth0"
layers = ["wire"]
baseline = true
[paths.p]
from = "a:mv-a"
to = "b:mv-b"
layers = ["macvlan", "wire"]
[workloads.w]
kind = "stream"
"#;

/// The devices of the path `p`.
fn way(text: &str) -> Vec<String> {
    let scenario = Scenario::parse("test", text)
        .unwrap_or_else(|diagnosis| panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>()));
    let path = scenario.paths.iter().find(|path| path.name.as_str() == "p").expect("it has such a path");
    path.devices.iter().map(ToString::to_string).collect()
}

#[test]
fn a_packet_passes_a_macvlan_and_the_wire_under_it() {
    assert_eq!(way(MACVLAN), ["a:mv-a", "a:eth0", "b:eth0", "b:mv-b"]);
    let lab = Scenario::parse("test", MACVLAN).expect("it parses").lab;
    let mtu = |device: &str| lab.mtu(&device.parse().expect("a device"), &lab.devices);
    assert_eq!(mtu("a:mv-a"), Some(9000), "that of the device under it");
}

#[test]
fn a_macvlan_stands_on_a_wire_s_end_that_is_no_port() {
    let text = MACVLAN.replacen("over = \"eth0\"", "over = \"eth1\"", 1);
    check_text(&text, "\"eth1\"", "unknown device `eth1`", "eth0");
    let text = MACVLAN.replacen("over = \"eth0\"", "over = \"mv-c\"", 1)
        + "[macvlans.mv-c]\nhost = \"a\"\nover = \"eth0\"\naddress = \"198.18.3.1/24\"\n";
    check_text(&text, "\"mv-c\"", "`a:mv-c` is not the end of a wire", "end of a wire");
    let text = MACVLAN.replace("[\"198.18.0.1/24\", \"198.18.0.2/24\"]", "[\"none\", \"198.18.0.2/24\"]")
        + "[bridges.br]\nhost = \"a\"\naddress = \"198.18.0.1/24\"\nports = [\"eth0\"]\n";
    check_text(&text, "over = \"eth0\"", "`a:eth0` is a port of the bridge `br`", "another");
}

#[test]
fn a_macvlan_has_the_mtu_of_the_device_under_it() {
    let text = format!("{MACVLAN}[devices.\"a:mv-a\"]\nmtu = 1500\n");
    check_text(&text, "mtu = 1500", "`a:mv-a` has MTU 1500, but `a:eth0` has 9000", "same MTU");
}
