//! Builds faults, and checks that a run names each cause with its device and numbers.

use plumb_tests::Sandbox;
use serde_json::Value;

use crate::{fault_labs::CAUSES, sandbox};

pub(crate) const SWITCHED: &str = r#"
[hosts.client]
[hosts.switch]
[hosts.server]
[wires.up]
between = ["client:eth0", "switch:p1"]
addresses = ["198.18.0.1/24", "none"]
[wires.down]
between = ["switch:p2", "server:eth0"]
addresses = ["none", "198.18.0.2/24"]
[bridges.br0]
host = "switch"
ports = ["p1", "p2"]
[vxlans.vx0]
vni = 7
[vxlans.vx0.members.client]
over = "eth0"
address = "198.18.9.1/24"
[vxlans.vx0.members.server]
over = "eth0"
address = "198.18.9.2/24"
"#;
const ROUTED: &str = r#"
[hosts.client]
[hosts.router]
[hosts.server]
[wires.up]
between = ["client:eth0", "router:eth0"]
addresses = ["198.18.0.1/24", "198.18.0.2/24"]
[wires.down]
between = ["router:eth1", "server:eth0"]
addresses = ["198.18.1.1/24", "198.18.1.2/24"]
mtu = 1400
[[routes]]
host = "client"
to = "198.18.1.0/24"
via = "198.18.0.2"
[[routes]]
host = "server"
to = "198.18.0.0/24"
via = "198.18.1.1"
"#;
pub(crate) const STREAM: &str =
    "kind = \"stream\"\nduration = \"1s\"\nwarmup = \"100ms\"\ncongestion = \"cubic\"";
pub(crate) const PING: &str = "kind = \"ping-pong\"\nduration = \"1s\"\nmessage = 1400";
/// Spinning uses the CPU even while other work delays wake-ups.
const SPINNING_PING: &str = "kind = \"ping-pong\"\nduration = \"1s\"\nwaiting = \"spin\"";
const CONNECTIONS: &str = "kind = \"connect\"\nduration = \"1s\"\nclients = 8";
pub(crate) const WIRE: &str = "from = \"client:eth0\"\nto = \"server:eth0\"\nlayers = [\"wire\", \"bridge\"]";
pub(crate) const VXLAN: &str =
    "from = \"client:vx0\"\nto = \"server:vx0\"\nlayers = [\"vxlan\", \"wire\", \"bridge\"]";
const THROUGH_ROUTER: &str = "from = \"client:eth0\"\nto = \"server:eth0\"\nlayers = [\"wire\"]";

struct Fault {
    table: &'static str,
    device: &'static str,
    cause: &'static [&'static str],
    says: &'static [&'static str],
}

const MTU_HOLE: Fault = Fault {
    table: "kind = \"mtu-hole\"\nmtu = 1400",
    device: "switch:p2",
    cause: &["black-hole"],
    says: &["switch:p2 loses the client's packets above 1", "without an ICMP error"],
};
const POLICED_PORT: Fault = Fault {
    table: "kind = \"policed-port\"\nrate = \"20Mbit/s\"",
    device: "switch:p1",
    cause: &["policed-port"],
    says: &["switch:p1", "20.0 Mbit/s"],
};
const QUEUE_LIMIT: Fault = Fault {
    table: "kind = \"queue-limit\"\nrate = \"20Mbit/s\"\nqueue = \"128KiB\"",
    device: "switch:p2",
    cause: &["qdisc-drops", "shaped-port"],
    says: &["switch:p2 (tbf)"],
};
const CPU_LIMIT: Fault = Fault {
    table: "kind = \"cpu-limit\"\ncpu = \"5%\"",
    device: "client:eth0",
    cause: &["cpu-throttled"],
    says: &["The client used up its CPU quota in ", "0.05 CPUs"],
};
const ICMP_HOLE: Fault = Fault {
    table: "kind = \"icmp-hole\"",
    device: "router:eth0",
    cause: &["black-hole"],
    says: &["router:eth1 loses the client's packets above 1400 bytes", "The MTU of router:eth1 is 1400"],
};

const SNAT_PORTS: Fault = Fault {
    table: "kind = \"snat-ports\"\nports = 3",
    device: "router:eth1",
    cause: &["snat-ports"],
    says: &["Source NAT on router uses up its 3 ports", "ports 40000 to 40002"],
};
const LOST_CHECKSUM: Fault = Fault {
    table: "kind = \"lost-checksum\"",
    device: "switch:p2",
    cause: &["lost-checksum"],
    says: &["server receives packets with wrong TCP or UDP checksums", "ethtool -K eth0 tx off"],
};

