//! Attributes the whole machine's CPU time to owners, using BPF programs or /proc.
mod kernel;
mod kernel_sums;
mod machine;
mod names;
mod proc_sampling;
mod shares;
mod sums;
mod tasks;

#[cfg(test)]
mod tests;

pub use proc_sampling::ProcessTimes;
use samples::{AttributedCpu, Overflow, ProbeKind, ProbeResults};

use crate::observe::{Probe, ProbeError};

/// Falls back to /proc if the kernel rejects the programs. Fails with [`ProbeError::Unavailable`] if neither is
/// possible.
pub(crate) fn probe() -> Result<Box<dyn Probe>, ProbeError> {
    match kernel_sums::KernelSums::new() {
        Ok(probe) => Ok(Box::new(probe)),
        Err(refusal) => proc_sampling::ProcSampling::new(refusal.to_string())
            .map(|probe| Box::new(probe) as Box<dyn Probe>),
    }
}

fn add_result((cpu, left_out): (AttributedCpu, u64), results: &mut ProbeResults) {
    results.elapsed = results.elapsed.max(cpu.elapsed);
    results.cpu = Some(cpu);
    if left_out > 0 {
        results.overflowed.push(Overflow { probe: ProbeKind::Cpu, events: left_out });
    }
}

fn not_started() -> ProbeError {
    ProbeError::Failed {
        operation: "read CPU time by owner".to_owned(),
        reason: "the probe was not started".to_owned(),
    }
}
