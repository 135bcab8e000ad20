//! For every rule, a run that triggers it and a similar one that does not.

use findings::Severity::{self, Note, Serious, Warning};
use samples::ValidityWarning;

use super::{imported, made, watched};
use crate::fixtures::{Fixture, contaminated, egress};

pub(super) struct Case {
    pub(super) rule: &'static str,
    pub(super) triggers: fn() -> Fixture,
    pub(super) spares: fn() -> Fixture,
    pub(super) severity: Severity,
    pub(super) says: &'static [&'static str],
    pub(super) change: Option<&'static str>,
}

fn busy_sender(busy: f64) -> ValidityWarning {
    ValidityWarning::GeneratorLimited { end: "client".into(), busy }
}

fn busy_receiver(busy: f64) -> ValidityWarning {
    ValidityWarning::ReceiverLimited { end: "server".into(), busy }
}

pub(super) const CASES: &[Case] = &[
    Case {
        rule: "disturbed",
        triggers: || made::disturbed(|block| block < 4),
        // Enough undisturbed trials are left.
        spares: || made::disturbed(|block| block < 1),
        severity: Serious,
        says: &["busy with other work in 4 of 6 trials", "`cc1` used up to 1.20 CPUs"],
        change: None,
    },
    Case {
        rule: "unreadable-trials",
        triggers: || made::unreadable(&["trial 3"]),
        spares: || made::unreadable(&[]),
        severity: Warning,
        says: &["1 part of the run cannot be read", "trial 3", "checksum", "plumb runs repair"],
        change: None,
    },
    Case {
        rule: "machine-change",
        triggers: || made::resumed_on(&["6.1.0-32-cloud-amd64"]),
        spares: || made::resumed_on(&[]),
        severity: Warning,
        says: &["resumed on another machine or kernel once", "after 7 trials", "6.1.0-32-cloud-amd64"],
        change: None,
    },
    Case {
        rule: "workload-limit",
        triggers: || made::limited_to(0.25),
        spares: || made::nested(9e9),
        severity: Warning,
        says: &[
            "container:web may use 0.25 CPUs",
            "used 0.5 CPUs at this end",
            "cat /sys/fs/cgroup/web/cpu.stat",
        ],
        change: None,
    },
    Case {
        rule: "offload-off",
        triggers: || egress(6),
        // The same devices and settings, but too few blocks to establish anything.
        spares: || egress(4),
        severity: Serious,
        says: &["node1:egress.vxlan", "ethtool -K egress.vxlan tso on gso on", "# in node1", "−70.0 % (−70"],
        change: Some("offloads-on"),
    },
    Case {
        rule: "slow-host",
        triggers: || made::fleet(|from, to| if from == "c" || to == "c" { 1e9 } else { 10e9 }),
        // Slow with only one other host.
        spares: || made::fleet(|from, to| if (from, to) == ("c", "a") { 1e9 } else { 10e9 }),
        severity: Serious,
        says: &["Host c is slow with every peer when sending and receiving", "10.0 % of", "# on c"],
        change: None,
    },
    Case {
        rule: "contamination",
        triggers: || contaminated(0.7),
        spares: || contaminated(1.0),
        severity: Warning,
        says: &[
            "disturbed each other",
            "throughput of bulk is −",
            "12 pairs of trials, up to 2",
            "uplink = ",
        ],
        change: None,
    },
    Case {
        rule: "slow-pair",
        triggers: || made::fleet(|from, to| if (from, to) == ("c", "a") { 4e9 } else { 10e9 }),
        // One of the two hosts is slow with every peer, which explains it.
        spares: || made::fleet(|from, _| if from == "c" { 4e9 } else { 10e9 }),
        severity: Serious,
        says: &["from c to a is slow: 4.00 Gbit/s, 39.9 %", "reverse 10.00 Gbit/s"],
        change: None,
    },
    Case {
        rule: "vhost-off",
        triggers: || imported::vhost(|_, path| path == "host-to-vm"),
        // Between the two guests it is the other way round: 16.0 Gbit/s without vhost and 6.35 with it.
        spares: || imported::vhost(|_, path| path == "vm1-to-vm0"),
        severity: Warning,
        says: &["16.2 Gbit/s instead of 27.4 Gbit/s", "1 of 1 comparison", "vhost=on", "single trials"],
        change: None,
    },
    Case {
        rule: "vhost-slower",
        triggers: || imported::vhost(|_, path| path == "vm1-to-vm0"),
        spares: || imported::vhost(|_, path| path == "host-to-vm"),
        severity: Serious,
        says: &["6.35 Gbit/s with it, 16.0 Gbit/s without", "1 of 1 comparison", "single trials"],
        change: None,
    },
    Case {
        rule: "page-balloon",
        triggers: || made::balloons(5.0),
        spares: || made::balloons(1.5),
        severity: Warning,
        says: &["409 MiB/s, virtio-mem at 1.99 GiB/s", "0.20", "-device virtio-mem-pci"],
        change: None,
    },
    Case {
        rule: "host-freeing",
        triggers: || made::freeing(0.2),
        spares: || made::freeing(0.04),
        severity: Note,
        says: &[
            "40.0 % of the time that virtio-balloon needs",
            "3.33 GiB/s instead of 2.00 GiB/s, so faster freeing can gain at most 1.67x",
            "524288 calls, 381 ns",
        ],
        change: None,
    },
    Case {
        rule: "mtu-mismatch",
        triggers: || made::mtu(1400),
        spares: || made::mtu(1450),
        severity: Warning,
        says: &["1400 bytes", "at least 1450"],
        change: Some("mtu"),
    },
    Case {
        rule: "fragmentation",
        triggers: || made::datagrams(1473),
        spares: || made::datagrams(1472),
        severity: Warning,
        says: &[
            "packets of 1501 bytes",
            "carries 1500",
            "2 fragments",
            "1.96 % of the datagrams were lost",
            "at most 1472",
        ],
        change: Some("mtu"),
    },
    Case {
        rule: "bimodal",
        triggers: || made::levels(&[5e9, 9e9]),
        spares: || made::levels(&[8.6e9, 9e9]),
        severity: Serious,
        says: &["5.01 Gbit/s", "9.02 Gbit/s", "are bimodal", "do not use"],
        change: Some("placement"),
    },
    Case {
        rule: "level-shift",
        triggers: || imported::vhost(|vhost, path| vhost == "off" && path == "vm0-to-vm1"),
        // The rate fluctuates by 4 %.
        spares: || imported::vhost(|vhost, path| vhost == "off" && path == "vm-to-host"),
        severity: Warning,
        says: &["from 12.6 Gbit/s to 19.9 Gbit/s after 23.0 s, for ", "The trial's average, 15.3 Gbit/s"],
        change: None,
    },
    Case {
        rule: "trend",
        triggers: || made::going(|at| 10e9 * (1.0 - 0.2 * at)),
        spares: || made::going(|at| if at < 0.5 { 10e9 } else { 8e9 }),
        severity: Note,
        says: &["The rate of plain drifted from 10.00 Gbit/s to 8.0", "(-19.6 %)", "in 15.0 s"],
        change: None,
    },
    Case {
        rule: "unsteady",
        triggers: made::wandering,
        spares: || made::going(|_| 10e9),
        severity: Note,
        says: &["trial 1 of plain is unsteady", "between "],
        change: None,
    },
    Case {
        rule: "datagram-loss",
        triggers: || made::losing(250),
        spares: || made::losing(9),
        severity: Serious,
        says: &["lost 20.0 % of its datagrams", "250 of 1250", "nstat -az UdpRcvbufErrors"],
        change: None,
    },
    Case {
        rule: "warm-up-too-short",
        triggers: || made::beginning(&[1e9, 3e9, 6e9]),
        // The start is within a tenth of the level, so it is not a warm-up.
        spares: || made::beginning(&[8.5e9, 8.6e9, 8.7e9]),
        severity: Warning,
        says: &[
            "each of 6 trials of plain",
            "up to 750 ms after the warm-up",
            "8.15 Gbit/s including that phase, 9.00 Gbit/s without it",
            "warmup = ",
            "1000ms",
        ],
        change: None,
    },
    Case {
        rule: "noisy-host",
        triggers: || made::swinging(0.12),
        spares: || made::swinging(0.02),
        severity: Warning,
        says: &["Noisy host: the baseline", "varies by"],
        change: None,
    },
    Case {
        rule: "too-noisy-to-say",
        triggers: || made::swaying(0.3),
        spares: || made::swaying(0.01),
        severity: Warning,
        says: &[
            "Too noisy to decide for 1 comparison: its interval is too wide",
            "vxlan-to-vxlan vs plain",
            "Reduce noise on the host",
        ],
        change: None,
    },
    Case {
        rule: "emulated",
        triggers: || made::processor("QEMU Virtual CPU version 2.5+"),
        spares: || made::processor("AMD EPYC 7T83 64-Core Processor"),
        severity: Warning,
        says: &["QEMU Virtual CPU", "not comparable with hardware"],
        change: None,
    },
    Case {
        rule: "direction-asymmetry",
        triggers: || {
            imported::vhost(|vhost, path| vhost == "on" && path.starts_with("vm") && !path.contains("host"))
        },
        spares: || {
            imported::vhost(|vhost, path| vhost == "off" && path.starts_with("vm") && !path.contains("host"))
        },
        severity: Serious,
        says: &["vm1-to-vm0, vhost=on gets 6.3", "vm0-to-vm1, vhost=on gets (17.", "35."],
        change: None,
    },
    Case {
        rule: "retransmits",
        triggers: || made::retransmitting(1000),
        spares: || made::retransmitting(100),
        severity: Warning,
        says: &["vxlan-to-vxlan/bulk", "--section drops"],
        change: Some("congestion"),
    },
    Case {
        rule: "stalled",
        triggers: || made::stalled(0),
        spares: || made::stalled(3),
        severity: Serious,
        says: &["vxlan-to-vxlan stopped after", "only retransmits", "ping -M do -s 1472"],
        change: None,
    },
    Case {
        rule: "link-rate",
        triggers: || made::steady(9.49e8),
        spares: || made::steady(8.5e8),
        severity: Note,
        says: &["reaches the rate of a 1.00 Gbit/s link, 949 Mbit/s in every trial", "94.9 %", "tc -s qdisc"],
        change: None,
    },
    Case {
        rule: "slow-congestion-control",
        triggers: || made::paced(6.2e9),
        spares: || made::paced(10e9),
        severity: Warning,
        says: &["used bbr", "0.62", "congctl cubic"],
        change: Some("congestion"),
    },
    Case {
        rule: "buffer-limited",
        triggers: || made::buffered(100, true),
        // An autotuned buffer is full whenever the path is the bottleneck.
        spares: || made::buffered(100, false),
        severity: Warning,
        says: &["send buffer (fixed at 64.0 KiB)", "40.0 % of the time", "Leave the window unset"],
        change: Some("growing-buffers"),
    },
    Case {
        rule: "cwnd-limited",
        triggers: || made::windowed(900, 1_200_000),
        // The round trip is ten times the minimum, so a queue is full.
        spares: || made::windowed(100, 1_200_000),
        severity: Warning,
        says: &["93.", "1.11 times the minimum", "no queue on the path is full"],
        change: Some("streams"),
    },
    Case {
        rule: "softirq-bound",
        triggers: || made::interrupted(920, 200),
        spares: || made::interrupted(920, 900),
        severity: Warning,
        says: &[
            "92.0 % of its time in softirqs",
            "0.80 CPUs are idle",
            "CPU 0 of vxlan-to-vxlan",
            "rps_cpus",
        ],
        change: None,
    },
    Case {
        rule: "single-queue-bound",
        triggers: || made::queued(&[("1", 10e9, 1200), ("4", 18e9, 1600)]),
        spares: || made::queued(&[("1", 10e9, 1950), ("4", 18e9, 1960)]),
        severity: Warning,
        says: &["One queue is the limit: ", "4 queues carry 18.0 Gbit/s", "queues=4 vs 1, all else equal"],
        change: None,
    },
    Case {
        rule: "too-many-queues",
        triggers: || imported::queues(|_, _| true),
        spares: || imported::queues(|queues, _| queues <= 16),
        severity: Note,
        says: &[
            "Beyond 16 queues, ",
            "32 and 40 queues gain at most +8",
            "It applies only to that setting: ",
            "Queue=16",
            "total CPU shares 44.0 %",
        ],
        change: None,
    },
    Case {
        rule: "wait-mistaken-for-work",
        triggers: || imported::syscalls("kvm-kvm throughput"),
        spares: || imported::split(imported::syscalls("kvm-kvm throughput")),
        severity: Warning,
        says: &[
            "88.7 % of the",
            "ioctl, ppoll and futex",
            "158 µs each",
            "5.47 ms each",
            "read at the server",
        ],
        change: None,
    },
    Case {
        rule: "tail-latency",
        triggers: || made::tailed(8),
        spares: || made::tailed(3),
        severity: Warning,
        says: &["is 320 µs", "x the median of 41.0 µs", "open loop"],
        change: None,
    },
    Case {
        rule: "below-expected",
        triggers: || made::asked(9e9),
        spares: || made::asked(9.8e9),
        severity: Warning,
        says: &["carries 9.00 Gbit/s of 10.0 Gbit/s requested"],
        change: None,
    },
    Case {
        rule: "vxlan-cost",
        triggers: || made::nested(8.5e9),
        spares: || made::nested(10e9),
        severity: Note,
        says: &["costs 15.0 %", "vs plain", "tx-udp_tnl-segmentation", "--section environment"],
        change: None,
    },
    Case {
        rule: "cpu-per-byte",
        triggers: || made::costly(1000),
        // The CPU cost is unchanged, so the CPU is not the cause.
        spares: || made::costly(500),
        severity: Note,
        says: &[
            "vxlan-to-vxlan needs 1.28 CPU-s per GB, plain 0.640: both are CPU-bound",
            "2.00 times",
            "more parallel streams",
        ],
        change: Some("streams"),
    },
    Case {
        rule: "generator-limited",
        triggers: || made::warned(3, busy_sender),
        spares: || made::warned(2, busy_sender),
        severity: Note,
        says: &["sending thread", "98.0 %", "client"],
        change: Some("limit-mode"),
    },
    Case {
        rule: "receiver-limited",
        triggers: || made::warned(3, busy_receiver),
        spares: || made::warned(3, busy_sender),
        severity: Note,
        says: &["receiving thread", "98.0 %", "server"],
        change: Some("limit-mode"),
    },
    Case {
        rule: "cpu-unexplained",
        triggers: || watched::unowned(120),
        spares: || watched::unowned(50),
        severity: Warning,
        says: &[
            "CPU attribution of plain",
            "less than the kernel's busy time",
            "10.00 %",
            "1.20 according to the kernel",
        ],
        change: None,
    },
    Case {
        rule: "probe-cost",
        triggers: || watched::slowed(0.08, 0.01),
        spares: || watched::slowed(0.04, 0.01),
        severity: Warning,
        says: &["cpu, syscalls and packet-way", "Probes cost 8.01 % in bulk", "6 pairs in blocks", "97 %"],
        change: None,
    },
    Case {
        rule: "step-dominates",
        triggers: || watched::tunnelled(8),
        spares: || watched::tunnelled(6),
        severity: Warning,
        says: &[
            "VXLAN encapsulation (from a:vxlan to a:eth0, request)",
            "600 round trips",
            "ethtool -k eth0",
        ],
        change: None,
    },
    Case {
        rule: "backlog-drops",
        triggers: || watched::dropping(20, 0),
        spares: || watched::dropping(0, 0),
        severity: Warning,
        says: &["120 packets dropped", "0.02 %", "net.core.netdev_max_backlog"],
        change: None,
    },
    Case {
        rule: "qdisc-drops",
        triggers: || watched::dropping(0, 20),
        spares: || watched::dropping(20, 0),
        severity: Warning,
        says: &["queueing discipline of a:eth0 (tbf) dropped 120 packets", "It limits the rate"],
        change: None,
    },
    Case {
        rule: "imported",
        triggers: || imported::vhost(|_, _| true),
        spares: || made::nested(9e9),
        severity: Note,
        says: &[
            "Not checked because the logs of 8 results lack it",
            "vhost.log",
            "iperf3 text, 120 lines",
            "CPU time",
            "a single trial for 8 of 8 results",
        ],
        change: None,
    },
];
