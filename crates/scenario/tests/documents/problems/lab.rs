//! Tests problems in the lab: loops, addresses, MTUs, overlays, gateways and unreachable ends.

use scenario::Scenario;

use super::{changed, check, check_text};

#[test]
fn reports_guest_nested_in_itself() {
    let more = "[bridges.inner]\nhost = \"app\"\n\n[bridges.outer]\nhost = \"web\"\n\n[pods.app]\nbridge = \"outer\"";
    let text = changed("quick", "[pods.app]\nbridge = \"cni0\"", more).replacen(
        "[pods.web]\nbridge = \"cni0\"",
        "[pods.web]\nbridge = \"inner\"",
        1,
    );
    let chain = "`app` is attached to itself: `app`, which is attached to `web`, which is attached to `app`";
    check_text(&text, "bridge = \"outer\"", chain, "another host");
}

const TWO_BRIDGES: &str = r#"
schema = 1
name = "loop"
title = "two wires between two bridges"
[hosts.a]
[hosts.b]
[wires.one]
between = ["a:eth0", "b:eth0"]
[wires.two]
between = ["a:eth1", "b:eth1"]
[bridges.br-a]
host = "a"
address = "198.18.0.1/24"
ports = ["eth0", "eth1"]
[bridges.br-b]
host = "b"
address = "198.18.0.2/24"
ports = ["eth0"]
[paths.p]
from = "a"
to = "b"
layers = ["bridge", "wire"]
baseline = true
[workloads.w]
kind = "stream"
"#;

#[test]
fn reports_loop_of_two_bridges_and_two_wires() {
    assert!(
        Scenario::parse("test", TWO_BRIDGES).is_ok(),
        "the second wire ends at a bridge port only on one side"
    );
    let text = TWO_BRIDGES.replace("ports = [\"eth0\"]", "ports = [\"eth0\", \"eth1\"]");
    check_text(&text, "between = ", "closes a layer-2 loop", "spanning tree");
}

#[test]
fn reports_duplicate_address() {
    let (from, to) = ("address = \"198.18.64.11/24\"", "address = \"198.18.64.10/24\"");
    check("quick", (from, to), to, "198.18.64.10 is already used by app:eth0", "its own address");
    let (from, to) = ("address = \"198.18.2.100\"", "address = \"198.18.2.2\"");
    check("quick", (from, to), to, "198.18.2.2 is already used by target:eth0", "its own address");
}

#[test]
fn reports_overlapping_networks_on_a_host() {
    let (from, to) = ("[\"198.18.2.1/24\", \"198.18.2.2/24\"]", "[\"198.18.1.129/25\", \"198.18.1.130/25\"]");
    check(
        "quick",
        (from, to),
        to,
        "the networks of `egress:eth1` (198.18.1.128/25) and `egress:eth0`",
        "a different prefix",
    );
}

#[test]
fn reports_address_outside_benchmark_range() {
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"10.0.0.10/24\"");
    check("quick", (from, to), to, "10.0.0.10 is outside 198.18.0.0/15", "198.19.255.254");
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"198.18.64.0/24\"");
    check("quick", (from, to), to, "network or broadcast address", "");
}

#[test]
fn reports_address_without_prefix_length() {
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"198.18.64.10\"");
    check("quick", (from, to), to, "is not an IP address with its prefix length", "");
}

#[test]
fn reports_prefix_length_out_of_range() {
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"198.18.64.10/33\"");
    check("quick", (from, to), to, "the prefix length of `198.18.64.10/33` is out of range", "");
}

fn two_pods(first: &str, second: &str) -> String {
    format!(
        "schema = 1\nname = \"pods\"\ntitle = \"Pods\"\n\n[hosts.node]\n\n[bridges.br0]\nhost = \"node\"\n\n\
         [pods.one]\nbridge = \"br0\"\naddress = \"{first}\"\n\n[pods.two]\nbridge = \"br0\"\naddress = \"{second}\"\n\n\
         [paths.pods]\nfrom = \"one\"\nto = \"two\"\nlayers = [\"veth\", \"bridge\"]\nbaseline = true\n\n\
         [workloads.stream]\nkind = \"stream\"\nduration = \"1s\"\n"
    )
}

#[test]
fn suggests_address_in_network_of_segment() {
    check_text(
        &two_pods("198.18.64.1/24", "198.18.65.2/24"),
        "198.18.65.2/24",
        "`two` (198.18.65.2) cannot be reached from `one`",
        "use an address in 198.18.64.0/24, e.g. `198.18.64.2/24`",
    );
}

