//! Metrics of `plumb rebalance` in Prometheus text format.

use memory::{GuestMemory, Seen};
use policy::Decision;
use protocol::NodeMemory;

use web::{Exposition, labels};

/// A machine's metric: its name, help text, and value, if known.
type Gauge = (&'static str, &'static str, fn(&GuestMemory) -> Option<f64>);

type NodeGauge = (&'static str, &'static str, fn(&NodeMemory) -> f64);

const GAUGES: [Gauge; 10] = [
    ("plumb_vm_memory_bytes", "Memory of the machine.", |memory| Some(memory.size.0 as f64)),
    ("plumb_vm_resident_bytes", "Resident memory of the QEMU process.", |memory| {
        Some(memory.resident?.0 as f64)
    }),
    ("plumb_vm_free_bytes", "Free memory reported by the guest.", |memory| Some(memory.free?.0 as f64)),
    ("plumb_vm_available_bytes", "Memory available in the guest without swapping.", |memory| {
        Some(memory.available?.0 as f64)
    }),
    (
        "plumb_vm_refaults_per_second",
        "Refaulted pages; without an agent, major faults and pages swapped in.",
        |memory| memory.refaults_per_second,
    ),
    ("plumb_vm_slow_bytes", "Slow memory of the machine.", |memory| Some(memory.slow.0 as f64)),
    ("plumb_vm_swap_used_bytes", "Swap in use, reported by the agent.", |memory| {
        Some(memory.swap_used?.0 as f64)
    }),
    (
        "plumb_vm_pressure_share",
        "Share of time in which at least one task waited for memory (PSI).",
        |memory| Some(memory.pressure?.0),
    ),
    ("plumb_vm_dram_hits_share", "Share of accesses served by fast memory.", |memory| {
        Some(memory.dram_hits()?.0)
    }),
    ("plumb_vm_telemetry_cpu_share", "Guest CPU time used by telemetry, as a share of one CPU.", |memory| {
        Some(memory.telemetry_cpu?.0)
    }),
];

const NODE_GAUGES: [NodeGauge; 4] = [
    ("plumb_vm_node_bytes", "Memory of a guest NUMA node.", |node| node.size.0 as f64),
    ("plumb_vm_node_free_bytes", "Free memory of a guest NUMA node.", |node| node.free.0 as f64),
    ("plumb_vm_node_accessed_bytes", "Memory of a node accessed in the interval.", |node| {
        node.accessed().0 as f64
    }),
    ("plumb_vm_node_accesses", "Accesses to a node in the interval, in the source's unit.", |node| {
        node.accesses() as f64
    }),
];

pub(crate) fn text(memory: &Seen, decision: Option<&Decision>) -> String {
    let mut text = Exposition::default();
    for (name, help, value) in GAUGES {
        let values =
            memory.iter().filter_map(|(vm, memory)| Some((label(vm), value(memory.as_ref().ok()?)?)));
        text.gauge(name, help, values);
    }
    for (name, help, value) in NODE_GAUGES {
        let of_vm = memory.iter().filter_map(|(vm, memory)| Some((vm, memory.as_ref().ok()?)));
        let values = of_vm.flat_map(|(vm, memory)| {
            let vm = label(vm);
            memory.nodes.iter().map(move |node| (format!("{vm},node=\"{}\"", node.node), value(node)))
        });
        text.gauge(name, help, values);
    }
    let outlooks = decision.iter().flat_map(|decision| &decision.outlooks);
    let needs = outlooks.filter_map(|outlook| Some((label(&outlook.vm), outlook.needs?.0 as f64)));
    text.gauge("plumb_vm_needed_bytes", "Estimated memory that the machine needs.", needs);
    let answers = memory.iter().map(|(vm, memory)| (label(vm), f64::from(u8::from(memory.is_ok()))));
    text.gauge("plumb_vm_up", "Whether the machine's monitor responds.", answers);
    text.into_text()
}

fn label(vm: &str) -> String {
    labels(&[("vm", vm)])
}
