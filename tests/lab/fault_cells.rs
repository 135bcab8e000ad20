//! Checks that verdicts name faults that the record does not describe, and no others.

use std::fmt::Write as _;

use plumb_tests::{OtherWork, Sandbox};
use serde_json::Value;

use crate::sandbox;

const CAUSES: [&str; 7] = [
    "black-hole",
    "cpu-throttled",
    "lost-checksum",
    "policed-port",
    "qdisc-drops",
    "shaped-port",
    "snat-ports",
];
const TRIALS: u32 = 6;
const SWITCHED: &str = r#"
hosts.client = {}
hosts.switch = {}
hosts.server = {}
wires.up = { between = ["client:eth0", "switch:p1"], addresses = ["198.18.0.1/24", "none"] }
wires.down = { between = ["switch:p2", "server:eth0"], addresses = ["none", "198.18.0.2/24"] }
bridges.br0 = { host = "switch", ports = ["p1", "p2"] }
vxlans.vx0.vni = 7
vxlans.vx0.members.client = { over = "eth0", address = "198.18.9.1/24" }
vxlans.vx0.members.server = { over = "eth0", address = "198.18.9.2/24" }
"#;
/// The second wire has a smaller MTU than the tunnel, so the router sends ICMP errors.
const ROUTED: &str = r#"
hosts.client = {}
hosts.router = {}
hosts.server = {}
wires.up = { between = ["client:eth0", "router:eth0"], addresses = ["198.18.0.1/24", "198.18.0.2/24"] }
wires.down = { between = ["router:eth1", "server:eth0"], addresses = ["198.18.1.1/24", "198.18.1.2/24"], mtu = 1300 }
"#;
const BY_WIRE: &str = r#"
routes = [
    { host = "client", to = "198.18.1.0/24", via = "198.18.0.2" },
    { host = "server", to = "198.18.0.0/24", via = "198.18.1.1" },
]
"#;
const BY_TUNNEL: &str = r#"
routes = [
    { host = "client", to = "198.18.1.0/24", via = "198.18.9.2" },
    { host = "server", to = "198.18.9.0/24", via = "198.18.1.1" },
]
vxlans.vx0.vni = 7
vxlans.vx0.members.client = { over = "eth0", address = "198.18.9.1/24" }
vxlans.vx0.members.router = { over = "eth0", address = "198.18.9.2/24" }
"#;

struct Draw(u64);

