//! Checks that verdicts name a lab's faults, and no others, although the record does not describe them.

use std::fmt::Write as _;

use plumb_tests::Random;
use serde_json::Value;

use crate::{fault_labs::Lab, sandbox};

const TRIALS: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    MtuHole,
    IcmpHole,
    CpuLimit,
    SnatPorts,
    PolicedPort,
    QueueLimit,
    LostChecksum,
}

const KINDS: [Kind; 7] = [
    Kind::MtuHole,
    Kind::IcmpHole,
    Kind::CpuLimit,
    Kind::SnatPorts,
    Kind::PolicedPort,
    Kind::QueueLimit,
    Kind::LostChecksum,
];

#[derive(Debug, Clone, Copy)]
struct Cell {
    kind: Kind,
    tunnel: Option<&'static str>,
    ping: bool,
}

struct Fault {
    table: String,
    device: &'static str,
    causes: &'static [&'static str],
    says: Vec<String>,
    streams: u64,
}

impl Cell {
    fn all() -> Vec<Self> {
        let of_kind = |kind| {
            let loads = [(None, false), (None, true), (Some("vxlan"), false), (Some("vxlan"), true)];
            loads.map(|(tunnel, ping)| Self { kind, tunnel, ping })
        };
        KINDS.into_iter().flat_map(of_kind).collect()
    }

    fn holes_in_tunnels() -> Vec<Self> {
        let of_kind = |kind| {
            ["geneve", "wireguard", "esp"].map(|tunnel| Self { kind, tunnel: Some(tunnel), ping: true })
        };
        [Kind::MtuHole, Kind::IcmpHole].into_iter().flat_map(of_kind).collect()
    }

    fn is_routed(self) -> bool {
        matches!(self.kind, Kind::IcmpHole | Kind::SnatPorts)
    }

    fn fault(self, random: &mut Random) -> Fault {
        let rate = 10 + random.below(30);
        let (table, device, causes, says): (_, _, &[&str], _) = match self.kind {
            Kind::MtuHole => {
                let mtu = 1200 + random.below(150);
                let says = vec!["switch:p2 loses the client's packets above 1".to_owned()];
                (format!("kind = \"mtu-hole\", mtu = {mtu}"), "switch:p2", &["black-hole"], says)
            }
            Kind::IcmpHole => {
                let says = vec!["router:eth1 loses the client's packets above 1300 bytes".to_owned()];
                let device = if self.tunnel.is_some() { "router:t0" } else { "router:eth0" };
                ("kind = \"icmp-hole\"".to_owned(), device, &["black-hole"], says)
            }
            Kind::CpuLimit => {
                let cpu = 3 + random.below(5);
                let says = vec!["The client used up its CPU quota in ".to_owned(), format!("0.0{cpu} CPUs")];
                (format!("kind = \"cpu-limit\", cpu = \"{cpu}%\""), "client:eth0", &["cpu-throttled"], says)
            }
            Kind::SnatPorts => {
                let ports = 2 + random.below(4);
                let says = vec![format!("Source NAT on router uses up its {ports} ports")];
                (format!("kind = \"snat-ports\", ports = {ports}"), "router:eth1", &["snat-ports"], says)
            }
            Kind::PolicedPort => {
                let says = vec![format!("switch:p1 drops traffic arriving above {rate}.0 Mbit/s")];
                let table = format!("kind = \"policed-port\", rate = \"{rate}Mbit/s\"");
                (table, "switch:p1", &["policed-port"], says)
            }
            Kind::QueueLimit => {
                let table = format!("kind = \"queue-limit\", rate = \"{rate}Mbit/s\", queue = \"128KiB\"");
                (table, "switch:p2", &["qdisc-drops", "shaped-port"], vec!["switch:p2 (tbf)".to_owned()])
            }
            Kind::LostChecksum => {
                let says = vec!["server receives packets with wrong TCP or UDP checksums".to_owned()];
                ("kind = \"lost-checksum\"".to_owned(), "switch:p2", &["lost-checksum"], says)
            }
        };
        let streams = if self.kind == Kind::SnatPorts { 8 } else { 1 };
        Fault { table, device, causes, says, streams }
    }

