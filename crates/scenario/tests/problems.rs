//! What is said of wrong scenarios, and at which line. Each case is a change to a scenario that is right.

use scenario::{Place, Scenario, builtin};

/// Changes `from` to `to` in a shipped scenario, once.
fn changed(name: &str, from: &str, to: &str) -> String {
    let text = builtin::find(name).expect("shipped").text;
    assert!(text.contains(from), "the case is out of date: {name} has no {from}");
    text.replacen(from, to, 1)
}

fn problems(text: &str) -> Vec<Place> {
    match Scenario::parse("test", text) {
        Ok(_) => panic!("nothing was found wrong"),
        Err(diagnosis) => diagnosis.problems().collect(),
    }
}

/// The change must give a problem with that message and that help, in a line that contains `at`.
#[track_caller]
fn check(name: &str, (from, to): (&str, &str), at: &str, message: &str, help: &str) {
    check_text(&changed(name, from, to), at, message, help);
}

#[track_caller]
fn check_text(text: &str, at: &str, message: &str, help: &str) {
    let problems = problems(text);
    let found = problems.iter().find(|problem| problem.message.contains(message));
    let problem = found.unwrap_or_else(|| panic!("no `{message}` among {problems:#?}"));
    let line = text.lines().nth(problem.line - 1).unwrap_or_default();
    assert!(line.contains(at), "line {} is `{line}`, not `{at}`", problem.line);
    let given = problem.help.as_deref().unwrap_or_default();
    assert!(given.contains(help), "the help is `{given}`, not `{help}`");
}

#[test]
fn an_unknown_key_gets_the_nearest_key() {
    let at = "duraton = \"800ms\"";
    check("quick", ("duration = \"800ms\"", at), at, "unknown key `duraton`", "did you mean `duration`?");
}

#[test]
fn an_unknown_table_gets_the_nearest_table() {
    check("quick", ("[pods.app]", "[pod.app]"), "[pod.app]", "unknown key `pod`", "did you mean `pods`?");
}

#[test]
fn every_unknown_key_of_a_table_is_told() {
    let text = changed("quick", "kind = \"stream\"", "kind = \"stream\"\nstrems = 2\nmesage = 64");
    let messages: Vec<String> = problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages, ["unknown key `strems`", "unknown key `mesage`"]);
}

#[test]
fn mistakes_in_different_tables_are_told_together_and_in_order() {
    let text = changed("quick", "mtu = 1450", "mtuu = 1450").replacen("vni = 100", "vni = \"x\"", 1);
    let lines: Vec<usize> = problems(&text).into_iter().map(|problem| problem.line).collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0] < lines[1]);
}

#[test]
fn a_value_that_cannot_be_read_does_not_hide_what_is_wrong_elsewhere() {
    let text = changed("quick", "duration = \"800ms\"", "duration = \"800mb\"").replacen(
        "trials = 5",
        "trials = 0",
        1,
    );
    let text =
        text.replacen("vni = 100", "vni = 0", 1).replacen("duration = \"400ms\"", "duration = \"4ns\"", 1);
    let messages: Vec<String> = problems(&text).into_iter().map(|problem| problem.message).collect();
    assert_eq!(messages.len(), 4, "{messages:#?}");
}

#[test]
fn what_cannot_be_read_is_not_told_to_be_missing() {
    for (from, to) in [
        ("[hosts.egress]", "[hosts.egress]\nx = 1"),
        ("vni = 100", "vni = \"a\""),
        ("baseline = true", "baseline = 1"),
        ("[pods.app]", "[pod.app]"),
        ("bridge = \"cni0\"", "bridge = 5"),
    ] {
        assert_eq!(problems(&changed("quick", from, to)).len(), 1, "{to}");
    }
}

#[test]
fn broken_toml_is_told_with_its_place() {
    check("quick", ("vni = 100", "vni = "), "vni =", "not valid TOML", "");
    check("quick", ("[pods.app]", "[pods.app"), "[pods.app", "not valid TOML", "");
}

