//! What a round of `plumb rebalance` saw and decided, in the text format of Prometheus.

use std::collections::BTreeMap;

use memory::{GuestMemory, MemoryError, TierMemory};
use policy::Decision;

use web::{Exposition, labels};

/// A gauge of each machine: its name, what it is, and its value where it is known.
type Gauge = (&'static str, &'static str, fn(&GuestMemory) -> Option<f64>);

/// A gauge of each of a guest's nodes.
type NodeGauge = (&'static str, &'static str, fn(&TierMemory) -> f64);

const GAUGES: [Gauge; 10] = [
    ("plumb_vm_memory_bytes", "What the machine has.", |memory| Some(memory.size.0 as f64)),
    ("plumb_vm_resident_bytes", "Memory of its process in RAM.", |memory| Some(memory.resident?.0 as f64)),
    ("plumb_vm_free_bytes", "Free memory, as its guest tells.", |memory| Some(memory.free?.0 as f64)),
    ("plumb_vm_available_bytes", "Memory that its guest could hand out without swapping.", |memory| {
        Some(memory.available?.0 as f64)
    }),
    (
        "plumb_vm_refaults_per_second",
        "Pages that were read back, or major faults and pages from swap.",
        |memory| memory.refaults,
    ),
    ("plumb_vm_slow_bytes", "Slow memory that the machine has.", |memory| Some(memory.slow.0 as f64)),
    ("plumb_vm_swap_used_bytes", "Swap in use, as its agent tells.", |memory| {
        Some(memory.swap_used?.0 as f64)
    }),
    ("plumb_vm_pressure_share", "Share of the time in which some task waited for memory (PSI).", |memory| {
        Some(memory.psi?.0)
    }),
    ("plumb_vm_dram_hits_share", "Share of its accesses that fast memory served.", |memory| {
        Some(memory.dram_hits()?.0)
    }),
    ("plumb_vm_telemetry_cpu_share", "CPU time of the guest that telemetry takes, of one CPU.", |memory| {
        Some(memory.cost?.0)
    }),
];

const NODE_GAUGES: [NodeGauge; 4] = [
    ("plumb_vm_node_bytes", "Memory of a node of the guest.", |tier| tier.size.0 as f64),
    ("plumb_vm_node_free_bytes", "Free memory of a node of the guest.", |tier| tier.free.0 as f64),
    ("plumb_vm_node_accessed_bytes", "Memory of a node that was accessed in the interval.", |tier| {
        tier.accessed().0 as f64
    }),
    (
        "plumb_vm_node_accesses",
        "Accesses of a node in the interval, in a unit of the source's own.",
        |tier| tier.accesses() as f64,
    ),
];

/// What was seen of each machine, and what a rebalancer has decided.
pub(crate) fn text(
    seen: &BTreeMap<String, Result<GuestMemory, MemoryError>>,
    decision: Option<&Decision>,
) -> String {
    let mut text = Exposition::default();
    for (name, help, value) in GAUGES {
        let values = seen.iter().filter_map(|(vm, seen)| Some((label(vm), value(seen.as_ref().ok()?)?)));
        text.gauge(name, help, values);
    }
    for (name, help, value) in NODE_GAUGES {
        let of_vm = seen.iter().filter_map(|(vm, seen)| Some((vm, seen.as_ref().ok()?)));
        let values = of_vm.flat_map(|(vm, seen)| {
            let vm = label(vm);
            seen.tiers.iter().map(move |tier| (format!("{vm},node=\"{}\"", tier.node), value(tier)))
        });
        text.gauge(name, help, values);
    }
    let outlooks = decision.iter().flat_map(|decision| &decision.outlooks);
    let needs = outlooks.filter_map(|outlook| Some((label(&outlook.vm), outlook.needs?.0 as f64)));
    text.gauge("plumb_vm_needed_bytes", "What it needs, as the rebalancer believes.", needs);
    let answers = seen.iter().map(|(vm, seen)| (label(vm), f64::from(u8::from(seen.is_ok()))));
    text.gauge("plumb_vm_up", "Whether its monitor answers.", answers);
    text.into_text()
}

fn label(vm: &str) -> String {
    labels(&[("vm", vm)])
}
