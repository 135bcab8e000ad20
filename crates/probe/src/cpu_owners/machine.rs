//! What the kernel itself counted as busy between two readings of /proc/stat: what the owners are held against.
//!
//! # How exact it is
//! Kernels without `CONFIG_VIRT_CPU_ACCOUNTING_GEN` and `CONFIG_IRQ_TIME_ACCOUNTING` (`CONFIG_TICK_CPU_ACCOUNTING`)
//! count user, system and softirq by looking at each tick (250 a second with `CONFIG_HZ=250`) at what it came into.
//! That is a sample: of 2 s on two CPUs at 20 % load 200 ticks are busy, of which one must expect ± 7 %. It never sees
//! the work of an idle CPU that wakes: two CPUs that wake each other by messages were 1.0 s of 4 s busy by their ticks
//! and 1.7 s by their idleness.
//!
//! The columns idle and iowait are exact where ticks stop when a CPU is idle (`CONFIG_NO_HZ_COMMON`, every
//! distribution's): the kernel stamps each entry to idleness, each interrupt in it and its end
//! (`tick_nohz_stop_idle` and `get_idle_time` in Linux), and only shows the sum in hundredths of a second. So what was
//! busy is what was neither idle nor stolen.
//!
//! # What remains unexplained
//! Found with readings of 2 s on two CPUs of a virtual machine with Linux 6.18: within 1 % where tasks compute or
//! stream, 2 to 5 % where messages wake idle CPUs tens of thousands of times a second. Below a load of some 5 % the
//! resolution of /proc/stat is all one sees. Where the rest comes from:
//! - The columns idle, iowait and steal have a resolution of 10 ms each.
//! - An idle CPU that an interrupt wakes is busy from the first instruction; it is seen from the handler on, after the
//!   interrupt was acknowledged, which leaves the guest in a virtual machine. From there to the first task it is shown
//!   as the kernel's thread `swapper`, which is a large part of what a message between CPUs costs.
//! - What the hypervisor took while a task had the CPU is taken out of the task's time as the scheduler does it, at
//!   the switch; kernels without `CONFIG_PARAVIRT_TIME_ACCOUNTING` leave it in.
//! - A process that a sandbox hides from programs has no owner.
//! - The programs' own time is in what they came into, and counts as busy.

use samples::MachineCpu;
use units::Nanos;

use crate::{cpu::CpuReading, observe::ProbeError};

/// Reads /proc/stat.
pub(super) fn reading() -> Result<CpuReading, ProbeError> {
    CpuReading::now().map_err(|error| ProbeError::Unavailable {
        because: error.to_string(),
        remedy: "mount /proc".to_owned(),
    })
}

/// What was neither idle nor stolen.
pub(super) fn busy(machine: &MachineCpu) -> Nanos {
    // A CPU came or went, so that nobody knows how much time there was.
    if machine.by_cpu.is_empty() {
        return machine.busy();
    }
    let there_was = machine.elapsed.0 * u64::from(machine.cpus);
    Nanos(there_was.saturating_sub(machine.idle.0 + machine.steal.0))
}

#[cfg(test)]
mod tests {
    use samples::CpuTimes;

    use super::*;

    #[test]
    fn what_is_neither_idle_nor_stolen_is_busy() {
        let seconds = |count: u64| Nanos::from_millis(1000 * count);
        let mut machine = MachineCpu {
            cpus: 2,
            elapsed: seconds(10),
            user: seconds(4),
            idle: seconds(14),
            steal: seconds(1),
            by_cpu: vec![CpuTimes::default(); 2],
            ..MachineCpu::default()
        };
        assert_eq!(busy(&machine), seconds(5));
        machine.by_cpu.clear();
        assert_eq!(busy(&machine), seconds(4), "by ticks, when CPUs came or went");
    }
}
