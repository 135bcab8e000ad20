//! The kinds that grow, and how far each may be spread: which enums tell them apart, which files are theirs, and how many
//! others may match on them. Only data; rules/kinds.rs holds it against the code.
//!
//! To take in what was renamed: `enums` and `own` must be there, and the rule names those that are not. To lower a budget:
//! the rule says what it may be.

/// A kind.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// The enums that tell its variants apart, as `crate::Enum`.
    pub(crate) enums: &'static [&'static str],
    /// Its own files and folders (ending in `/`), with the one `match` of a crate that leads to them.
    pub(crate) own: &'static [&'static str],
    /// What its variants are called in scenarios and reports.
    pub(crate) words: &'static [&'static str],
    /// Other files that match on it, at most.
    pub(crate) budget: usize,
    /// Why these, and why no fewer.
    pub(crate) why: &'static str,
}

/// All kinds.
#[rustfmt::skip]
pub(crate) const KINDS: &[Kind] = &[
    Kind { name: "link",
        enums: &["scenario::Link", "scenario::Layer", "scenario::HostKind", "topology::DeviceKind", "topology::Element"],
        own: &["crates/scenario/src/link.rs", "crates/scenario/src/link/", "crates/topology/src/gateway.rs",
            "crates/topology/src/link.rs", "crates/topology/src/link/"],
        words: &["bridge", "gateway", "macvlan", "tap", "veth", "virtio", "vlan", "vxlan", "wire"],
        budget: 23,
        why: "each phase of a run still lists the links itself" },
    Kind { name: "workload",
        enums: &["workload::WorkloadKind", "workload::WorkloadSettings", "workload::EndMeasurement",
            "workload::Measurement", "samples::WorkloadSource", "samples::ImportedKind", "findings::SingleOutcome", "traffic::Kind",
            "traffic::Purpose", "server::Work", "cli::Lines"],
        own: &["crates/analysis/src/kind.rs", "crates/analysis/src/kind/", "crates/lab/src/warnings.rs",
            "crates/lab/src/warnings/", "crates/report/src/kind.rs", "crates/report/src/kind/", "crates/samples/src/earlier.rs",
            "crates/scenario/src/check/workloads/", "crates/scenario/src/document/workload_tables.rs",
            "crates/traffic/src/connect/", "crates/traffic/src/ends.rs", "crates/traffic/src/ping_pong/",
            "crates/traffic/src/stream/", "crates/workload/"],
        words: &["connect", "ping-pong", "stream"],
        budget: 43,
        why: "what was measured is told apart by whoever shows it" },
    Kind { name: "factor",
        enums: &["scenario::Setting", "scenario::WorkloadSetting", "scenario::DeviceSettingKind"],
        own: &["crates/samples/src/device_state.rs", "crates/samples/src/earlier.rs", "crates/scenario/src/check/factors.rs",
            "crates/scenario/src/check/factors/", "crates/scenario/src/check/workloads/",
            "crates/scenario/src/factor.rs", "crates/scenario/src/factor/", "crates/scenario/src/lab/settings.rs", "crates/scenario/src/lab/settings/", "crates/topology/src/configure.rs",
            "crates/topology/src/configure/"],
        words: &["big-tcp", "checksum", "congestion", "direction", "gro", "gso", "message", "mode", "mtu", "offload",
            "placement", "queues", "rate", "schedule", "streams", "tso", "waiting"],
        budget: 25,
        why: "a factor is checked, expanded, applied and recorded by lists of their own" },
    Kind { name: "vmm",
        enums: &["scenario::Monitor", "scenario::Board"],
        own: &["crates/machine/src/firecracker/", "crates/machine/src/firecracker.rs", "crates/machine/src/qemu/",
            "crates/machine/src/qemu.rs", "crates/scenario/src/vm.rs"],
        words: &["firecracker", "microvm", "q35", "qemu"],
        budget: 9,
        why: "the monitors differ in what they can do, and whoever asks for it names them" },
    Kind { name: "probe",
        enums: &["samples::ProbeKind"],
        own: &["crates/probe/src/cpu_owners/", "crates/probe/src/packet_way/", "crates/probe/src/syscalls/",
            "crates/samples/src/observed.rs"],
        words: &["cpu", "packet-way", "syscalls"],
        budget: 13,
        why: "what each sees is told, drawn and compared by itself" },
];
