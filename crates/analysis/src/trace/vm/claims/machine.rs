//! Findings about the whole machine: the accelerator, and CPU contention on the host.

use crate::order::ByNumber;
use findings::{Evidence, Remedy, Severity, Unit, VmSummary, phrase};
use samples::{VmAccelerator, VmRole};

use super::{Claim, Rule};
use crate::words::{number, percent};

pub(super) const EMULATED: Rule = Rule::measurement("emulated", |vm| emulated(vm).into_iter().collect());
pub(super) const WAITING_FOR_CPUS: Rule = Rule::limit("noisy-host", |vm| crowded(vm).into_iter().collect());
pub(super) const OUT_OF_QUOTA: Rule = Rule::limit("noisy-host", |vm| throttled(vm).into_iter().collect());

/// If a thread waits for a host CPU for a larger fraction of its runnable time, all latencies suffer.
const CROWDED: f64 = 0.05;
/// At lower utilization, waits do not matter.
const RUNS: f64 = 0.05;
/// Maximum fraction of the time for which the machine may be throttled.
const THROTTLED: f64 = 0.01;

fn emulated(summary: &VmSummary) -> Option<Claim> {
    (summary.vm.accelerator == Some(VmAccelerator::Emulation)).then(|| {
        Claim::new(Severity::Warning, "The processor is emulated")
            .detail("counts are valid, but times and rates are not comparable with hardware")
            .with_evidence([Evidence::new("open KVM machines").text("none")])
            .with_limits(["Without permission to list the process's open files, this is inferred from its command line."])
            .with_remedy(Remedy::manual(
                "Use KVM if the host's CPU supports it",
                vec!["plumb doctor".into(), "qemu-system-x86_64 ... -accel kvm -cpu host".into()],
            ))
    })
}

fn crowded(summary: &VmSummary) -> Option<Claim> {
    let crowded = |role: &VmRole| {
        let found = summary.roles.iter().find(|it| it.role == *role && it.cpus > RUNS)?;
        found.waited.filter(|waited| *waited > CROWDED).map(|waited| (*role, waited))
    };
    let roles: Vec<(VmRole, f64)> = [VmRole::Cpu, VmRole::Vhost].iter().filter_map(crowded).collect();
    let (role, worst) = roles.iter().copied().largest(|one| one.1)?;
    let group_name = if role == VmRole::Cpu { "The vCPUs" } else { "The vhost workers" };
    let evidence = |(role, waited): &(VmRole, f64)| {
        let who = if *role == VmRole::Cpu { "vCPUs" } else { "vhost workers" };
        Evidence::new(format!("waiting, {who}")).share(*waited)
    };
    let finding = Claim::new(
        Severity::Warning,
        phrase![
            format!("{group_name} waited for a host CPU for "),
            percent(worst),
            " of their runnable time because other work runs there",
        ],
    )
    .with_evidence(roles.iter().map(evidence))
    .with_limits(["A guest with more CPUs than the host competes with itself."])
    .with_remedy(Remedy::manual(
        "Give the vCPUs and vhost workers dedicated CPUs, or reduce the load on the \
             host",
        vec!["taskset -cp CPUS TID".into()],
    ));
    Some(finding)
}

fn throttled(summary: &VmSummary) -> Option<Claim> {
    let elapsed = summary.trace.elapsed;
    let (limit, throttled) = summary.vm.cpu_limit.zip(summary.vm.throttled)?;
    let share = throttled.0 as f64 / elapsed.0.max(1) as f64;
    let group = summary.vm.control_group.clone().unwrap_or_default();
    (share > THROTTLED).then(|| {
        Claim::new(
            Severity::Warning,
            phrase![
                "The machine's cgroup reached its limit of ",
                number(limit, 3, Unit::Cpus, " CPUs"),
                ", and its threads were throttled for ",
                throttled,
            ],
        )
        .with_evidence([Evidence::new("throttled share of the time").share(share)])
        .with_limits(["The kernel sums throttled time over all CPUs."])
        .with_remedy(
            Remedy::manual(
                "Raise or remove the limit",
                vec![format!("echo max > /sys/fs/cgroup{group}/cpu.max")],
            )
            .explained("Since Linux 6.4, the limit also applies to vhost workers."),
        )
    })
}
