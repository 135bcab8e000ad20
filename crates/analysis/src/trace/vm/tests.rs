//! Hand-written virtual machines and the findings expected for them.

use std::collections::BTreeMap;

use findings::{Severity, VmSummary};
use samples::{
    DeviceCounters, DeviceState, Environment, NegotiatedFeatures, ProbeResults, TRACE_SCHEMA, TargetKind,
    Trace, TraceEnd, TraceTarget, UnixMillis, VmAccelerator, VmDevice, VmFacts, VmMaster, VmRole, VmThread,
};
use units::Nanos;

use super::{CallGrouping, vm};

const SECOND: Nanos = Nanos::from_secs(1);

fn thread(role: VmRole, millis: u64, waited: u64) -> VmThread {
    VmThread {
        tid: 7,
        name: "a thread".into(),
        role,
        cpus: vec![0, 1],
        ran: Some(Nanos::from_millis(millis)),
        guest: (role == VmRole::Cpu).then(|| Nanos::from_millis(millis / 2)),
        waited: Some(Nanos::from_millis(waited)),
    }
}

fn device() -> VmDevice {
    let on = ["tx-checksum-ip-generic", "tx-scatter-gather", "tx-tcp-segmentation", "tx-tcp6-segmentation"];
    let state = DeviceState {
        device: "localhost:tap0".into(),
        kind: "tap".into(),
        mtu: 1500,
        features: on.into_iter().map(|name| (name.to_owned(), true)).collect::<BTreeMap<_, _>>(),
        ..DeviceState::default()
    };
    VmDevice {
        netdev: Some("net0".into()),
        backend: "tap".into(),
        model: Some("virtio-net-pci".into()),
        tap: Some("tap0".into()),
        queues: 2,
        vhost: Some(true),
        header: Some(true),
        state: Some(state),
        master: Some(VmMaster { name: "vmbr0".into(), kind: "bridge".into(), mtu: 1500 }),
        counters: Some(DeviceCounters { rx_packets: 4000, tx_packets: 6000, ..DeviceCounters::default() }),
        ..VmDevice::default()
    }
}

fn sound() -> VmFacts {
    VmFacts {
        pid: 1200,
        guest: Some("web".into()),
        accelerator: Some(VmAccelerator::Kvm),
        cpus: Some(2),
        threads: vec![
            thread(VmRole::Main, 20, 0),
            thread(VmRole::Cpu, 600, 6),
            thread(VmRole::Cpu, 200, 2),
            thread(VmRole::Vhost, 300, 3),
        ],
        devices: vec![device()],
        ..VmFacts::default()
    }
}

fn analysed(facts: &VmFacts) -> VmSummary {
    let trace = Trace {
        schema: TRACE_SCHEMA,
        tool: "0.1.0".into(),
        started: UnixMillis(0),
        target: TraceTarget { kind: TargetKind::Qemu, name: "web".into(), processes: Vec::new() },
        ended: TraceEnd::TimeOver,
        environment: Environment { cpus: 2, ..Environment::default() },
        probes: Vec::new(),
        missing: Vec::new(),
        observed: ProbeResults { elapsed: SECOND, ..ProbeResults::default() },
        devices: Vec::new(),
        softnet: None,
    };
    vm(facts, &trace, CallGrouping::Thread)
}

#[test]
fn sums_threads_by_role_and_names_the_busiest() {
    let summary = analysed(&sound());
    let roles: Vec<_> = summary.roles.iter().map(|it| (it.role, it.threads)).collect();
    assert_eq!(roles, [(VmRole::Cpu, 2), (VmRole::Vhost, 1), (VmRole::Main, 1)]);
    let cpus = &summary.roles[0];
    assert!((cpus.cpus - 0.8).abs() < 1e-9 && (cpus.busiest - 0.6).abs() < 1e-9, "{cpus:?}");
    assert_eq!(cpus.guest, Some(0.4));
    assert!(cpus.waited.is_some_and(|waited| (waited - 8.0 / 808.0).abs() < 1e-9), "{cpus:?}");
    assert_eq!(summary.roles[2].guest, None);
}

fn check(change: impl Fn(&mut VmFacts), id: &str, severity: Severity, words: &[&str]) {
    let mut facts = sound();
    change(&mut facts);
    let summary = analysed(&facts);
    let [claim] = &summary.findings[..] else { panic!("{id}: one claim in {:?}", summary.findings) };
    assert_eq!((claim.id.as_str(), claim.severity), (id, severity), "{claim:?}");
    let text = format!("{} {claim:?}", claim.claim());
    for word in words {
        assert!(text.contains(word), "{id}: no `{word}` in {text}");
    }
}

