//! The page of a hand-written machine.

use findings::{Finding, Role, Severity, VM_SCHEMA, VmRoleCpu};
use samples::{
    DeviceCounters, TargetKind, TraceTarget, TracedProcess, UnixMillis, Unread, VmAccelerator, VmFacts,
    VmMaster, VmRole, VmThread,
};
use units::{Bytes, Nanos};

use super::*;
use crate::{Options, SingleFormat, render_vm};

fn summary() -> VmSummary {
    let thread = |tid, cpus: &[u32]| VmThread {
        tid,
        name: "CPU 0/KVM".into(),
        role: VmRole::Cpu,
        cpus: cpus.to_vec(),
        ran: None,
        guest: None,
        waited: None,
    };
    let device = samples::VmDevice {
        backend: "tap".into(),
        model: Some("virtio-net-pci".into()),
        tap: Some("tap100i0".into()),
        queues: 1,
        unused_queues: 3,
        vhost: Some(false),
        master: Some(VmMaster { name: "vmbr0".into(), kind: "bridge".into(), mtu: 1500 }),
        counters: Some(DeviceCounters {
            rx_packets: 20_000,
            tx_bytes: Bytes(2_500_000_000),
            tx_dropped: 7,
            ..DeviceCounters::default()
        }),
        ..samples::VmDevice::default()
    };
    VmSummary {
        schema: VM_SCHEMA,
        tool: "0.1.0".into(),
        vm: VmFacts {
            pid: 1200,
            accelerator: Some(VmAccelerator::Kvm),
            cpus: Some(4),
            memory: Some(Bytes(8 << 30)),
            control_group: Some("/qemu.slice/100.scope".into()),
            cpu_limit: Some(2.0),
            threads: vec![thread(1, &[0, 1, 2]), thread(2, &[0, 1, 2])],
            devices: vec![device],
            unread: vec![Unread { what: "the tap device".into(), reason: "EPERM".into() }],
            ..VmFacts::default()
        },
        roles: vec![VmRoleCpu {
            role: VmRole::Cpu,
            threads: 2,
            cpus: 1.25,
            guest: Some(1.0),
            busiest: 0.75,
            waited: Some(0.034),
        }],
        trace: trace(),
        findings: vec![Finding::new(
            "vhost-off",
            Role::Cause,
            Severity::Warning,
            "vhost is off for tap100i0",
        )],
    }
}

fn trace() -> findings::TraceSummary {
    let process = TracedProcess { pid: 1200, name: "kvm".into() };
    findings::TraceSummary {
        target: TraceTarget { kind: TargetKind::Qemu, name: "web".into(), processes: vec![process] },
        started: UnixMillis(0),
        elapsed: Nanos::from_secs(10),
        ended: None,
        cpus: 8,
        calls: Vec::new(),
        threads: Vec::new(),
        under_way: Vec::new(),
        all: None,
        ptrace: None,
        cpu: None,
        devices: Vec::new(),
        softnet: None,
        overflowed: Vec::new(),
        missing: Vec::new(),
    }
}

fn shown(summary: &VmSummary) -> String {
    let text = render_vm(summary, 10, SingleFormat::Terminal, &Options { width: 160, ..Options::default() });
    text.replace('\u{a0}', " ")
}

#[test]
fn recommendations_come_before_values() {
    let text = shown(&summary());
    let mut from = 0;
    for part in [
        "virtual machine web (QEMU, process 1200)",
        "4 CPUs, run by KVM",
        "8.00 GiB",
        "/qemu.slice/100.scope, at most 2.00 CPUs",
        "Not read: the tap device: EPERM.",
        "Warning: vhost is off for tap100i0.",
        "vCPUs",
        "1.25",
        "0.750",
        "3.40 %",
        "0-2",
        "tap100i0",
        "vmbr0 (bridge)",
        "1 of 4",
        "off",
        "2000",
        "2.00 Gbit/s",
        "7",
    ] {
        let place = text[from..].find(part).unwrap_or_else(|| panic!("no `{part}` after {from} in:\n{text}"));
        from += place;
    }
}

#[test]
fn reports_machine_without_findings() {
    let fine = VmSummary { findings: Vec::new(), ..summary() };
    assert!(shown(&fine).contains("No costly setting was found"));
    let json = render_vm(&fine, 10, SingleFormat::Json, &Options::default());
    assert_eq!(serde_json::from_str(&json).ok(), serde_json::to_value(fine).ok());
}
