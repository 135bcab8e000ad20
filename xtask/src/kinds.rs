//! Growing kinds and limits for their spread: the enums that distinguish their variants, their own files, and the number of
//! other files that may match on them. rules/kinds.rs compares this table with the code.

pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// `crate::Enum`.
    pub(crate) enums: &'static [&'static str],
    /// Folders end in `/`. Includes the one `match` per crate that dispatches to them.
    pub(crate) own: &'static [&'static str],
    pub(crate) words: &'static [&'static str],
    /// Other files that match on it.
    pub(crate) budget: usize,
    pub(crate) why: &'static str,
}

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
            "workload::Measurement", "workload::Metric", "findings::WorkloadSummary", "samples::WorkloadSource", "samples::ImportedKind", "findings::SingleOutcome", "traffic::Kind",
            "traffic::Purpose", "server::Work", "cli::Lines"],
        own: &["crates/analysis/src/kind.rs", "crates/analysis/src/kind/", "crates/lab/src/warnings.rs",
            "crates/lab/src/warnings/", "crates/report/src/kind.rs", "crates/report/src/kind/", "crates/samples/src/earlier.rs",
            "crates/scenario/src/check/workloads/", "crates/scenario/src/document/workload_tables.rs",
            "crates/traffic/src/connect/", "crates/traffic/src/ends.rs", "crates/traffic/src/ping_pong/",
            "crates/traffic/src/stream/", "crates/workload/"],
        words: &["balloon", "connect", "first-touch", "ping-pong", "stream"],
        budget: 58,
        why: "every output distinguishes the kinds of results; 43 without Metric, WorkloadSummary, balloon and first-touch" },
    Kind { name: "factor",
        enums: &["scenario::Setting", "scenario::WorkloadSetting", "scenario::DeviceSettingKind"],
        own: &["crates/samples/src/device_state.rs", "crates/samples/src/earlier.rs", "crates/scenario/src/check/factors.rs",
            "crates/scenario/src/check/factors/", "crates/scenario/src/check/workloads/",
            "crates/scenario/src/factor.rs", "crates/scenario/src/factor/", "crates/scenario/src/lab/settings.rs", "crates/scenario/src/lab/settings/", "crates/topology/src/configure.rs",
            "crates/topology/src/configure/"],
        words: &["big-tcp", "checksum", "coalescing", "congestion", "direction", "gro", "gso", "message", "mode", "mtu", "offload",
            "placement", "queues", "rate", "rings", "schedule", "streams", "tso", "waiting"],
        budget: 25,
        why: "checking, expanding, applying and recording a factor each need a list" },
    Kind { name: "vmm",
        enums: &["scenario::Monitor", "scenario::Board"],
        own: &["crates/machine/src/firecracker/", "crates/machine/src/firecracker.rs", "crates/machine/src/qemu/",
            "crates/machine/src/qemu.rs", "crates/scenario/src/vm.rs"],
        words: &["firecracker", "microvm", "q35", "qemu"],
        budget: 9,
        why: "monitors differ in their capabilities, and callers name them" },
    Kind { name: "probe",
        enums: &["samples::ProbeKind"],
        own: &["crates/probe/src/cpu_owners/", "crates/probe/src/packet_way/", "crates/probe/src/syscalls/",
            "crates/samples/src/observed.rs"],
        words: &["cpu", "packet-way", "syscalls"],
        budget: 13,
        why: "the data of each probe is printed, drawn and compared separately" },
];
