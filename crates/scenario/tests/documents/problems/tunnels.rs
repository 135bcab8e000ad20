//! Tests problems of point-to-point tunnels.

use scenario::Scenario;

use super::check_text;

const TUNNELS: &str = r#"
schema = 1
name = "tunnels"
title = "Two tunnels over a wire"
[hosts.a]
[hosts.b]
[hosts.c]
[wires.w]
between = ["a:eth0", "b:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
[wires.other]
between = ["b:eth1", "c:eth1"]
addresses = ["none", "none"]
[tunnels.t0]
kind = "geneve"
[tunnels.t0.ends.a]
over = "eth0"
address = "198.18.1.1/24"
[tunnels.t0.ends.b]
over = "eth0"
address = "198.18.1.2/24"
[tunnels.t1]
kind = "gre"
[tunnels.t1.ends.a]
over = "eth0"
address = "198.18.2.1/24"
[tunnels.t1.ends.b]
over = "eth0"
address = "198.18.2.2/24"
[paths.p]
from = "a:t0"
to = "b:t0"
layers = ["geneve", "wire"]
baseline = true
[paths.q]
from = "a:t1"
to = "b:t1"
layers = ["gre", "wire"]
[workloads.w]
kind = "stream"
"#;

fn replaced(from: &str, to: &str) -> String {
    assert!(TUNNELS.contains(from), "{from}");
    TUNNELS.replacen(from, to, 1)
}

#[test]
fn traces_packet_through_tunnel_and_wire() {
    let scenario = Scenario::parse("test", TUNNELS).expect("the scenario parses");
    let way: Vec<String> = scenario.paths[0].devices.iter().map(ToString::to_string).collect();
    assert_eq!(way, ["a:t0", "a:eth0", "b:eth0", "b:t0"]);
}

#[test]
fn tunnel_fills_the_underlay_of_either_family() {
    let mtus = |text: &str| {
        let lab = Scenario::parse("test", text).expect("the scenario parses").lab;
        ["a:t0", "b:t1"].map(|at| lab.mtu(&at.parse().expect("a device"), &lab.devices).expect("known"))
    };
    assert_eq!(mtus(TUNNELS), [1450, 1476]);
    assert_eq!(mtus(&replaced("kind = \"gre\"", "kind = \"gre\"\nid = 7")), [1450, 1472]);
    assert_eq!(mtus(&TUNNELS.replace("\nkind = \"g", "\nunderlay = \"ipv6\"\nkind = \"g")), [1430, 1448]);
    let jumbo = replaced("between = [\"a:eth0\"", "mtu = 9000\nbetween = [\"a:eth0\"");
    assert_eq!(mtus(&jumbo), [8950, 8976]);
    assert_eq!(mtus(&jumbo.replace("gre", "wireguard").replace("geneve", "esp")), [8946, 8940]);
    let large = replaced("kind = \"geneve\"", "kind = \"geneve\"\nmtu = 1460");
    check_text(&large, "mtu = 1460", "MTU 1460 of `a:t0` is too large", "use an MTU of at most 1450");
}

#[test]
fn reports_wrong_number_of_ends() {
    let third =
        replaced("[paths.p]", "[tunnels.t1.ends.c]\nover = \"eth1\"\naddress = \"198.18.2.3/24\"\n[paths.p]");
    check_text(&third, "[tunnels.t1]", "`t1` has 3 ends instead of two", "`[vxlans]` can connect more");
    let one = replaced("[tunnels.t1.ends.b]\nover = \"eth0\"\naddress = \"198.18.2.2/24\"", "");
    check_text(&one, "[tunnels.t1]", "`t1` has 1 ends instead of two", "[tunnels.t1.ends.HOST]");
}

#[test]
fn reports_bridge_on_a_tunnel_without_ethernet() {
    let bridged = |kind: &str| {
        let bridges = "[bridges.br]\nhost = \"b\"\naddress = \"198.18.2.2/24\"\n[paths.p]";
        replaced("over = \"eth0\"\naddress = \"198.18.2.2/24\"", "over = \"eth0\"\nbridge = \"br\"")
            .replace("[paths.p]", bridges)
            .replace("\"b:t1\"", "\"b:br\"")
            .replace("[\"gre\", \"wire\"]", &format!("[\"{kind}\", \"wire\", \"bridge\"]"))
            .replace("kind = \"gre\"", &format!("kind = \"{kind}\""))
    };
    check_text(&bridged("gre"), "bridge = \"br\"", "`gre` carries IP packets", "`geneve` or `gretap`");
    Scenario::parse("test", &bridged("gretap")).expect("carries Ethernet frames");
}

fn both(kind: &str) -> String {
    TUNNELS.replace("geneve", kind).replace("\"gre\"", &format!("\"{kind}\""))
}

/// Moves `t1` to addresses that `t0` does not use.
fn over_another_wire(text: &str) -> String {
    let wire = "[wires.second]\nbetween = [\"a:eth2\", \"b:eth2\"]\n\
                addresses = [\"198.18.7.1/24\", \"198.18.7.2/24\"]\n[tunnels.t0]";
    let (before, t1) = text.split_once("[tunnels.t1]").expect("it is there");
    before.replace("[tunnels.t0]", wire) + "[tunnels.t1]" + &t1.replace("eth0", "eth2")
}

fn check_duplicate(text: &str) {
    check_text(text, "[tunnels.t1]", "cannot distinguish the tunnels `t1` and `t0`", "another `id`");
}

fn check_distinct(text: &str) {
    Scenario::parse("test", text).expect("the kernel can distinguish the tunnels");
}

#[test]
fn hosts_distinguish_geneve_by_vni_port_and_remote() {
    let geneve = both("geneve");
    check_duplicate(&geneve);
    check_distinct(&geneve.replace("[tunnels.t1]\n", "[tunnels.t1]\nid = 2\n"));
    check_distinct(&geneve.replace("[tunnels.t1]\n", "[tunnels.t1]\nport = 7000\n"));
    check_distinct(&over_another_wire(&geneve));
}

#[test]
fn hosts_distinguish_gre_by_key_and_both_addresses() {
    let gre = both("gre");
    check_duplicate(&gre);
    check_distinct(&gre.replace("[tunnels.t1]\n", "[tunnels.t1]\nid = 2\n"));
    check_distinct(&over_another_wire(&gre));
    check_distinct(&gre.replacen("\"gre\"", "\"gretap\"", 1).replacen("[\"gre\"", "[\"gretap\"", 1));
}

#[test]
fn hosts_distinguish_esp_by_spi() {
    let esp = both("esp");
    check_duplicate(&esp);
    check_duplicate(&over_another_wire(&esp));
    check_distinct(&esp.replace("[tunnels.t1]\n", "[tunnels.t1]\nid = 257\n"));
}

#[test]
fn reports_invalid_identifiers() {
    let with = |kind: &str, more: &str| replaced(kind, &format!("{kind}\n{more}"));
    let (geneve, gre) = ("kind = \"geneve\"", "kind = \"gre\"");
    check_text(&with(geneve, "id = 16777216"), "id", "16777216 is not a valid VNI of `geneve`", "16777215");
    check_text(&with(gre, "id = 0"), "id = 0", "0 is not a valid key of `gre`", "use 1 to 4294967295");
    check_text(&with(gre, "port = 7"), "port = 7", "`gre` does not use UDP", "remove");
    check_text(&with(geneve, "port = 0"), "port = 0", "the UDP port cannot be 0", "6081");
    check_text(&replaced(gre, "kind = \"vxlan\""), "vxlan", "`vxlan`", "gretap");
    check_text(&with(gre, "id = 255").replace("gre", "esp"), "id", "255 is not a valid SPI", "use 256");
    let wireguard = both("wireguard");
    check_text(&wireguard, "[tunnels.t1]", "port 51820 is already used by `t0`", "another `port`");
    let numbered = wireguard.replace("[tunnels.t1]", "[tunnels.t1]\nid = 1");
    check_text(&numbered, "id = 1", "`wireguard` has no identifier", "remove it");
    let overlay = "[vxlans.vx0]\nvni = 1\nport = 6081\n[vxlans.vx0.members.a]\nover = \"eth0\"\n\
                   address = \"198.18.3.1/24\"\n[vxlans.vx0.members.c]\nover = \"eth1\"\n\
                   address = \"198.18.3.2/24\"\n[paths.p]";
    let shared = replaced("[paths.p]", overlay);
    check_text(&shared, "[tunnels.t0]", "UDP port 6081 is already used by `vx0`", "another `port`");
}

#[test]
fn reports_invalid_ends() {
    let none = replaced("over = \"eth0\"\naddress = \"198.18.2.1/24\"", "address = \"198.18.2.1/24\"");
    check_text(&none, "t1.ends.a", "the end `a` of `t1` has no underlay device", "over");
    let over = "over = \"eth0\"\naddress = \"198.18.2.2/24\"";
    let unaddressed = replaced(over, &over.replace("eth0", "eth1"));
    check_text(&unaddressed, "over = \"eth1\"", "`b:eth1` has no address to use as the tunnel endpoint", "");
    let networks = replaced("198.18.2.2/24", "198.18.4.2/24");
    check_text(&networks, "198.18.4.2", "the ends of `t1` are in different networks", "same prefix");
    let reserved = TUNNELS.replace("t1", "gre0");
    check_text(&reserved, "[tunnels.gre0]", "`gre0` is not a valid device name", "reserved");
}

#[test]
fn reports_second_family_in_esp() {
    let esp = TUNNELS.replace("gre", "esp");
    Scenario::parse("test", &esp).expect("one family");
    let over_ipv6 = esp.replace("kind = \"esp\"", "kind = \"esp\"\nunderlay = \"ipv6\"");
    let both = format!("family = [\"ipv4\", \"ipv6\"]\n{esp}");
    for text in [over_ipv6, both] {
        check_text(
            &text,
            "[tunnels.t1]",
            "`esp` carries only packets of its own family",
            "run with `-4` or `-6`",
        );
    }
}

#[test]
fn transport_mode_shrinks_the_packets_and_adds_a_layer() {
    let text = replaced("kind = \"geneve\"", "kind = \"geneve\"\nspi = 300")
        .replace("layers = [\"geneve\", \"wire\"]", "layers = [\"geneve\", \"esp\", \"wire\"]");
    let lab = Scenario::parse("test", &text).expect("the scenario parses").lab;
    // 1480 - 32 is already a multiple of 4. The trailer takes 2 bytes and the headers 30.
    assert_eq!(lab.mtu(&"a:t0".parse().expect("a device"), &lab.devices), Some(1416));
}

#[test]
fn reports_encryption_that_cannot_work() {
    let spi = |kind: &str, spi: u32| replaced("kind = \"gre\"", &format!("kind = \"{kind}\"\nspi = {spi}"));
    check_text(&spi("gre", 255), "255", "255 is not a valid SPI", "use 256 to");
    check_text(&spi("wireguard", 256), "256", "`wireguard` already encrypts", "remove it");
    let two = spi("gre", 300).replace("kind = \"geneve\"", "kind = \"gretap\"");
    check_text(&two, "300", "IPsec cannot distinguish the packets of `t0` and `t1`", "other addresses");
    let same = spi("gre", 300).replace("kind = \"geneve\"", "kind = \"geneve\"\nspi = 300");
    check_text(&same, "300", "`t0` has the same SPI", "use another SPI");
}
