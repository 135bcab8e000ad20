//! Builds MTU and ICMP holes in IPv6, on a wire and in a tunnel, and checks which cause is named.

use serde_json::Value;

use crate::{
    faults::{PING, STREAM, SWITCHED, VXLAN, WIRE, causes},
    sandbox,
};

/// `near` sends ICMP errors.
const ROUTED: &str = r#"
[hosts.client]
[hosts.near]
[hosts.far]
[hosts.server]
[wires.up]
between = ["client:eth0", "near:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
[wires.middle]
between = ["near:eth1", "far:eth0"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]
mtu = 1400
[wires.down]
between = ["far:eth1", "server:eth0"]
addresses = ["198.18.2.1/24", "198.18.2.2/24"]
[[routes]]
host = "client"
to = "198.18.2.0/24"
via = "198.18.0.2"
[[routes]]
host = "near"
to = "198.18.2.0/24"
via = "198.18.1.2"
[[routes]]
host = "far"
to = "198.18.0.0/24"
via = "198.18.1.1"
[[routes]]
host = "server"
to = "198.18.0.0/24"
via = "198.18.2.1"
[vxlans.vx0]
vni = 7
[vxlans.vx0.members.client]
over = "eth0"
address = "198.18.9.1/24"
[vxlans.vx0.members.server]
over = "eth0"
address = "198.18.9.2/24"
"#;

struct Hole {
    lab: &'static str,
    fault: &'static str,
    placed: &'static str,
    loses: &'static str,
    /// The largest packets that pass on the wire and in the tunnel. An IPv6 tunnel adds 70 bytes.
    carried: [u32; 2],
}

/// Uses a switch, because a device with IPv6 has an MTU of at least 1280.
const MTU_HOLE: Hole = Hole {
    lab: SWITCHED,
    fault: "kind = \"mtu-hole\"\nmtu = 1200",
    placed: "switch:p2",
    loses: "switch:p2",
    carried: [1200, 1130],
};
const ICMP_HOLE: Hole = Hole {
    lab: ROUTED,
    fault: "kind = \"icmp-hole\"",
    placed: "near:eth0",
    loses: "near:eth1",
    carried: [1400, 1330],
};

pub(crate) fn names_holes_in_ipv6() {
    for hole in [&MTU_HOLE, &ICMP_HOLE] {
        let findings = measured(hole, "x");
        let named = causes(&findings);
        for (path, carried) in ["wire", "tunnel"].into_iter().zip(hole.carried) {
            let lead = format!(
                "{} loses the client's packets above {carried} bytes without an ICMP error",
                hole.loses
            );
            let found = named.iter().find(|found| found["lead"] == *lead);
            let found = found.unwrap_or_else(|| panic!("{lead}: {named:#?}"));
            for workload in ["bulk", "ping"] {
                let result = Value::from(format!("{path}/{workload}"));
                assert!(found["results"].as_array().is_some_and(|all| all.contains(&result)), "{found}");
            }
        }
        assert_eq!(named.len(), 2, "{named:#?}");
        let lowers = format!("mtu {}", hole.carried[1]);
        assert_eq!(findings.to_string().contains(&lowers), hole.carried[1] >= 1280, "{named:#?}");
        let reason = &findings["verdict"]["conclusion"]["reason"];
        assert_eq!(reason["finding"], "black-hole", "{reason}");
        assert!(reason["lead"].as_str().is_some_and(|lead| lead.starts_with(hole.loses)), "{reason}");

        let without = measured(hole, "none");
        assert_eq!(causes(&without), Vec::<&Value>::new(), "without the fault");
        assert_eq!(without["results"].as_array().map(Vec::len), Some(4), "{}", without["skipped"]);
    }
}

/// Creates a new lab for each run, because hosts remember a path's MTU for minutes (net.ipv6.route.mtu_expires).
fn measured(hole: &Hole, placed: &str) -> Value {
    let sandbox = sandbox();
    let text = format!(
        "schema = 1\nname = \"holes\"\ntitle = \"A hole\"\nfamily = [\"ipv6\"]\n{}\n[faults.x]\n{}\n\
         [devices.\"{}\"]\nfault = \"{placed}\"\n[paths.wire]\n{WIRE}\nbaseline = true\n[paths.tunnel]\n{VXLAN}\n\
         [workloads.bulk]\n{STREAM}\n[workloads.ping]\n{PING}\nwarmup = \"1500ms\"\n[schedule]\ntrials = 1\n",
        hole.lab, hole.fault, hole.placed
    );
    let text = if hole.lab == ROUTED { text.replace(", \"bridge\"]", "]") } else { text };
    let run = sandbox.plumb(&["run", &sandbox.file("holes.toml", &text), "--probe", "none"]);
    assert_eq!(run.status, Some(if placed == "none" { 0 } else { 3 }), "{run:?}");
    sandbox.as_undisturbed(|_| ()).findings("latest")
}
