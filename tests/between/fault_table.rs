//! Checks that `plumb between` names the faults of running endpoints and of the devices between them, and no
//! other faults.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use plumb_tests::{PATIENCE, Random, wait_until};
use serde_json::Value;

use crate::{
    node::{Node, shell_at},
    podman::Podman,
};

const CPU_CGROUPS: &str = "/sys/fs/cgroup/cpu";
const QUOTA: &str = "cpu.cfs_quota_us";
const PERIOD: &str = "cpu.cfs_period_us";
/// The rules that name causes in this table. The rule for backlog queues is left out, because these also
/// overflow on a busy machine.
const CAUSES: [&str; 11] = [
    "black-hole",
    "conntrack-full",
    "cpu-throttled",
    "fragmentation",
    "lost-checksum",
    "mtu-mismatch",
    "offload-off",
    "policed-port",
    "qdisc-drops",
    "shaped-port",
    "workload-limit",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Topology {
    Containers,
    Vxlan,
    Snat,
    Macvlan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    None,
    OffloadOff,
    MtuHole,
    PolicedPort,
    CpuLimit,
    CpuLimitOfParent,
    ShortQueue,
}

const TOPOLOGIES: [Topology; 4] = [Topology::Containers, Topology::Vxlan, Topology::Snat, Topology::Macvlan];
const KINDS: [Kind; 7] = [
    Kind::None,
    Kind::OffloadOff,
    Kind::MtuHole,
    Kind::PolicedPort,
    Kind::CpuLimit,
    Kind::CpuLimitOfParent,
    Kind::ShortQueue,
];

/// A device in the network namespace of a process.
#[derive(Debug, Clone)]
struct Place {
    pid: u32,
    device: String,
    /// `host:device`, as plumb names it.
    shown: String,
}

enum Runtime {
    Namespaces(Node),
    Containers(Podman),
}

/// The order of the fields matters, because cgroups can be removed only after their processes have ended.
struct Site {
    runtime: Runtime,
    words: [String; 2],
    ends: [Place; 2],
    /// The devices through which the client's packets enter and leave the node, or the endpoints' devices if the
    /// node has none.
    between: [Place; 2],
    cgroups: [Cgroup; 2],
}

struct Cgroup {
    own: PathBuf,
    is_ours: bool,
    /// The parent cgroup's files and the values to restore, because other containers share this parent.
    earlier: Vec<(PathBuf, String)>,
}

struct Expected {
    causes: &'static [&'static str],
    says: Vec<String>,
    arguments: &'static [&'static str],
}

pub(crate) fn names_faults(seed: u32, cells: usize) {
    println!("  SEED={seed}");
    let mut random = Random::of(seed);
    let all = || TOPOLOGIES.into_iter().flat_map(|topology| KINDS.map(|kind| (topology, kind)));
    let (mut table, mut wrong, mut measured) = (Vec::new(), String::new(), 0);
    for number in 0..cells {
        if table.is_empty() {
            table.extend(all());
        }
        let (topology, kind) = table.swap_remove(random.below(table.len()));
        let Some(site) = Site::build(topology) else {
            println!("  {number} {topology:?} {kind:?}: skipped");
            continue;
        };
        measured += 1;
        let expected = site.inject(topology, kind, &mut random);
        let reason = site.examine(&expected).err();
        println!(
            "  {number} {topology:?} {kind:?} {:?}: {}",
            expected.says,
            reason.as_deref().unwrap_or("right")
        );
        if let Some(reason) = reason {
            writeln!(wrong, "{topology:?} {kind:?} {:?}: {reason}", expected.says).expect("it is a string");
        }
    }
    let right = measured - wrong.lines().count();
    println!("  {right} of {measured} cells are right");
    assert!(right * 20 >= measured * 19, "SEED={seed}: {right} of {measured} cells are right\n{wrong}");
}

impl Site {
    fn build(topology: Topology) -> Option<Self> {
        Some(match topology {
            Topology::Containers => Self::of_containers(Podman::start(None, "")?),
            Topology::Vxlan => {
                let mut node = Node::with_bridge();
                node.join_by_vxlan();
                for name in ["a", "b"] {
                    node.shell_in(name, "ip link set eth0 mtu 1450");
                }
                let exit = format!("pid-{}:vb", node.pid("other"));
                Self::of_namespaces(node, &exit)
            }
            Topology::Snat => {
                let node = Node::with_bridge();
                node.masquerade();
                Self::of_namespaces(node, "node:vb")
            }
            Topology::Macvlan => {
                let node = Node::with_bridge();
                node.replace_by_macvlan();
                let exit = format!("pid-{}:eth0", node.pid("b"));
                Self::of_namespaces(node, &exit)
            }
        })
    }

