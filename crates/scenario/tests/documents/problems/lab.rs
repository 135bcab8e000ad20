//! The lab: loops, addresses, MTUs, overlays, gateways, and ends that do not reach each other.

use scenario::Scenario;

use super::{changed, check, check_text};

#[test]
fn a_guest_behind_a_guest_behind_itself_is_a_cycle() {
    let more = "[bridges.inner]\nhost = \"app\"\n\n[bridges.outer]\nhost = \"web\"\n\n[pods.app]\nbridge = \"outer\"";
    let text = changed("quick", "[pods.app]\nbridge = \"cni0\"", more).replacen(
        "[pods.web]\nbridge = \"cni0\"",
        "[pods.web]\nbridge = \"inner\"",
        1,
    );
    let chain = "`app` is behind itself: `app`, which is behind `web`, which is behind `app`";
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
fn two_bridges_on_one_wire_are_fine_and_on_two_are_a_loop() {
    assert!(Scenario::parse("test", TWO_BRIDGES).is_ok(), "the second wire ends at a port on one side only");
    let text = TWO_BRIDGES.replace("ports = [\"eth0\"]", "ports = [\"eth0\", \"eth1\"]");
    check_text(&text, "between = ", "closes a loop of bridges", "no spanning tree");
}

#[test]
fn an_address_is_given_once() {
    let (from, to) = ("address = \"198.18.64.11/24\"", "address = \"198.18.64.10/24\"");
    check("quick", (from, to), to, "198.18.64.10 is taken: app:eth0 has it already", "of its own");
    let (from, to) = ("address = \"198.18.2.100\"", "address = \"198.18.2.2\"");
    check("quick", (from, to), to, "198.18.2.2 is taken: target:eth0", "of its own");
}

#[test]
fn networks_of_two_devices_of_one_host_must_not_overlap() {
    let (from, to) = ("[\"198.18.2.1/24\", \"198.18.2.2/24\"]", "[\"198.18.1.129/25\", \"198.18.1.130/25\"]");
    check(
        "quick",
        (from, to),
        to,
        "the networks of `egress:eth1` (198.18.1.128/25) and `egress:eth0`",
        "another prefix",
    );
}

#[test]
fn only_addresses_for_benchmarks_are_taken() {
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"10.0.0.10/24\"");
    check("quick", (from, to), to, "10.0.0.10 is outside 198.18.0.0/15", "198.19.255.254");
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"198.18.64.0/24\"");
    check("quick", (from, to), to, "network's own", "");
}

#[test]
fn an_address_that_cannot_be_read_gets_an_example() {
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"198.18.64.10\"");
    check("quick", (from, to), to, "is not an IPv4 address with its prefix length", "");
}

#[test]
fn a_prefix_length_that_no_address_has_is_said_to_be_out_of_range() {
    let (from, to) = ("address = \"198.18.64.10/24\"", "address = \"198.18.64.10/33\"");
    check("quick", (from, to), to, "the prefix length of `198.18.64.10/33` is out of range", "");
}

/// Two pods on one bridge, a path between them.
fn two_pods(first: &str, second: &str) -> String {
    format!(
        "schema = 1\nname = \"pods\"\ntitle = \"Pods\"\n\n[hosts.node]\n\n[bridges.br0]\nhost = \"node\"\n\n\
         [pods.one]\nbridge = \"br0\"\naddress = \"{first}\"\n\n[pods.two]\nbridge = \"br0\"\naddress = \"{second}\"\n\n\
         [paths.pods]\nfrom = \"one\"\nto = \"two\"\nlayers = [\"veth\", \"bridge\"]\nbaseline = true\n\n\
         [workloads.stream]\nkind = \"stream\"\nduration = \"1s\"\n"
    )
}

#[test]
fn an_address_in_another_network_of_the_segment_is_pointed_at() {
    check_text(
        &two_pods("198.18.64.1/24", "198.18.65.2/24"),
        "198.18.65.2/24",
        "`two` (198.18.65.2) cannot be reached from `one`",
        "write an address of 198.18.64.0/24, as `198.18.64.2/24`",
    );
}

