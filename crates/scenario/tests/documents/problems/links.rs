//! Tests problems of links on the end of a wire.

use scenario::Scenario;

use super::check_text;

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

fn way(text: &str) -> Vec<String> {
    let scenario = Scenario::parse("test", text)
        .unwrap_or_else(|diagnosis| panic!("{:#?}", diagnosis.problems().collect::<Vec<_>>()));
    let path = scenario.paths.iter().find(|path| path.name.as_str() == "p").expect("the path exists");
    path.devices.iter().map(ToString::to_string).collect()
}

#[test]
fn traces_packet_through_macvlan_and_wire() {
    assert_eq!(way(MACVLAN), ["a:mv-a", "a:eth0", "b:eth0", "b:mv-b"]);
    let lab = Scenario::parse("test", MACVLAN).expect("the scenario parses").lab;
    let mtu = |device: &str| lab.mtu(&device.parse().expect("a device"), &lab.devices);
    assert_eq!(mtu("a:mv-a"), Some(9000), "that of the underlying device");
}

#[test]
fn reports_macvlan_on_invalid_device() {
    let text = MACVLAN.replacen("over = \"eth0\"", "over = \"eth1\"", 1);
    check_text(&text, "\"eth1\"", "unknown device `eth1`", "eth0");
    let text = MACVLAN.replacen("over = \"eth0\"", "over = \"mv-c\"", 1)
        + "[macvlans.mv-c]\nhost = \"a\"\nover = \"eth0\"\naddress = \"198.18.3.1/24\"\n";
    check_text(&text, "\"mv-c\"", "`a:mv-c` is not the end of a wire", "the end of a wire");
    let text = MACVLAN.replace("[\"198.18.0.1/24\", \"198.18.0.2/24\"]", "[\"none\", \"198.18.0.2/24\"]")
        + "[bridges.br]\nhost = \"a\"\naddress = \"198.18.0.1/24\"\nports = [\"eth0\"]\n";
    check_text(&text, "over = \"eth0\"", "`a:eth0` is a port of the bridge `br`", "another");
}

#[test]
fn accepts_device_names_with_and_without_host() {
    let whole = MACVLAN.replacen("over = \"eth0\"", "over = \"a:eth0\"", 1).replacen(
        "over = \"eth0\"",
        "over = \"b:eth0\"",
        1,
    );
    assert_eq!(way(&whole), way(MACVLAN));
    let other = MACVLAN.replacen("over = \"eth0\"", "over = \"b:eth0\"", 1);
    check_text(&other, "\"b:eth0\"", "unknown device `b:eth0`", "eth0");
    let lab = |text: &str| Scenario::parse("quick", text).expect("the scenario parses").lab;
    let quick = scenario::builtin::find("quick").expect("built in").text;
    let whole = quick.replacen("over = \"eth0\"", "over = \"node1:eth0\"", 1);
    assert!(whole != quick && lab(&whole) == lab(quick));
}

#[test]
fn reports_macvlan_mtu_other_than_underlying_device() {
    let text = format!("{MACVLAN}[devices.\"a:mv-a\"]\nmtu = 1500\n");
    check_text(&text, "mtu = 1500", "`a:mv-a` has MTU 1500, but `a:eth0` has 9000", "same MTU");
}

fn vlan() -> String {
    let vlans = MACVLAN.replace("macvlan", "vlan").replace("over = \"eth0\"", "over = \"eth0\"\nid = 10");
    vlans
        + "[vlans.v20-a]\nhost = \"a\"\nover = \"eth0\"\nid = 20\naddress = \"198.18.2.1/24\"\n\
           [vlans.v20-b]\nhost = \"b\"\nover = \"eth0\"\nid = 20\nbridge = \"br\"\n\
           [bridges.br]\nhost = \"b\"\n[pods.pod]\nbridge = \"br\"\naddress = \"198.18.2.2/24\"\n\
           [paths.q]\nfrom = \"a:v20-a\"\nto = \"pod\"\nlayers = [\"vlan\", \"wire\", \"bridge\", \"veth\"]\n"
}

#[test]
fn frame_reaches_only_its_own_vlan() {
    assert_eq!(way(&vlan()), ["a:mv-a", "a:eth0", "b:eth0", "b:mv-b"]);
    let bridged = vlan().replace("[paths.p]", "[paths.p-]").replace("[paths.q]", "[paths.p]");
    assert_eq!(way(&bridged), ["a:v20-a", "a:eth0", "b:eth0", "b:v20-b", "b:br", "b:pod", "pod:eth0"]);
    let text = vlan().replacen("id = 10", "id = 11", 1);
    check_text(&text, "from = \"a:mv-a\"", "cannot be reached", "no device connected to `a:mv-a`");
    let untagged = vlan()
        .replace("198.18.2.1/24", "198.18.3.1/24")
        .replace("198.18.0.1/24", "198.18.2.8/24")
        .replace("198.18.0.2/24", "198.18.2.9/24")
        .replacen("from = \"a:v20-a\"", "from = \"a:eth0\"", 1);
    check_text(&untagged, "from = \"a:eth0\"", "cannot be reached", "no device connected to `a:eth0`");
}

#[test]
fn reports_invalid_vlans() {
    let text = vlan().replacen("id = 10", "id = 4095", 1);
    check_text(&text, "4095", "4095 is not a valid VLAN ID", "4094");
    let text = vlan().replacen("id = 20", "id = 10", 1);
    check_text(&text, "id = 10", "VLAN 10 on `a:eth0` is already used by `mv-a`", "another");
    let text = vlan().replace("bridge = \"br\"\n[bridges", "[bridges");
    check_text(&text, "v20-b", "the VLAN `v20-b` has neither an address nor a bridge", "");
}

/// The kernel rejects lower rates, so the check must catch them before a run.
#[test]
fn reports_wire_rate_out_of_range() {
    for rate in ["8bit/s", "1bit/s", "7.9kbit/s", "2000Gbit/s"] {
        let text = MACVLAN.replacen("mtu = 9000", &format!("mtu = 9000\nrate = \"{rate}\""), 1);
        check_text(&text, &format!("\"{rate}\""), "is out of range", "8.00 kbit/s to 1000 Gbit/s");
    }
    let slow = MACVLAN.replacen("mtu = 9000", "mtu = 9000\nrate = \"8kbit/s\"", 1);
    Scenario::parse("slow", &slow).expect("the lowest rate");
}