#[test]
fn warns_about_different_prefix_lengths_on_a_segment() {
    let warnings = |second: &str| {
        let scenario =
            Scenario::parse("test", &two_pods("198.18.64.10/24", second)).expect("the scenario is valid");
        scenario::uneven_networks(&scenario.lab)
    };
    assert!(warnings("198.18.64.11/24").is_empty());
    let found = warnings("198.18.64.11/29");
    assert!(found.len() == 1 && found[0].contains("`two:eth0` has 198.18.64.11/29"), "{found:?}");
    for builtin in scenario::builtin::all() {
        let scenario = Scenario::parse(builtin.name, builtin.text).expect("built in");
        assert_eq!(scenario::uneven_networks(&scenario.lab), [""; 0], "{}", builtin.name);
    }
}

#[test]
fn lists_unpinned_workloads() {
    let unpinned = |scenario: &Scenario| {
        let plan = scenario::Plan::expand(scenario, 0, &scenario::PlanOptions::default());
        scenario::unpinned_workloads(scenario, &plan).into_iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let text = two_pods("198.18.64.1/24", "198.18.64.2/24");
    let parsed = |text: &str| Scenario::parse("test", text).expect("the scenario is valid");
    assert_eq!(unpinned(&parsed(&text)), ["stream"]);
    assert_eq!(unpinned(&parsed(&format!("{text}placement = \"cross-cpu\"\n"))), [""; 0]);
    let varied = "\n[factors.placement]\nvary = \"placement\"\nvalues = [\"free\", \"cross-cpu\"]\n";
    assert_eq!(unpinned(&parsed(&format!("{text}{varied}"))), [""; 0]);
    for builtin in scenario::builtin::all() {
        let scenario = Scenario::parse(builtin.name, builtin.text).expect("built in");
        assert_eq!(unpinned(&scenario), [""; 0], "{}", builtin.name);
    }
}

#[test]
fn reports_wire_ends_in_different_networks() {
    let (from, to) = ("\"198.18.2.2/24\"]", "\"198.18.3.2/24\"]");
    check("quick", (from, to), to, "the ends of the wire `uplink` are in different networks", "");
}

#[test]
fn reports_mtu_too_large_for_tunnel() {
    check(
        "quick",
        ("vni = 100", "vni = 100\nmtu = 1500"),
        "mtu = 1500",
        "is too large",
        "use an MTU of at most 1450",
    );
    check("quick", ("mtu = 1450", "mtu = 70000"), "mtu = 70000", "out of range", "65535");
}

#[test]
fn reports_mtu_mismatch_of_guest_and_bridge() {
    let (from, to) = ("[pods.app]\n", "[pods.app]\nmtu = 9000\n");
    check(
        "quick",
        (from, to),
        "mtu = 9000",
        "`node1:app` has MTU 9000, but `node1:cni0` has 1450",
        "same MTU",
    );
}

#[test]
fn reports_mtu_factor_without_all_devices_of_segment() {
    let (from, to) = (", \"pve:server\", \"server:eth0\"", "");
    check(
        "bridge-streams",
        (from, to),
        "values = [1500, 9000]",
        "with this value of `mtu`",
        "list all devices",
    );
}

#[test]
fn reports_where_a_packet_stops() {
    let (from, to) =
        ("address = \"198.18.64.10/24\"\ngateway = \"198.18.64.1\"", "address = \"198.18.64.10/24\"");
    check(
        "quick",
        (from, to),
        "from = \"app\"",
        "cannot be reached",
        "it stops at `app`, which has no route to 198.18",
    );
}

#[test]
fn reports_where_a_reply_stops() {
    let path =
        "[paths.back]\nfrom = \"app\"\nto = \"egress:eth0\"\nlayers = [\"veth\"]\n\n[paths.pod-to-pod]";
    let gateway = "[gateways.egw]\nnode = \"node1\"\npods = \"198.18.64.0/24\"\ndestinations = \"198.18.2.0/24\"\n\
                   tunnel = \"vx0\"\negress = \"egress\"\ndevice = \"eth1\"\naddress = \"198.18.2.100\"\n";
    let text = changed("quick", "[paths.pod-to-pod]", path).replacen(gateway, "", 1);
    check_text(
        &text,
        "to = \"egress:eth0\"",
        "replies do not return",
        "stops at `egress`, which has no route",
    );
}

#[test]
fn reports_unconnected_devices_in_one_network() {
    let more = "[bridges.here]\nhost = \"node1\"\naddress = \"198.18.99.1/24\"\n\
                [bridges.there]\nhost = \"target\"\naddress = \"198.18.99.2/24\"\n\
                [paths.gap]\nfrom = \"node1:here\"\nto = \"target:there\"\nlayers = [\"wire\"]\n\n[paths.pod-to-pod]";
    let help = "no device connected to `node1:here` has the address 198.18.99.2";
    check("quick", ("[paths.pod-to-pod]", more), "from = \"node1:here\"", "cannot be reached", help);
}

#[test]
fn reports_tunnel_routed_over_another_device() {
    let (from, to) = ("over = \"eth0\"", "over = \"cni0\"");
    let help = "the tunnel uses `node1:cni0`, but the route to its far end uses `node1:eth0`";
    check("quick", (from, to), to, "the tunnel `vx0` of `node1` cannot reach `egress`", help);
}

#[test]
fn reports_tunnel_nested_in_itself() {
    let text = changed("proxmox-vxlan", "over = \"eth0\"", "over = \"vnet0\"")
        .replace("over = \"eth0\"", "over = \"vnet0\"");
    let text = text
        .replace("vni = 100", "vni = 100\nmtu = 576")
        .replace("[bridges.green-vnet]", "[bridges.green-vnet]\nmtu = 576");
    let text = text.replace("[bridges.black-vnet]", "[bridges.black-vnet]\nmtu = 576");
    check_text(&text, "mtu = 576", "is too large", "");
    check_text(&text, "over = ", "cannot reach", "nested tunnels");
}

#[test]
fn reports_routing_loop() {
    let routes = "[[routes]]\nhost = \"node1\"\nto = \"198.18.2.0/24\"\nvia = \"198.18.1.2\"\n\
                  [[routes]]\nhost = \"egress\"\nto = \"198.18.99.0/24\"\nvia = \"198.18.1.1\"\n\
                  [[routes]]\nhost = \"node1\"\nto = \"198.18.99.0/24\"\nvia = \"198.18.1.2\"\n\
                  [bridges.far]\nhost = \"target\"\naddress = \"198.18.99.1/24\"\n\
                  [paths.circle]\nfrom = \"app\"\nto = \"target:far\"\nlayers = [\"wire\"]\n\n[paths.pod-to-pod]";
    check(
        "quick",
        ("[paths.pod-to-pod]", routes),
        "from = \"app\"",
        "cannot be reached",
        "the routes form a loop",
    );
}

#[test]
fn reports_duplicate_vni() {
    let more = "[vxlans.vx1]\nvni = 100\n[vxlans.vx1.members.node1]\nover = \"eth0\"\naddress = \"198.18.129.1/24\"\n\
                [vxlans.vx1.members.egress]\nover = \"eth0\"\naddress = \"198.18.129.2/24\"\n\n[gateways.egw]";
    check(
        "quick",
        ("[gateways.egw]", more),
        "vni = 100",
        "VNI 100 on port 4789 is already used by `vx0`",
        "another VNI",
    );
    let other_port = more.replace("vni = 100\n", "vni = 100\nport = 4790\n");
    assert!(Scenario::parse("test", &changed("quick", "[gateways.egw]", &other_port)).is_ok());
}

#[test]
fn reports_invalid_overlay_members() {
    let (from, to) = ("address = \"198.18.128.1/24\"", "bridge = \"cni0\"\naddress = \"198.18.128.1/24\"");
    check("quick", (from, to), "bridge = \"cni0\"", "has both an address and a bridge", "");
    let (from, to) = ("over = \"eth0\"\nbridge = \"green-vnet\"", "over = \"eth0\"");
    check("proxmox-vxlan", (from, to), "members.pmx-green", "has neither an address nor a bridge", "");
    let (from, to) = ("bridge = \"green-vnet\"\n\n", "bridge = \"black-vnet\"\n\n");
    check("proxmox-vxlan", (from, to), to.trim(), "is on `pmx-black`, not on `pmx-green`", "");
    check("quick", ("vni = 100", "vni = 16777216"), "vni", "16777216 is not a valid VNI", "16777215");
    let (from, to) =
        ("over = \"eth0\"\naddress = \"198.18.128.2/24\"", "over = \"eth1\"\naddress = \"198.18.128.2/24\"");
    check(
        "quick",
        (from, to),
        "over = \"eth0\"",
        "the tunnel `vx0` of `node1` cannot reach `egress`",
        "no route to 198.18.2.1",
    );
}

#[test]
fn reports_invalid_gateway_addresses() {
    let (from, to) = ("address = \"198.18.2.100\"", "address = \"198.18.3.100\"");
    check("quick", (from, to), to, "198.18.3.100 is not in the network of `egress:eth1`", "replies");
    let (from, to) = ("pods = \"198.18.64.0/24\"", "pods = \"198.18.64.7/24\"");
    check("quick", (from, to), to, "has host bits set", "write 198.18.64.0/24");
    check(
        "quick",
        ("egress = \"egress\"", "egress = \"target\""),
        "egress = \"target\"",
        "no address in the overlay",
        "",
    );
}

#[test]
fn reports_unreachable_next_hop() {
    let (from, to) = ("gateway = \"198.18.64.1\"", "gateway = \"198.18.1.1\"");
    check(
        "quick",
        (from, to),
        to,
        "`app` cannot reach the next hop 198.18.1.1 directly",
        "of the host's networks",
    );
    let (from, to) = ("gateway = \"198.18.64.1\"", "gateway = \"198.18.64.77\"");
    check("quick", (from, to), to, "no device has the address 198.18.64.77", "");
}

#[test]
fn reports_invalid_device_settings() {
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\nbig-tcp = \"1MiB\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "big-tcp", "a maximum packet size of 1.00 MiB is out of range", "512KiB");
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eht0\"]\ntso = \"off\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "eht0", "`node1` has no device `eht0`", "did you mean `eth0`?");
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\ntsoo = \"off\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "tsoo", "unknown key `tsoo`", "did you mean `tso`?");
    let (from, to) = ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\nmtu = 100\n\n[paths.node-to-node]");
    check("quick", (from, to), "mtu = 100", "an MTU of 100 is out of range", "576 to 65535");
}

#[test]
fn reports_faults_that_cannot_be_built() {
    let placed = |fault: &str, device: &str, name: &str| {
        let at = "[paths.node-to-node]";
        (at, format!("[faults.slow]\n{fault}\n[devices.\"{device}\"]\nfault = \"{name}\"\n\n{at}"))
    };
    for (fault, device, name, line, message, help) in [
        ("kind = \"mtu-hole\"\nmtu = 1400", "node1:eth0", "slwo", "slwo", "unknown fault `slwo`", "`slow`"),
        ("kind = \"impairment\"", "node1:eth0", "slow", "impairment", "changes nothing", "`delay`, `loss`"),
        ("kind = \"impairment\"\ndelay = \"2s\"", "node1:eth0", "slow", "2s", "out of range", "1.00 s"),
        (
            "kind = \"impairment\"\nloss = \"1%\"\njitter = \"1ms\"",
            "node1:eth0",
            "slow",
            "impairment",
            "`jitter` is",
            "delay",
        ),
        (
            "kind = \"impairment\"\nloss = \"1%\"\nreorder = \"1%\"",
            "node1:eth0",
            "slow",
            "impairment",
            "`reorder` has",
            "delay",
        ),
        (
            "kind = \"mtu-hole\"\nmtu = 1400\nloss = \"1%\"",
            "node1:eth0",
            "slow",
            "1%",
            "has no `loss`",
            "remove",
        ),
        ("kind = \"mtu-hole\"", "node1:eth0", "slow", "mtu-hole", "`mtu` is missing", "add `mtu"),
        ("kind = \"mtu-hole\"\nmtu = 99", "node1:eth0", "slow", "99", "of 99 is out of range", "576"),
        ("kind = \"icmp-hole\"\nmtu = 900", "node1:eth0", "slow", "900", "has no `mtu`", "remove `mtu`"),
        ("kind = \"cpu-limit\"\ncpu = \"0.1%\"", "node1:eth0", "slow", "0.1%", "out of range", "1.00 %"),
        (
            "kind = \"conntrack-full\"\nconnections = 64",
            "node1:eth0",
            "slow",
            "[devices.",
            "`node1` is not a virtual machine",
            "a guest with `vm`",
        ),
        ("kind = \"snat-ports\"\nports = 0", "node1:eth0", "slow", "0", "of 0 is out of range", "1 to 20000"),
    ] {
        let (from, to) = placed(fault, device, name);
        check("quick", (from, &to), line, message, help);
    }
}

#[test]
fn reports_second_cpu_limit_of_a_host() {
    let limited = |rest: &str| {
        let faults = "[faults.slow]\nkind = \"cpu-limit\"\ncpu = \"10%\"\n[faults.slower]\n\
                      kind = \"cpu-limit\"\ncpu = \"5%\"\n[devices.\"node1:eth0\"]\nfault = \"slow\"";
        changed("quick", "[paths.node-to-node]", &format!("{faults}\n{rest}\n[paths.node-to-node]"))
    };
    let other = "[devices.\"node1:vx0\"]\nfault = ";
    check_text(
        &limited(&format!("{other}\"slower\"")),
        "node1:vx0",
        "`node1` has another CPU limit at `node1:eth0`",
        "on the same device",
    );
    Scenario::parse("test", &limited(&format!("{other}\"slow\""))).expect("the same limit");
}

#[test]
fn reports_fault_that_would_replace_the_rate_of_a_wire() {
    let wire = "between = [\"node1:eth0\"";
    let text = changed("quick", wire, &format!("rate = \"1Gbit/s\"\n{wire}"));
    let path = "[paths.node-to-node]";
    for (device, is_reported) in [("node1:eth0", true), ("egress:eth0", true), ("egress:eth1", false)] {
        let fault = format!(
            "[faults.hole]\nkind = \"mtu-hole\"\nmtu = 1400\n[devices.\"{device}\"]\nfault = \"hole\"\n\n{path}"
        );
        let text = text.replacen(path, &fault, 1);
        if is_reported {
            check_text(&text, device, "already has a rate limit", "remove `rate`");
        } else {
            Scenario::parse("test", &text).expect("this wire has no rate");
        }
    }
}

#[test]
fn fault_is_found_by_its_name() {
    let text = changed(
        "quick",
        "[paths.node-to-node]",
        "[faults.slow]\nkind = \"policed-port\"\nrate = \"500Mbit/s\"\n[devices.\"node1:eth0\"]\n\
         fault = \"slow\"\n\n[paths.node-to-node]",
    );
    let scenario = Scenario::parse("test", &text).expect("a valid scenario");
    let placed = scenario.lab.devices[&"node1:eth0".parse().expect("a device")].fault.clone();
    let fault = placed.and_then(|placed| placed.fault);
    assert_eq!(fault, Some(scenario::Fault::PolicedPort { bits_per_second: 500_000_000 }));
}

fn check_families(name: &str, families: &str, (from, to): (&str, &str), at: &str, message: &str, help: &str) {
    let text = changed(name, from, to).replacen("[hosts", &format!("family = {families}\n\n[hosts"), 1);
    check_text(&text, at, message, help);
}

const BOTH: &str = "[\"ipv4\", \"ipv6\"]";

#[test]
fn reports_mtu_too_small_for_ipv6() {
    let (from, to) = ("between = [\"egress:eth1\"", "mtu = 1279\nbetween = [\"egress:eth1\"");
    let message = "MTU 1279 of `egress:eth1` is too small for 2001:2::c612:201/120: ipv6 needs 1280";
    check_families("quick", BOTH, (from, to), "1279", message, "removes the device's addresses");
}

#[test]
fn reports_addresses_of_different_families() {
    let (from, to) = ("destinations = \"198.18.2.0/24\"", "destinations = \"2001:2:0:2::/64\"");
    check("quick", (from, to), to, "are in different address families", "one gateway for each family");
    let (from, to) = (
        "[paths.pod-to-pod]",
        "[[routes]]\nhost = \"app\"\nto = \"2001:2:0:9::/64\"\nvia = \"198.18.64.1\"\n\n[paths.pod-to-pod]",
    );
    check(
        "quick",
        (from, to),
        "via = \"198.18.64.1\"",
        "is not in the address family of 2001:2:0:9::/64",
        "",
    );
}

#[test]
fn reports_link_local_addresses() {
    for (to, message) in [
        ("address = \"fe80::1/64\"", "fe80::1 is a link-local address"),
        ("address = \"fe80::1%eth0/64\"", "`fe80::1%eth0/64` is a link-local address"),
    ] {
        check("quick", ("address = \"198.18.64.11/24\"", to), to, message, "");
    }
}

#[test]
fn reports_ipv6_addresses_without_counterpart() {
    let (from, to) = ("address = \"198.18.64.11/24\"", "address = \"2001:2:0:1::11/64\"");
    let message = "but 2001:2:0:1::11/64 has no ipv4 counterpart";
    check_families("quick", BOTH, (from, to), to, message, "2001:2::198.18.1.1");
}

#[test]
fn reports_invalid_families() {
    let unchanged = ("[hosts.node1]", "[hosts.node1]");
    check_families("quick", "[]", unchanged, "[]", "`family` has no values", "write `family");
    check_families("quick", "[\"ipv6\", \"ipv6\"]", unchanged, "\"ipv6\"]", "duplicate value `ipv6`", "");
    let (from, to) = ("[factors.streams]", "[factors.family]");
    check_families(
        "bridge-streams",
        BOTH,
        (from, to),
        "family]",
        "already creates a factor with this name",
        "another name",
    );
}