#[test]
fn networks_of_different_sizes_on_one_segment_are_told_and_taken() {
    let said = |second: &str| {
        let scenario = Scenario::parse("test", &two_pods("198.18.64.10/24", second)).expect("it is right");
        scenario::uneven_networks(&scenario.lab)
    };
    assert!(said("198.18.64.11/24").is_empty());
    let told = said("198.18.64.11/29");
    assert!(told.len() == 1 && told[0].contains("`two:eth0` has 198.18.64.11/29"), "{told:?}");
    for shipped in scenario::builtin::all() {
        let scenario = Scenario::parse(shipped.name, shipped.text).expect("shipped");
        assert_eq!(scenario::uneven_networks(&scenario.lab), [""; 0], "{}", shipped.name);
    }
}

#[test]
fn workloads_that_are_not_pinned_are_told_and_taken() {
    let unpinned = |scenario: &Scenario| {
        let plan = scenario::Plan::expand(scenario, 0, &scenario::PlanOptions::default());
        scenario::unpinned_workloads(scenario, &plan).into_iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let text = two_pods("198.18.64.1/24", "198.18.64.2/24");
    let parsed = |text: &str| Scenario::parse("test", text).expect("it is right");
    assert_eq!(unpinned(&parsed(&text)), ["stream"]);
    assert_eq!(unpinned(&parsed(&format!("{text}placement = \"cross-cpu\"\n"))), [""; 0]);
    let varied = "\n[factors.placement]\nvary = \"placement\"\nvalues = [\"free\", \"cross-cpu\"]\n";
    assert_eq!(unpinned(&parsed(&format!("{text}{varied}"))), [""; 0]);
    for shipped in scenario::builtin::all() {
        let scenario = Scenario::parse(shipped.name, shipped.text).expect("shipped");
        assert_eq!(unpinned(&scenario), [""; 0], "{}", shipped.name);
    }
}

#[test]
fn the_ends_of_a_wire_share_a_network() {
    let (from, to) = ("\"198.18.2.2/24\"]", "\"198.18.3.2/24\"]");
    check("quick", (from, to), to, "the ends of the wire `uplink` are in different networks", "");
}

#[test]
fn an_mtu_must_fit_the_tunnel() {
    check(
        "quick",
        ("vni = 100", "vni = 100\nmtu = 1500"),
        "mtu = 1500",
        "does not fit the tunnel",
        "take 1450 or less",
    );
    check("quick", ("mtu = 1450", "mtu = 70000"), "mtu = 70000", "out of range", "65535");
}

#[test]
fn guests_and_their_bridge_share_an_mtu() {
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
fn an_mtu_factor_sets_every_device_of_the_segment() {
    let (from, to) = (", \"pve:server\", \"server:eth0\"", "");
    check(
        "bridge-streams",
        (from, to),
        "values = [1500, 9000]",
        "at this value of `mtu`",
        "list every device",
    );
}

#[test]
fn a_path_without_a_way_there_says_where_a_packet_stops() {
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
fn a_path_without_a_way_back_says_where_a_reply_stops() {
    let path =
        "[paths.back]\nfrom = \"app\"\nto = \"egress:eth0\"\nlayers = [\"veth\"]\n\n[paths.pod-to-pod]";
    let gateway = "[gateways.egw]\nnode = \"node1\"\npods = \"198.18.64.0/24\"\ndestinations = \"198.18.2.0/24\"\n\
                   tunnel = \"vx0\"\negress = \"egress\"\ndevice = \"eth1\"\naddress = \"198.18.2.100\"\n";
    let text = changed("quick", "[paths.pod-to-pod]", path).replacen(gateway, "", 1);
    check_text(
        &text,
        "to = \"egress:eth0\"",
        "its replies do not come back",
        "stops at `egress`, which has no route",
    );
}

#[test]
fn two_devices_in_one_network_that_nothing_connects_do_not_reach_each_other() {
    let more = "[bridges.here]\nhost = \"node1\"\naddress = \"198.18.99.1/24\"\n\
                [bridges.there]\nhost = \"target\"\naddress = \"198.18.99.2/24\"\n\
                [paths.gap]\nfrom = \"node1:here\"\nto = \"target:there\"\nlayers = [\"wire\"]\n\n[paths.pod-to-pod]";
    let help = "nobody that `node1:here` is connected to has the address 198.18.99.2";
    check("quick", ("[paths.pod-to-pod]", more), "from = \"node1:here\"", "cannot be reached", help);
}

#[test]
fn a_tunnel_leaves_by_the_device_that_it_is_over() {
    let (from, to) = ("over = \"eth0\"", "over = \"cni0\"");
    let help = "the tunnel is over `node1:cni0`, but the route to its end leaves by `node1:eth0`";
    check("quick", (from, to), to, "the tunnel `vx0` of `node1` cannot reach `egress`", help);
}

#[test]
fn a_tunnel_inside_itself_is_found() {
    let text = changed("proxmox-vxlan", "over = \"eth0\"", "over = \"vnet0\"")
        .replace("over = \"eth0\"", "over = \"vnet0\"");
    let text = text
        .replace("vni = 100", "vni = 100\nmtu = 576")
        .replace("[bridges.green-vnet]", "[bridges.green-vnet]\nmtu = 576");
    let text = text.replace("[bridges.black-vnet]", "[bridges.black-vnet]\nmtu = 576");
    check_text(&text, "mtu = 576", "does not fit the tunnel", "");
    check_text(&text, "over = ", "cannot reach", "tunnels inside each other");
}

#[test]
fn routes_in_a_circle_are_found() {
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
fn a_vni_is_given_once_on_a_port_of_a_host() {
    let more = "[vxlans.vx1]\nvni = 100\n[vxlans.vx1.members.node1]\nover = \"eth0\"\naddress = \"198.18.129.1/24\"\n\
                [vxlans.vx1.members.egress]\nover = \"eth0\"\naddress = \"198.18.129.2/24\"\n\n[gateways.egw]";
    check(
        "quick",
        ("[gateways.egw]", more),
        "vni = 100",
        "VNI 100 on port 4789 is taken by `vx0`",
        "another VNI",
    );
    let other_port = more.replace("vni = 100\n", "vni = 100\nport = 4790\n");
    assert!(Scenario::parse("test", &changed("quick", "[gateways.egw]", &other_port)).is_ok());
}

#[test]
fn an_overlay_has_members_with_one_way_in_each() {
    let (from, to) = ("address = \"198.18.128.1/24\"", "bridge = \"cni0\"\naddress = \"198.18.128.1/24\"");
    check("quick", (from, to), "bridge = \"cni0\"", "has both an address and a bridge", "");
    let (from, to) = ("over = \"eth0\"\nbridge = \"green-vnet\"", "over = \"eth0\"");
    check("proxmox-vxlan", (from, to), "members.pmx-green", "has neither an address nor a bridge", "");
    let (from, to) = ("bridge = \"green-vnet\"\n\n", "bridge = \"black-vnet\"\n\n");
    check("proxmox-vxlan", (from, to), to.trim(), "is in `pmx-black`, not in `pmx-green`", "");
    check("quick", ("vni = 100", "vni = 16777216"), "vni", "not a VXLAN network identifier", "16777215");
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
fn a_gateway_leaves_with_an_address_that_its_device_answers_for() {
    let (from, to) = ("address = \"198.18.2.100\"", "address = \"198.18.3.100\"");
    check("quick", (from, to), to, "198.18.3.100 is not in the network of `egress:eth1`", "replies");
    let (from, to) = ("pods = \"198.18.64.0/24\"", "pods = \"198.18.64.7/24\"");
    check("quick", (from, to), to, "bits of a host", "write 198.18.64.0/24");
    check(
        "quick",
        ("egress = \"egress\"", "egress = \"target\""),
        "egress = \"target\"",
        "no address in the overlay",
        "",
    );
}

#[test]
fn a_next_hop_is_a_neighbour() {
    let (from, to) = ("gateway = \"198.18.64.1\"", "gateway = \"198.18.1.1\"");
    check("quick", (from, to), to, "`app` cannot reach the next hop 198.18.1.1 directly", "own networks");
    let (from, to) = ("gateway = \"198.18.64.1\"", "gateway = \"198.18.64.77\"");
    check("quick", (from, to), to, "nobody has the address 198.18.64.77", "");
}

#[test]
fn devices_have_sizes_that_the_kernel_takes() {
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\nbig-tcp = \"1MiB\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "big-tcp", "a largest packet of 1.00 MiB is out of range", "512KiB");
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eht0\"]\ntso = \"off\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "eht0", "`node1` has no device `eht0`", "did you mean `eth0`?");
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\ntsoo = \"off\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "tsoo", "unknown key `tsoo`", "did you mean `tso`?");
    let (from, to) = ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\nmtu = 100\n\n[paths.node-to-node]");
    check("quick", (from, to), "mtu = 100", "an MTU of 100 is out of range", "576 to 65535");
}
