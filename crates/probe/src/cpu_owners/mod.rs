//! CPU time of the whole machine by its owner. Must not know the load.
//!
//! # How it is told apart
//! [`kernel_sums`] looks at each switch of tasks and at each interrupt, and adds up in the kernel. Where programs are
//! refused, [`proc_sampling`] takes the difference of what /proc says of every task. The result says which it was.
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
use samples::{Overflow, OwnedCpu, ProbeKind, ProbeResults};

use crate::observe::{Probe, ProbeError};

/// The exact probe, or where the kernel refuses its programs the one that reads /proc.
///
/// # Errors
/// [`ProbeError::Unavailable`] when /proc cannot be read either.
pub(crate) fn probe() -> Result<Box<dyn Probe>, ProbeError> {
    match kernel_sums::KernelSums::new() {
        Ok(probe) => Ok(Box::new(probe)),
        Err(refusal) => proc_sampling::ProcSampling::new(refusal.to_string())
            .map(|probe| Box::new(probe) as Box<dyn Probe>),
    }
}

/// Puts in what was found, and how many events found no room.
fn tell((cpu, left_out): (OwnedCpu, u64), seen: &mut ProbeResults) {
    seen.elapsed = seen.elapsed.max(cpu.elapsed);
    seen.cpu = Some(cpu);
    if left_out > 0 {
        seen.overflowed.push(Overflow { probe: ProbeKind::Cpu, events: left_out });
    }
}

fn not_started() -> ProbeError {
    ProbeError::Failed {
        operation: "read CPU time by owner".to_owned(),
        because: "the probe was not started".to_owned(),
    }
}
