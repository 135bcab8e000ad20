//! Checks that no fault is named as a cause in a lab without faults.

use std::fmt::Write as _;

use plumb_tests::{OtherWork, Random};
use serde_json::Value;

use crate::{
    fault_labs::{CAUSES, Lab},
    sandbox,
};

/// Symptoms that must not be reported either.
const SYMPTOMS: [&str; 2] = ["backlog-drops", "stalled"];
const TRIALS: u32 = 3;

struct Drawn {
    lab: Lab,
    workload: &'static str,
    factor: String,
    loops: usize,
}

/// These workloads send less than `RATES`.
const BOUNDED: [&str; 4] = [
    "kind = \"stream\", rate = \"5Mbit/s\", message = \"4KiB\"",
    "kind = \"stream\", transport = \"udp\", rate = \"5Mbit/s\", message = 1200",
    "kind = \"ping-pong\", schedule = \"open\", period = \"2ms\"",
    "kind = \"ping-pong\", schedule = \"open\", period = \"2ms\", message = 1200",
];
/// These workloads fill a slow link, so the link is the cause.
const UNBOUNDED: [&str; 6] = [
    "kind = \"ping-pong\"",
    "kind = \"ping-pong\", message = 1380",
    "kind = \"ping-pong\", transport = \"tcp\", message = 4000, waiting = \"spin\"",
    "kind = \"connect\", clients = 4",
    "kind = \"stream\", warmup = \"100ms\"",
    "kind = \"stream\", warmup = \"100ms\", streams = 4, direction = \"reverse\"",
];
const RATES: [&str; 3] = ["20Mbit/s", "200Mbit/s", "2Gbit/s"];

impl Drawn {
    fn from(random: &mut Random) -> Self {
        let is_bounded = random.one_of(&[false, true]);
        let workload = if is_bounded { random.one_of(&BOUNDED) } else { random.one_of(&UNBOUNDED) };
        let mut lab = Lab {
            routed: random.one_of(&[false, true]),
            tunnel: random.one_of(&[None, Some("vxlan")]),
            mtus: [random.one_of(&[1400, 1500, 9000]), 0],
            rate: is_bounded.then(|| random.one_of(&RATES)),
        };
        lab.mtus[1] = random.one_of(&[1300, 1400, 1500, lab.mtus[0]]);
        let factor = match random.below(3) {
            0 => String::new(),
            1 => vary(&lab, "offload", "\"on\", \"off\""),
            _ => vary(&lab, "gro", "\"on\", \"off\""),
        };
        Self { lab, workload, factor, loops: random.below(4) }
    }
}

fn vary(lab: &Lab, setting: &str, values: &str) -> String {
    format!(
        "factors.f = {{ vary = \"{setting}\", devices = [\"{}\"], values = [{values}] }}",
        lab.client_device()
    )
}

pub(crate) fn name_no_cause(seed: u32, runs: usize) {
    println!("  SEED={seed}");
    let mut random = Random::of(seed);
    let mut wrong = String::new();
    for number in 0..runs {
        let drawn = Drawn::from(&mut random);
        let named = causes(&drawn);
        let Drawn { lab, workload, factor, loops } = drawn;
        let run = format!("{number} {lab:?}, {workload}, {factor}, {loops} loops");
        println!("  {run}: {}", if named.is_empty() { "none" } else { "wrong" });
        named.iter().for_each(|found| writeln!(wrong, "{run}: {found}").expect("it is a string"));
    }
    assert!(wrong.is_empty(), "SEED={seed}\n{wrong}");
}

fn causes(drawn: &Drawn) -> Vec<Value> {
    let sandbox = sandbox();
    let busy = OtherWork::on_cpus(drawn.loops, sandbox.home());
    let workload = format!("{}, duration = \"700ms\"", drawn.workload);
    drawn.lab.measure(&sandbox, &workload, &drawn.factor, TRIALS);
    drop(busy);
    let mut findings = sandbox.as_undisturbed(|_| ()).findings("latest");
    let mut named = findings["findings"].take();
    let named = named.as_array_mut().expect("findings");
    named.retain(|found| CAUSES.iter().chain(&SYMPTOMS).any(|cause| found["id"] == *cause));
    std::mem::take(named)
}
