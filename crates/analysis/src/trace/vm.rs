//! Analyses a running virtual machine: CPU time by role, and findings.

mod claims;
#[cfg(test)]
mod tests;

use findings::{VM_SCHEMA, VmRoleCpu, VmSummary};
use samples::{Trace, VmFacts, VmRole, VmThread};
use units::Nanos;

use super::{CallGrouping, trace};
use crate::rule;

#[must_use]
pub fn vm(vm: &VmFacts, seen: &Trace, by: CallGrouping) -> VmSummary {
    let elapsed = seen.observed.elapsed;
    let mut summary = VmSummary {
        schema: VM_SCHEMA,
        tool: seen.tool.clone(),
        vm: vm.clone(),
        roles: VmRole::ALL.into_iter().filter_map(|role| role_cpu(vm, role, elapsed)).collect(),
        trace: trace(seen, by),
        findings: Vec::new(),
    };
    summary.findings = rule::findings(claims::ALL, &summary);
    summary
}

fn role_cpu(vm: &VmFacts, role: VmRole, elapsed: Nanos) -> Option<VmRoleCpu> {
    let threads: Vec<&VmThread> = vm.threads.iter().filter(|thread| thread.role == role).collect();
    let cpus = |time: Nanos| if elapsed.0 > 0 { time.0 as f64 / elapsed.0 as f64 } else { 0.0 };
    let ran: Vec<Nanos> = threads.iter().filter_map(|thread| thread.ran).collect();
    let all: Nanos = ran.iter().copied().sum();
    let waited: Nanos = threads.iter().filter_map(|thread| thread.waited).sum();
    let guest: Vec<Nanos> = threads.iter().filter_map(|thread| thread.guest).collect();
    let wanted = all.0 + waited.0;
    (!threads.is_empty()).then(|| VmRoleCpu {
        role,
        threads: threads.len() as u32,
        cpus: cpus(all),
        guest: (!guest.is_empty()).then(|| cpus(guest.into_iter().sum())),
        busiest: cpus(ran.into_iter().max().unwrap_or_default()),
        waited: (wanted > 0).then(|| waited.0 as f64 / wanted as f64),
    })
}