    fn lab(self) -> Lab {
        Lab { routed: self.is_routed(), tunnel: self.tunnel, mtus: [1500, 1300], rate: None }
    }

    fn workload(self, streams: u64) -> String {
        match (self.ping, self.kind) {
            (false, _) => format!(
                "kind = \"stream\", duration = \"1s\", warmup = \"100ms\", congestion = \"cubic\", streams = {streams}"
            ),
            (true, Kind::CpuLimit) => {
                "kind = \"ping-pong\", duration = \"1s\", waiting = \"spin\"".to_owned()
            }
            // Uses short connections, because a single connection does not use up the ports.
            (true, Kind::SnatPorts) => format!("kind = \"connect\", duration = \"1s\", clients = {streams}"),
            (true, _) => "kind = \"ping-pong\", duration = \"1s\", message = 1380".to_owned(),
        }
    }
}

pub(crate) fn names_faults(seed: u32, cells: usize) {
    names(Cell::all, seed, cells);
}

/// Uses three kinds of tunnels that the virtual hypervisor supports.
pub(crate) fn names_holes_in_tunnels(seed: u32, cells: usize) {
    names(Cell::holes_in_tunnels, seed, cells);
}

fn names(all: fn() -> Vec<Cell>, seed: u32, cells: usize) {
    println!("  SEED={seed}");
    let mut random = Random::of(seed);
    let mut table = all();
    let mut wrong = String::new();
    for number in 0..cells {
        if table.is_empty() {
            table = all();
        }
        let cell = table.swap_remove(random.below(table.len()));
        let fault = cell.fault(&mut random);
        let reason = examine(cell, &fault).err();
        println!("  {number} {cell:?}: {}", reason.as_deref().unwrap_or("right"));
        if let Some(reason) = reason {
            writeln!(wrong, "{cell:?}: {reason}").expect("it is a string");
        }
    }
    let right = cells - wrong.lines().filter(|line| line.starts_with("Cell")).count();
    println!("  {right} of {cells} cells are right");
    assert!(right * 28 >= cells * 27, "SEED={seed}: {right} of {cells} are right\n{wrong}");
}

fn examine(cell: Cell, fault: &Fault) -> Result<(), String> {
    let sandbox = sandbox();
    let factor = format!(
        "factors.f = {{ vary = \"fault\", devices = [\"{}\"], values = [\"none\", \"x\"] }}",
        fault.device
    );
    let faults = format!("faults.x = {{ {} }}\n{factor}", fault.table);
    cell.lab().measure(&sandbox, &cell.workload(fault.streams), &faults, TRIALS);
    let sandbox = sandbox.as_undisturbed(forget_fault);
    let findings = sandbox.findings("latest");
    let why = causes(&findings["verdict"]);
    let is_right = |why: &&Value| {
        let text = why.to_string();
        fault.causes.iter().any(|cause| why["finding"] == *cause)
            && fault.says.iter().all(|part| text.contains(part))
    };
    match why.iter().find(|why| is_right(why)) {
        Some(_) if why.len() == 1 => Ok(()),
        _ => Err(format!("{} at {}: {}", fault.table, fault.device, findings["verdict"])),
    }
}

fn causes(verdict: &Value) -> Vec<&Value> {
    if verdict["conclusion"]["kind"] == "broken" {
        return vec![&verdict["conclusion"]["reason"]];
    }
    let workloads = verdict["workloads"].as_array().expect("a list").iter();
    let causes = workloads.map(|workload| &workload["change"]["cause"]);
    let found: Vec<&Value> = causes.filter(|cause| cause["kind"] == "found").collect();
    match verdict["causes"].as_array() {
        Some(counted) if found.is_empty() => counted.iter().collect(),
        _ => found,
    }
}

fn forget_fault(record: &mut Value) {
    let text = &mut record["header"]["scenario"]["text"];
    let lines = text.as_str().expect("a scenario").lines().filter(|line| !line.starts_with("faults."));
    *text = Value::from(lines.collect::<Vec<_>>().join("\n"));
    let rest = record["header"].to_string();
    for kind in
        ["mtu-hole", "icmp-hole", "cpu-limit", "snat-ports", "policed", "queue-limit", "lost-checksum"]
    {
        assert!(!rest.contains(kind), "the record still describes the fault: {rest}");
    }
}