    fn of_namespaces(node: Node, exit: &str) -> Self {
        let pids = ["a", "b"].map(|name| node.pid(name));
        let ends = pids.map(|pid| Place::new(pid, "eth0", &format!("pid-{pid}")));
        let (host, device) = exit.split_once(':').expect("a host and a device");
        let at = host.strip_prefix("pid-").map_or(node.node_pid(), |pid| pid.parse().expect("a PID"));
        let exit = Place::new(at, device, host);
        let entry =
            if device == "eth0" { ends[0].clone() } else { Place::new(node.node_pid(), "va", "node") };
        let cgroups = pids.map(Cgroup::make);
        let words = pids.map(|pid| format!("pid:{pid}"));
        Self { runtime: Runtime::Namespaces(node), words, ends, between: [entry, exit], cgroups }
    }

    fn of_containers(podman: Podman) -> Self {
        let names = ["web", "db"];
        let pids = names.map(|name| podman.inspect(name, ".State.Pid").parse().expect("a PID"));
        let ends = [0, 1].map(|end: usize| Place::new(pids[end], "eth0", names[end]));
        let node = podman.node.node_pid();
        let port = |pid: u32| {
            let number = shell_at(pid, "ip -oneline link show eth0 | sed 's/.*@if\\([0-9]*\\):.*/\\1/'");
            let links = shell_at(node, "ip -oneline link");
            let port = links.lines().find(|line| line.starts_with(&format!("{}:", number.trim())));
            let name = port.and_then(|line| line.split([' ', '@']).nth(1)).expect("the peer of eth0");
            Place::new(node, name, "node")
        };
        Self {
            between: pids.map(port),
            cgroups: pids.map(Cgroup::of),
            runtime: Runtime::Containers(podman),
            words: names.map(|name| format!("container:{name}")),
            ends,
        }
    }

    const fn node(&self) -> &Node {
        match &self.runtime {
            Runtime::Namespaces(node) => node,
            Runtime::Containers(podman) => &podman.node,
        }
    }

    fn inject(&self, topology: Topology, kind: Kind, random: &mut Random) -> Expected {
        let [entry, exit] = &self.between;
        let rate = 10 + random.below(30);
        let either = random.below(2);
        let (causes, says): (&'static [&'static str], _) = match kind {
            Kind::None => (&[], Vec::new()),
            Kind::OffloadOff => {
                // A macvlan's own offloads cannot be disabled.
                let below = Place::new(self.node().node_pid(), "parent", "node");
                let place = [&self.ends[0], entry][either];
                let place = if topology == Topology::Macvlan { &below } else { place };
                place.shell(&format!("ethtool -K {} tso off gso off gro off", place.device));
                (&["offload-off"], vec![place.shown.clone()])
            }
            Kind::MtuHole => {
                let mtu = 1200 + random.below(150);
                exit.shell(&format!("ip link set {} mtu {mtu}", exit.device));
                if topology == Topology::Snat {
                    exit.shell(
                        "nft add table ip f; nft add chain ip f out '{ type filter hook output priority 0; }'; \
                         nft add rule ip f out icmp type destination-unreachable drop",
                    );
                }
                (&["black-hole", "mtu-mismatch"], vec![exit.shown.clone()])
            }
            Kind::PolicedPort => (&["policed-port"], self.police(topology, rate, either == 0)),
            Kind::CpuLimit | Kind::CpuLimitOfParent => {
                let group = &self.cgroups[either].own;
                let limited = if kind == Kind::CpuLimit { Some(group.as_path()) } else { group.parent() };
                let limited = limited.expect("an endpoint is not in the root cgroup");
                limit_cpu(limited, 1000);
                let says = vec![limited.display().to_string(), format!("{} CPUs", 0.1)];
                (&["cpu-throttled", "workload-limit"], says)
            }
            Kind::ShortQueue => {
                let place = if topology == Topology::Macvlan { entry } else { exit };
                let tbf = format!("root tbf rate {rate}mbit burst 16kb limit 32kb");
                place.shell(&format!("tc qdisc add dev {} {tbf}", place.device));
                (&["qdisc-drops", "shaped-port"], vec![format!("{} (tbf)", place.shown)])
            }
        };
        let limits_cpu = matches!(kind, Kind::CpuLimit | Kind::CpuLimitOfParent);
        let as_workload = limits_cpu && random.below(2) == 0;
        Expected { causes, says, arguments: if as_workload { &["--as-workload"] } else { &[] } }
    }

    /// Polices a port of the node, or all packets that reach the server or that the node forwards.
    fn police(&self, topology: Topology, rate: usize, port: bool) -> Vec<String> {
        let [entry, exit] = &self.between;
        let over = format!("limit rate over {} bytes/second drop", rate * 125_000);
        let place = match (topology, port) {
            (Topology::Macvlan, _) => exit,
            (_, true) | (Topology::Snat, _) => entry,
            _ => &self.ends[1],
        };
        let (family, hook, rule) = match (topology, port) {
            (_, true) => ("netdev", format!("ingress device {}", place.device), over),
            (Topology::Snat, false) => {
                ("ip", "forward".to_owned(), format!("iifname {} {over}", place.device))
            }
            _ => ("inet", "input".to_owned(), over),
        };
        place.shell(&format!(
            "nft add table {family} p; nft add chain {family} p c '{{ type filter hook {hook} priority 0; }}'; \
             nft add rule {family} p c {rule}"
        ));
        vec![place.shown.clone(), format!("to {rate}.0 Mbit/s")]
    }

    fn examine(&self, expected: &Expected) -> Result<(), String> {
        let [from, to] = &self.words;
        let arguments = [&["between", "--yes", "--trials", "2", from, to], expected.arguments].concat();
        let output = self.node().plumb(&arguments);
        if output.status != Some(0) {
            return Err(format!("{output:?}"));
        }
        let findings = self.node().sandbox.findings("latest");
        let is_cause = |finding: &&Value| {
            finding["superseded_by"].is_null() && CAUSES.iter().any(|cause| finding["id"] == *cause)
        };
        let named: Vec<&Value> =
            findings["findings"].as_array().into_iter().flatten().filter(is_cause).collect();
        let is_expected = |finding: &&Value| expected.causes.iter().any(|cause| finding["id"] == *cause);
        let is_right = |finding: &&Value| {
            // A path to one of the cgroup's own files also names the cgroup.
            let text = finding.to_string().replace("/cpu.", " cpu.");
            is_expected(finding) && expected.says.iter().all(|part| contains_words(&text, part))
        };
        let found = expected.causes.is_empty() || named.iter().any(is_right);
        if found && named.iter().all(is_expected) {
            return Ok(());
        }
        let brief = |finding: &Value| format!("{}: {}", finding["id"], finding["lead"]);
        let all: Vec<String> = findings["findings"].as_array().into_iter().flatten().map(brief).collect();
        Err(format!("{named:?}; all findings: {all:?}; {output:?}").replace('\n', " "))
    }
}