#[test]
fn correctly_configured_machine_has_no_claims() {
    assert_eq!(analysed(&sound()).findings, []);
}

#[test]
fn each_wrong_setting_causes_only_its_own_claim() {
    use Severity::{Note, Warning};
    check(|vm| vm.accelerator = Some(VmAccelerator::Emulation), "emulated", Warning, &["-accel kvm"]);
    let off = |vm: &mut VmFacts| vm.devices[0].vhost = Some(false);
    check(off, "vhost-off", Warning, &["tap0", "10000", "2.00 % of a CPU", "vhost=on", "not measured"]);
    let idle = |vm: &mut VmFacts| {
        off(vm);
        vm.devices[0].counters = None;
        vm.id = Some("100".into());
    };
    check(idle, "vhost-off", Note, &["qm stop 100"]);
    check(
        |vm| vm.devices[0].queues = 1,
        "single-queue-bound",
        Note,
        &["one queue for 2 vCPUs", "30.0 % of a CPU", "queues=2", "vectors=6", "not the bottleneck"],
    );
    let full = |vm: &mut VmFacts| {
        vm.devices[0].queues = 1;
        vm.threads[3].ran = Some(Nanos::from_millis(950));
    };
    check(full, "single-queue-bound", Warning, &["is saturated", "95.0 % of a CPU"]);
    let unused = |vm: &mut VmFacts| (vm.devices[0].queues, vm.devices[0].unused_queues) = (1, 3);
    check(unused, "single-queue-bound", Note, &["has 4 queues, but the guest uses only one", "combined 4"]);
    check(
        |vm| vm.devices[0].queues = 4,
        "too-many-queues",
        Note,
        &["uses 4 queues for 2 vCPUs", "combined 2"],
    );
    check(
        |vm| *features(vm).entry("tx-tcp-segmentation".into()).or_default() = false,
        "offload-off",
        Warning,
        &["to the guest", "tx-tcp-segmentation"],
    );
    let taken = ["VIRTIO_NET_F_CSUM", "VIRTIO_NET_F_HOST_TSO6"].map(str::to_owned).to_vec();
    let negotiated =
        NegotiatedFeatures { features: Some(taken), driver: Some(true), ..NegotiatedFeatures::default() };
    let refused = |vm: &mut VmFacts| vm.devices[0].negotiated = Some(negotiated.clone());
    check(refused, "offload-off", Warning, &["from the guest", "VIRTIO_NET_F_HOST_TSO4"]);
    check(
        |vm| vm.devices[0].master.iter_mut().for_each(|it| it.mtu = 9000),
        "mtu-mismatch",
        Warning,
        &["tap0 has an MTU of 1500", "vmbr0", "9000"],
    );
    check(
        |vm| vm.threads[1].waited = Some(Nanos::from_millis(200)),
        "noisy-host",
        Warning,
        &["vCPUs waited", "20.2 %"],
    );
    let limited = |vm: &mut VmFacts| {
        (vm.cpu_limit, vm.throttled) = (Some(1.5), Some(Nanos::from_millis(120)));
        vm.control_group = Some("/qemu.slice/100.scope".into());
    };
    check(
        limited,
        "noisy-host",
        Warning,
        &["limit of 1.50 CPUs", "/sys/fs/cgroup/qemu.slice/100.scope/cpu.max"],
    );
}

fn features(vm: &mut VmFacts) -> &mut BTreeMap<String, bool> {
    &mut vm.devices[0].state.as_mut().expect("made so").features
}

#[test]
fn unknown_settings_cause_no_claims() {
    let mut facts = sound();
    (facts.accelerator, facts.cpus) = (None, None);
    facts.devices = vec![VmDevice {
        backend: "tap".into(),
        netdev: Some("net0".into()),
        queues: 1,
        ..VmDevice::default()
    }];
    facts.threads.clear();
    assert_eq!(analysed(&facts).findings, []);
    let mut facts = sound();
    // An inactive guest driver has accepted no offloads, so nothing indicates a loss.
    features(&mut facts).insert("tx-tcp-segmentation".into(), false);
    facts.devices[0].negotiated =
        Some(NegotiatedFeatures { driver: Some(false), ..NegotiatedFeatures::default() });
    assert_eq!(analysed(&facts).findings, []);
    // Only virtio devices have vhost and configurable queues.
    let mut facts = sound();
    (facts.devices[0].model, facts.devices[0].vhost) = (Some("e1000".into()), Some(false));
    facts.devices[0].queues = 1;
    assert_eq!(analysed(&facts).findings, []);
}