#[test]
fn a_word_that_is_not_one_of_the_words_gets_the_nearest() {
    let at = "kind = \"streem\"";
    check(
        "quick",
        ("kind = \"stream\"", at),
        at,
        "`streem` is not one of the words",
        "did you mean `stream`?",
    );
    let at = "layers = [\"veth\", \"brigde\"]";
    check("quick", ("layers = [\"veth\", \"bridge\"]", at), at, "`brigde`", "did you mean `bridge`?");
}

#[test]
fn a_value_of_another_type_is_told_in_plain_words() {
    for (from, to, message) in [
        ("vni = 100", "vni = \"100\"", "expected a whole number, not string \"100\""),
        ("vni = 100", "vni = -1", "expected a whole number, not integer `-1`"),
        ("bridge = \"cni0\"", "bridge = [\"cni0\"]", "expected a text in quotes, not a list"),
        ("baseline = true", "baseline = \"yes\"", "expected true or false, not string \"yes\""),
        ("kind = \"stream\"", "kind = {}", "expected a word in quotes"),
        (
            "address = \"198.18.64.10/24\"",
            "address = 5",
            "expected an IPv4 address with its prefix length, as in",
        ),
    ] {
        check("quick", (from, to), to, message, "");
    }
}

#[test]
fn a_missing_setting_is_named() {
    check("quick", ("vni = 100\n", ""), "[vxlans.vx0]", "`vni` is missing", "add `vni");
    check("quick", ("schema = 1\n", ""), "#", "`schema` is missing", "schema = 1");
}

#[test]
fn a_newer_version_of_the_language_is_refused() {
    check("quick", ("schema = 1", "schema = 2"), "schema = 2", "reads version 1", "schema = 1");
}

#[test]
fn a_wrong_unit_gets_the_units_that_are_understood() {
    let at = "duration = \"800mb\"";
    check("quick", ("duration = \"800ms\"", at), at, "`mb` is not a unit here", "");
    let at = "duration = 800";
    check("quick", ("duration = \"800ms\"", at), at, "expected a time with its unit", "");
}

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
fn unknown_names_get_the_nearest_name() {
    for (from, to, message, help) in [
        ("host = \"node1\"", "host = \"nod1\"", "unknown host `nod1`", "did you mean `node1`?"),
        (
            "[\"node1:eth0\", \"egress",
            "[\"node1:eth0\", \"egres",
            "unknown host `egres`",
            "did you mean `egress`?",
        ),
        ("bridge = \"cni0\"", "bridge = \"cni\"", "unknown bridge `cni`", "did you mean `cni0`?"),
        ("over = \"eth0\"", "over = \"eth9\"", "`node1` has no device `eth9`", "did you mean `eth0`?"),
        ("tunnel = \"vx0\"", "tunnel = \"vx\"", "unknown vxlan `vx`", "did you mean `vx0`?"),
        ("from = \"node1:vx0\"", "from = \"node1:vx1\"", "no device `vx1`", "did you mean `node1:vx0`?"),
        ("from = \"node1:eth0\"", "from = \"node1\"", "more than one address", "`node1:eth0`"),
        ("from = \"app\"", "from = \"ap\"", "unknown host `ap`", "did you mean `app`?"),
    ] {
        check("quick", (from, to), to, message, help);
    }
}

#[test]
fn unknown_paths_workloads_and_devices_of_factors_and_workloads_are_found() {
    let (from, to) = ("workloads = [\"throughput\"]", "workloads = [\"thruput\"]");
    check("egress-gateway", (from, to), to, "unknown workload `thruput`", "`throughput`");
    let (from, to) = ("workloads = [\"throughput\"]", "paths = [\"node-to-nod\"]");
    check("egress-gateway", (from, to), to, "unknown path `node-to-nod`", "did you mean `node-to-node`?");
    let (from, to) = ("devices = [\"node1:eth0\"", "devices = [\"node1:eth7\"");
    check("egress-gateway", (from, to), to, "`node1` has no device `eth7`", "did you mean `eth0`?");
    let (from, to) = ("devices = [\"node1:eth0\"", "devices = [\"node1\"");
    check("egress-gateway", (from, to), to, "does not name a device; write `host:device`", "");
    let (from, to) = ("placement = \"free\"", "paths = [\"x\"]");
    check("bridge-streams", (from, to), to, "unknown path `x`", "`guest-to-guest`");
}