/// Returns whether the text contains these words outside of longer names.
fn contains_words(text: &str, words: &str) -> bool {
    let ends_name =
        |next: Option<char>| !next.is_some_and(|next| next.is_alphanumeric() || "-_/".contains(next));
    text.match_indices(words).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + words.len()..]);
        ends_name(before.chars().next_back()) && ends_name(after.chars().next())
    })
}

impl Place {
    fn new(pid: u32, device: &str, host: &str) -> Self {
        Self { pid, device: device.to_owned(), shown: format!("{host}:{device}") }
    }

    fn shell(&self, script: &str) {
        let _ = shell_at(self.pid, script);
    }
}

impl Cgroup {
    fn of(pid: u32) -> Self {
        let groups = fs::read_to_string(format!("/proc/{pid}/cgroup")).expect("it runs");
        let of_cpu = |line: &str| {
            let mut fields = line.splitn(3, ':').skip(1);
            let is_cpu = fields.next()?.split(',').any(|controller| controller == "cpu");
            is_cpu.then_some(fields.next()?.trim_start_matches('/').to_owned())
        };
        let path = groups.lines().find_map(of_cpu).expect("the CPU controller of version 1");
        let own = Path::new(CPU_CGROUPS).join(path);
        let files = [QUOTA, PERIOD].map(|file| own.with_file_name(file));
        let earlier =
            files.map(|file| (file.clone(), fs::read_to_string(file).expect("a file of the kernel")));
        Self { own, is_ours: false, earlier: earlier.into() }
    }

    fn make(pid: u32) -> Self {
        let own = Path::new(CPU_CGROUPS).join(format!("plumb-test-{pid}/child"));
        fs::create_dir_all(&own).expect("root may make cgroups");
        fs::write(own.join("cgroup.procs"), pid.to_string()).expect("a file of the kernel");
        Self { own, is_ours: true, earlier: Vec::new() }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        if self.is_ours {
            let parent = self.own.parent().unwrap_or(&self.own);
            let removed = || fs::remove_dir(&self.own).is_ok() && fs::remove_dir(parent).is_ok();
            let _ = wait_until(PATIENCE, removed);
        }
        for (file, value) in &self.earlier {
            if fs::read_to_string(file).is_ok_and(|now| now != *value) {
                let _ = fs::write(file, value);
            }
        }
    }
}

/// Sets the CPU time per 10 ms, in microseconds.
fn limit_cpu(group: &Path, micros: u32) {
    for (file, value) in [(PERIOD, 10_000), (QUOTA, micros)] {
        fs::write(group.join(file), value.to_string()).expect("a file of the kernel");
    }
}