pub(crate) fn names_ports_and_checksums() {
    check(ROUTED, THROUGH_ROUTER, &format!("{STREAM}\nstreams = 8"), &SNAT_PORTS);
    check(ROUTED, THROUGH_ROUTER, CONNECTIONS, &SNAT_PORTS);
    check(SWITCHED, WIRE, STREAM, &LOST_CHECKSUM);
    check(SWITCHED, WIRE, PING, &LOST_CHECKSUM);
    let sandbox = sandbox();
    let complete = format!("{SWITCHED}[devices.\"client:eth0\"]\noffload = \"off\"\n");
    run(&sandbox, &complete, WIRE, STREAM, &LOST_CHECKSUM);
    let findings = sandbox.findings("latest");
    assert_eq!((results(&findings).len(), causes(&findings)), (2, vec![]), "{findings}");
    assert_eq!(findings["skipped"], Value::Array(Vec::new()), "{findings}");
}

pub(crate) fn names_faults_of_a_switch() {
    for (fault, ping) in
        [(&POLICED_PORT, PING), (&QUEUE_LIMIT, PING), (&CPU_LIMIT, SPINNING_PING), (&MTU_HOLE, PING)]
    {
        for path in [WIRE, VXLAN] {
            for workload in [STREAM, ping] {
                check(SWITCHED, path, workload, fault);
            }
        }
    }
}

pub(crate) fn names_filtered_icmp_errors() {
    check(ROUTED, THROUGH_ROUTER, STREAM, &ICMP_HOLE);
    check(ROUTED, THROUGH_ROUTER, PING, &ICMP_HOLE);
    check(&format!("family = [\"ipv6\"]\n{ROUTED}"), THROUGH_ROUTER, PING, &ICMP_HOLE);
}

pub(crate) fn path_that_cannot_carry_the_workload_is_the_answer() {
    let sandbox = sandbox();
    run(&sandbox, SWITCHED, WIRE, STREAM, &MTU_HOLE);
    let findings = sandbox.findings("latest");
    let conclusion = &findings["verdict"]["conclusion"];
    assert_eq!(
        (&conclusion["kind"], &conclusion["reason"]["finding"]),
        (&"broken".into(), &"black-hole".into())
    );
    let printed = sandbox.succeed(&["report", "latest"]).out;
    let answer = printed.lines().find(|line| line.contains("Answer")).expect("an answer");
    assert!(answer.contains("switch:p2 loses the client's packets above 1400 bytes"), "{printed}");
}

fn check(lab: &str, path: &str, workload: &str, fault: &Fault) {
    let sandbox = sandbox();
    run(&sandbox, lab, path, workload, fault);
    let sandbox = sandbox.as_undisturbed(|_| ());
    let findings = sandbox.findings("latest");
    let (faulty, sound): (Vec<&Value>, Vec<&Value>) = results(&findings)
        .into_iter()
        .partition(|result| result.as_str().is_some_and(|id| id.contains("=x")));
    let place = format!("{} on {path} with {workload}", fault.table);
    assert_eq!(sound.len(), 1, "{place}: {findings}");
    assert!(!faulty.is_empty(), "{place}: {findings}");
    let named = causes(&findings);
    let of_fault = named.iter().find(|found| fault.cause.iter().any(|cause| found["id"] == *cause));
    let of_fault = of_fault.unwrap_or_else(|| panic!("{place}: the cause is not named: {named:#?}"));
    let text = of_fault.to_string();
    assert!(fault.says.iter().all(|part| text.contains(part)), "{place}: {text}");
    for other in &named {
        assert!(fault.cause.iter().any(|cause| other["id"] == *cause), "{place}: also named: {other}");
        let blamed = other["results"].as_array().expect("a list");
        assert!(!blamed.contains(sound[0]), "{place}: the result without the fault is blamed: {other}");
    }
}

fn run(sandbox: &Sandbox, lab: &str, path: &str, workload: &str, fault: &Fault) {
    let text = format!(
        "schema = 1\nname = \"faults\"\ntitle = \"A fault\"\n{lab}\n[faults.x]\n{}\n[paths.path]\n{path}\n\
         baseline = true\n[workloads.load]\n{workload}\n[factors.f]\nvary = \"fault\"\ndevices = [\"{}\"]\n\
         values = [\"none\", \"x\"]\n[schedule]\ntrials = 2\n",
        fault.table, fault.device
    );
    let file = sandbox.file("faults.toml", &text);
    let _ = sandbox.succeed(&["run", &file, "--probe", "none"]);
}

pub(crate) fn causes(findings: &Value) -> Vec<&Value> {
    let all = findings["findings"].as_array().expect("findings");
    all.iter().filter(|found| CAUSES.iter().any(|cause| found["id"] == *cause)).collect()
}

fn results(findings: &Value) -> Vec<&Value> {
    let measured = findings["results"].as_array().expect("results").iter().map(|result| &result["id"]);
    let skipped = findings["skipped"].as_array().expect("results").iter().map(|skip| &skip["result"]);
    measured.chain(skipped).collect()
}