impl Draw {
    /// Xorshift64.
    fn from(&mut self, range: std::ops::Range<u64>) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        range.start + self.0 % (range.end - range.start)
    }
}

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
    tunnel: bool,
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
            [(false, false), (false, true), (true, false), (true, true)].map(|(tunnel, ping)| Self {
                kind,
                tunnel,
                ping,
            })
        };
        KINDS.into_iter().flat_map(of_kind).collect()
    }

    fn is_routed(self) -> bool {
        matches!(self.kind, Kind::IcmpHole | Kind::SnatPorts)
    }

    fn fault(self, draw: &mut Draw) -> Fault {
        let rate = draw.from(10..40);
        let (table, device, causes, says): (_, _, &[&str], _) = match self.kind {
            Kind::MtuHole => {
                let mtu = draw.from(1200..1350);
                let says = vec!["switch:p2 loses the client's packets above 1".to_owned()];
                (format!("kind = \"mtu-hole\", mtu = {mtu}"), "switch:p2", &["black-hole"], says)
            }
            Kind::IcmpHole => {
                let says = vec!["router:eth1 loses the client's packets above 1300 bytes".to_owned()];
                let device = if self.tunnel { "router:vx0" } else { "router:eth0" };
                ("kind = \"icmp-hole\"".to_owned(), device, &["black-hole"], says)
            }
            Kind::CpuLimit => {
                let cpu = draw.from(3..8);
                let says = vec!["The client used up its CPU quota in ".to_owned(), format!("0.0{cpu} CPUs")];
                (format!("kind = \"cpu-limit\", cpu = \"{cpu}%\""), "client:eth0", &["cpu-throttled"], says)
            }
            Kind::SnatPorts => {
                let ports = draw.from(2..6);
                let says = vec![format!("Source NAT on router uses up its {ports} ports")];
                (format!("kind = \"snat-ports\", ports = {ports}"), "router:eth1", &["snat-ports"], says)
            }
            Kind::PolicedPort => {
                let says = vec![format!("switch:p1 drops what arrives above {rate}.0 Mbit/s")];
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

    fn lab(self) -> String {
        match (self.is_routed(), self.tunnel) {
            (false, _) => SWITCHED.to_owned(),
            (true, false) => format!("{ROUTED}{BY_WIRE}"),
            (true, true) => format!("{ROUTED}{BY_TUNNEL}"),
        }
    }

    fn path(self) -> &'static str {
        match (self.is_routed(), self.tunnel) {
            (false, false) => "from = \"client:eth0\", to = \"server:eth0\", layers = [\"wire\", \"bridge\"]",
            (false, true) => {
                "from = \"client:vx0\", to = \"server:vx0\", layers = [\"vxlan\", \"wire\", \"bridge\"]"
            }
            (true, false) => "from = \"client:eth0\", to = \"server:eth0\", layers = [\"wire\"]",
            (true, true) => "from = \"client:vx0\", to = \"server:eth0\", layers = [\"vxlan\", \"wire\"]",
        }
    }

    fn workload(self, streams: u64) -> String {
        match (self.ping, self.kind) {
            (false, _) => format!(
                "kind = \"stream\", duration = \"1s\", warmup = \"100ms\", congestion = \"cubic\", streams = {streams}"
            ),
            (true, Kind::CpuLimit) => {
                "kind = \"ping-pong\", duration = \"1s\", waiting = \"spin\"".to_owned()
            }
            // One connection does not use up the ports.
            (true, Kind::SnatPorts) => format!("kind = \"connect\", duration = \"1s\", clients = {streams}"),
            (true, _) => "kind = \"ping-pong\", duration = \"1s\", message = 1380".to_owned(),
        }
    }
}

pub(crate) fn draw(seed: u64, cells: usize, sound: usize) {
    println!("  SEED={seed}");
    let mut draw = Draw(seed.max(1));
    let mut table = Cell::all();
    let mut wrong = String::new();
    for number in 0..cells {
        if table.is_empty() {
            table = Cell::all();
        }
        let cell = table.swap_remove(draw.from(0..table.len() as u64) as usize);
        let fault = cell.fault(&mut draw);
        let reason = examine(cell, &fault).err();
        println!("  {number} {cell:?}: {}", reason.as_deref().unwrap_or("right"));
        if let Some(reason) = reason {
            writeln!(wrong, "{cell:?}: {reason}").expect("it is a string");
        }
    }
    let right = cells - wrong.lines().filter(|line| line.starts_with("Cell")).count();
    println!("  {right} of {cells} cells are right");
    for _ in 0..sound {
        names_no_cause(&mut draw);
    }
    println!("  {sound} runs without a fault name none");
    assert!(right * 28 >= cells * 27, "SEED={seed}: {right} of {cells} are right\n{wrong}");
}

fn examine(cell: Cell, fault: &Fault) -> Result<(), String> {
    let sandbox = sandbox();
    let factor = format!(
        "factors.f = {{ vary = \"fault\", devices = [\"{}\"], values = [\"none\", \"x\"] }}",
        fault.device
    );
    let faults = format!("faults.x = {{ {} }}\n{factor}", fault.table);
    measure(&sandbox, &scenario(&cell.lab(), cell.path(), &cell.workload(fault.streams), &faults));
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

fn names_no_cause(draw: &mut Draw) {
    let cell = Cell {
        kind: KINDS[draw.from(0..KINDS.len() as u64) as usize],
        tunnel: draw.from(0..2) == 0,
        ping: draw.from(0..2) == 0,
    };
    let sandbox = sandbox();
    let _busy = OtherWork::on_cpus(draw.from(0..3) as usize, sandbox.home());
    let factor = if cell.tunnel {
        "factors.f = { vary = \"offload\", devices = [\"client:vx0\"], values = [\"on\", \"off\"] }"
    } else {
        "factors.f = { vary = \"offload\", devices = [\"client:eth0\"], values = [\"on\", \"off\"] }"
    };
    measure(&sandbox, &scenario(&cell.lab(), cell.path(), &cell.workload(1), factor));
    let findings = sandbox.as_undisturbed(|_| ()).findings("latest");
    let all = findings["findings"].as_array().expect("findings").iter();
    let named: Vec<&Value> = all.filter(|found| CAUSES.iter().any(|cause| found["id"] == *cause)).collect();
    assert!(named.is_empty(), "{cell:?}: {named:#?}");
}

fn scenario(lab: &str, path: &str, workload: &str, factor: &str) -> String {
    format!(
        "schema = 1\nname = \"cell\"\ntitle = \"A cell of the table of faults\"\n{lab}\n\
         paths.path = {{ {path}, baseline = true }}\nworkloads.load = {{ {workload} }}\n{factor}\n\
         schedule = {{ trials = {TRIALS} }}\n"
    )
}

fn measure(sandbox: &Sandbox, scenario: &str) {
    let file = sandbox.file("cell.toml", scenario);
    let _ = sandbox.succeed(&["run", &file, "--probe", "none"]);
}
