//! Claims about the machine as a whole: what runs its instructions, and whether it gets the host's CPUs. Must not know
//! devices.

use findings::{Evidence, Finding, Severity, VmSummary};
use samples::{VmAccelerator, VmRole};
use units::Share;

use super::Rule;

pub(super) const EMULATED: Rule = Rule { id: "emulated", look: |vm| emulated(vm).into_iter().collect() };
pub(super) const WAITING_FOR_CPUS: Rule =
    Rule { id: "noisy-host", look: |vm| crowded(vm).into_iter().collect() };
pub(super) const OUT_OF_QUOTA: Rule =
    Rule { id: "noisy-host", look: |vm| throttled(vm).into_iter().collect() };

/// Waiting for a CPU of the host for more than this share of the time that it wants one is felt in every latency.
const CROWDED: f64 = 0.05;
/// A guest that hardly runs waits now and then, and nobody feels it.
const RUNS: f64 = 0.05;
/// Standing still for more than this share of the time.
const THROTTLED: f64 = 0.01;

fn emulated(summary: &VmSummary) -> Option<Finding> {
    let claim = "Its processor is emulated: counts hold, its times and rates do not compare with hardware.";
    (summary.vm.accelerator == Some(VmAccelerator::Emulation)).then(|| {
        Finding::new(Severity::Warning, claim)
            .with_evidence([Evidence::new("machines of KVM that it holds open").text("none")])
            .with_limits(["Without the right to see what it holds open, its command line is believed."])
            .with_remedy(
                "Run it by KVM, where the host's CPU can.",
                vec!["plumb doctor".into(), "qemu-system-x86_64 ... -accel kvm -cpu host".into()],
            )
    })
}

/// Not what a virtual machine does, but what others on the host leave it.
fn crowded(summary: &VmSummary) -> Option<Finding> {
    let crowded = |role: &VmRole| {
        let found = summary.roles.iter().find(|it| it.role == *role && it.cpus > RUNS)?;
        found.waited.filter(|waited| *waited > CROWDED).map(|waited| (*role, waited))
    };
    let roles: Vec<(VmRole, f64)> = [VmRole::Cpu, VmRole::Vhost].iter().filter_map(crowded).collect();
    let (role, worst) = roles.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let whose = if role == VmRole::Cpu { "The guest's CPUs" } else { "Its vhost workers" };
    let evidence = |(role, waited): &(VmRole, f64)| {
        let who = if *role == VmRole::Cpu { "the guest's CPUs" } else { "vhost workers" };
        Evidence::new(format!("waited, {who}")).share(*waited)
    };
    let claim = format!(
        "{whose} waited for a CPU of the host in {} of the time that they wanted one: others run there too.",
        Share(worst)
    );
    let finding = Finding::new(Severity::Warning, claim)
        .with_evidence(roles.iter().map(evidence))
        .with_limits(["A guest that has more CPUs than the host crowds itself."])
        .with_remedy(
            "Give its CPUs and its vhost workers CPUs of their own, or let less run on the host.",
            vec!["taskset -cp CPUS TID".into()],
        );
    Some(finding)
}

fn throttled(summary: &VmSummary) -> Option<Finding> {
    let elapsed = summary.trace.elapsed;
    let (limit, throttled) = summary.vm.cpu_limit.zip(summary.vm.throttled)?;
    let share = throttled.0 as f64 / elapsed.0.max(1) as f64;
    let group = summary.vm.control_group.clone().unwrap_or_default();
    let claim = format!(
        "Its control group used up its limit of {} CPUs, and its threads stood still for {throttled}.",
        units::significant(limit, 3),
    );
    (share > THROTTLED).then(|| {
        Finding::new(Severity::Warning, claim)
            .with_evidence([Evidence::new("stood still, of the time").share(share)])
            .with_limits(["The kernel adds up the standstill on every CPU."])
            .with_remedy(
                "Raise the limit, or take it away. Since Linux 6.4 vhost workers are under it as well.",
                vec![format!("echo max > /sys/fs/cgroup{group}/cpu.max")],
            )
    })
}