#[test]
fn a_device_name_has_at_most_fifteen_bytes() {
    let text = changed("quick", "[vxlans.vx0]", "[vxlans.a-long-name-of-it]")
        .replace("vxlans.vx0", "vxlans.a-long-name-of-it");
    check_text(&text, "[vxlans.a-long", "has 17 bytes; the kernel takes 15", "shorten");
}

#[test]
fn names_are_plain_and_given_once() {
    check(
        "quick",
        ("name = \"quick\"", "name = \"Quick!\""),
        "Quick!",
        "cannot be the name of a scenario",
        "lower-case",
    );
    check(
        "quick",
        ("[hosts.target]", "[hosts.\"tar get\"]"),
        "tar get",
        "cannot be the name of a host",
        "letters",
    );
    check(
        "quick",
        ("[pods.web]", "[pods.node1]"),
        "[pods.node1]",
        "the host `node1` is given twice",
        "another name",
    );
    let (from, to) = ("\"egress:eth1\", \"target", "\"egress:eth0\", \"target");
    check("quick", (from, to), to, "the device `egress:eth0` is made twice", "another name");
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
fn a_factor_needs_a_device_that_a_path_passes() {
    let (from, to) =
        ("devices = [\"node1:eth0\", \"egress:eth0\"]", "devices = [\"node1:eth0\", \"egress:idle\"]");
    let idle = "[bridges.idle]\nhost = \"egress\"\n\n[pods.app]";
    let text = changed("egress-gateway", from, to).replacen("[pods.app]", idle, 1);
    check_text(
        &text,
        to,
        "no path of the factor `underlay-offload` passes `egress:idle`",
        "take the device out",
    );
    let (from, to) = ("devices = [\"node1:eth0\", \"egress:eth0\"]\n", "");
    check("egress-gateway", (from, to), "vary = \"offload\"", "does not say which devices", "add `devices");
}

#[test]
fn values_of_a_factor_mean_something_and_differ() {
    let (from, to) = ("values = [\"on\", \"off\"]", "values = [\"on\", \"of\"]");
    check("egress-gateway", (from, to), to, "`of` is not a value of `offload`", "did you mean `off`?");
    check("egress-gateway", (from, "values = [\"on\"]"), "values = [\"on\"]", "fewer than two values", "");
    check("egress-gateway", (from, "values = [\"on\", \"on\"]"), "values", "`on` is given twice", "");
    check("bridge-streams", ("[1, 2,", "[0, 2,"), "[0, 2,", "0 streams are out of range", "1 to 1024");
    check(
        "bridge-streams",
        ("[1500, 9000]", "[1500, \"9k\"]"),
        "9k",
        "`9k` is not a value of `mtu`",
        "whole number",
    );
}

#[test]
fn two_factors_do_not_set_one_thing() {
    let more = "[factors.more]\nvary = \"tso\"\ndevices = [\"egress:eth0\"]\nvalues = [\"on\", \"off\"]\n\n[schedule]";
    let message = "the factors `underlay-offload` and `more` set the same thing";
    check("egress-gateway", ("[schedule]", more), "vary = \"tso\"", message, "make them one");
}

#[test]
fn a_factor_without_effect_is_refused() {
    let more = "[factors.more]\nvary = \"streams\"\nvalues = [1, 2]\nworkloads = [\"latency\"]\n\n[schedule]";
    check(
        "egress-gateway",
        ("[schedule]", more),
        "vary = \"streams\"",
        "`more` changes nothing that is measured",
        "",
    );
}

#[test]
fn a_matrix_that_nobody_can_run_is_refused() {
    let values: Vec<String> = (1..=100).map(|value| value.to_string()).collect();
    let more = format!(
        "[factors.more]\nvary = \"message\"\nvalues = [{}]\nworkloads = [\"throughput\"]\n\n\
         [factors.evenmore]\nvary = \"streams\"\nvalues = [{}]\n\n[schedule]",
        values.join(", "),
        values.join(", ")
    );
    check("egress-gateway", ("[schedule]", &more), "evenmore", "cells; 2000 are the most", "confine it");
}

#[test]
fn there_is_at_least_one_trial() {
    check(
        "quick",
        ("trials = 5", "trials = 0"),
        "trials = 0",
        "0 trials of each cell are out of range",
        "1 to 1000",
    );
}

#[test]
fn there_is_one_baseline() {
    check("quick", ("baseline = true\n", ""), "[paths.", "no path is the baseline", "add `baseline = true`");
    let (from, to) =
        ("layers = [\"veth\", \"bridge\"]", "layers = [\"veth\", \"bridge\"]\nbaseline = true # again");
    check(
        "quick",
        (from, to),
        "# again",
        "`pod-to-pod` is a second baseline; `node-to-node` is one",
        "one path only",
    );
}

#[test]
fn a_workload_runs_on_the_baseline() {
    let (from, to) = ("kind = \"stream\"", "kind = \"stream\"\npaths = [\"pod-to-pod\"]");
    check(
        "quick",
        (from, to),
        "paths = [",
        "does not run on the baseline path `node-to-node`",
        "add `node-to-node`",
    );
}

#[test]
fn declared_layers_are_those_that_a_packet_meets() {
    let (from, to) = ("layers = [\"vxlan\", \"wire\"]", "layers = [\"vxlan\", \"wire\", \"bridge\"]");
    check(
        "quick",
        (from, to),
        to,
        "no packet of `vxlan-to-vxlan` meets the layer `bridge`",
        "[\"vxlan\", \"wire\"]",
    );
    let (from, to) = ("layers = [\"vxlan\", \"wire\"]", "layers = [\"wire\"]");
    check("quick", (from, to), to, "meet the layer `vxlan`, which is not declared", "[\"vxlan\", \"wire\"]");
}

#[test]
fn a_path_leaves_its_host() {
    check(
        "quick",
        ("to = \"egress:vx0\"", "to = \"node1:eth0\""),
        "to = \"node1:eth0\"",
        "both ends",
        "from one host",
    );
}

#[test]
fn settings_of_the_other_kind_of_workload_are_refused() {
    let (from, to) = ("kind = \"ping-pong\"", "kind = \"ping-pong\"\nstreams = 2\ncongestion = \"bbr\"");
    check("quick", (from, to), "streams = 2", "`streams` has no effect here", "take it out");
    check("quick", (from, to), "congestion = \"bbr\"", "UDP has no congestion control", "take it out");
    let (from, to) = ("duration = \"800ms\"", "duration = \"800ms\"\nbytes = \"1GB\"");
    check("quick", (from, to), "bytes = \"1GB\"", "not both", "");
    check(
        "quick",
        ("kind = \"stream\"", "kind = \"stream\"\nmessage = 0"),
        "message = 0",
        "out of range",
        "1 to",
    );
}

#[test]
fn devices_have_sizes_that_the_kernel_takes() {
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eth0\"]\nbig-tcp = \"1MiB\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "big-tcp", "a largest packet of 1.00 MiB is out of range", "512KiB");
    let (from, to) =
        ("[paths.node-to-node]", "[devices.\"node1:eht0\"]\ntso = \"off\"\n\n[paths.node-to-node]");
    check("quick", (from, to), "eht0", "`node1` has no device `eht0`", "did you mean `eth0`?");
}
