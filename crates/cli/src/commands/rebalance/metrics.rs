//! What a round of `plumb rebalance` saw and decided, in the text format of Prometheus. Source:
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::Write as _;

use memory::{GuestMemory, Round};

/// A gauge of each machine: its name, what it is, and its value where it is known.
type Gauge = (&'static str, &'static str, fn(&GuestMemory) -> Option<f64>);

const GAUGES: [Gauge; 5] = [
    ("plumb_vm_memory_bytes", "What the machine has.", |memory| Some(memory.size.0 as f64)),
    ("plumb_vm_resident_bytes", "Memory of its process in RAM.", |memory| Some(memory.resident?.0 as f64)),
    ("plumb_vm_free_bytes", "Free memory, as its guest tells.", |memory| Some(memory.free?.0 as f64)),
    ("plumb_vm_available_bytes", "Memory that its guest could hand out without swapping.", |memory| {
        Some(memory.available?.0 as f64)
    }),
    ("plumb_vm_refaults_per_second", "Major page faults, and pages read from swap.", |memory| {
        memory.refaults
    }),
];

pub(super) fn text(round: &Round) -> String {
    let mut text = String::new();
    for (name, help, value) in GAUGES {
        let values = round.seen.iter().filter_map(|(vm, seen)| Some((vm, value(seen.as_ref().ok()?)?)));
        gauge(&mut text, (name, help), values);
    }
    let outlooks = &round.decision.outlooks;
    let needs = outlooks.iter().filter_map(|outlook| Some((&outlook.vm, outlook.needs?.0 as f64)));
    gauge(&mut text, ("plumb_vm_needed_bytes", "What it needs, as the rebalancer believes."), needs);
    let answers = round.seen.iter().map(|(vm, seen)| (vm, f64::from(u8::from(seen.is_ok()))));
    gauge(&mut text, ("plumb_vm_up", "Whether its monitor answers."), answers);
    text
}

fn gauge<'a>(text: &mut String, (name, help): (&str, &str), values: impl Iterator<Item = (&'a String, f64)>) {
    let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
    for (vm, value) in values {
        let vm = vm.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = writeln!(text, "{name}{{vm=\"{vm}\"}} {value}");
    }
}
