//! What the kernel itself counted as busy between two readings of /proc/stat: what the owners are compared with.
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
//! busy is what was neither idle nor stolen. A reading is made at the moment when the sum moves on: of a trial of half a
//! second with one CPU at half load, a hundredth at either end would be 4 % each.
//!
//! # What was stolen
//! An idle CPU that is woken waits for the hypervisor to run it. That wait is in the column steal and in the column idle
//! too, for the CPU knows of nothing before it runs again: with a hypervisor that stole 0.6 CPUs half of it was so. So
//! only what was stolen from tasks, which the programs see as the scheduler does, is neither idle nor busy.
//!
//! # What remains unexplained
//! - An idle CPU that an interrupt wakes is busy from the first instruction; it is seen from the handler on, after the
//!   interrupt was acknowledged, which leaves the guest in a virtual machine. On its way to sleep it is busy until it
//!   begins to stop its tick, some tenths of a microsecond after the switch.
//! - The way from the interrupt to the first task is shown as the kernel's thread `swapper`: it starts the tick again,
//!   which leaves the guest once or twice, and is a large part of what a message between CPUs costs. So is the way of a
//!   CPU that was called back before it had fallen asleep, from the tick's return on; kernels before Linux 6.9 do not
//!   tell when that is, and then it has no owner.
//! - A process that a sandbox hides from programs has no owner.
//! - The programs' own time is in what they came into, and counts as busy.

use samples::MachineCpu;
use units::Nanos;

use crate::{cpu::CpuReading, observe::ProbeError};

/// An idle CPU shows in /proc/stat after so long.
const STEP: u64 = 10_000_000;
/// Between two looks at it.
const PAUSE: u64 = 100_000;

/// Reads /proc/stat.
pub(super) fn reading() -> Result<CpuReading, ProbeError> {
    CpuReading::now().map_err(|error| ProbeError::Unavailable {
        because: error.to_string(),
        remedy: "mount /proc".to_owned(),
    })
}

/// Reads /proc/stat at the moment when the time that CPUs were idle, which it shows in steps, has just reached another
/// step. Where it does not, no CPU is idle, and nothing is rounded away.
pub(super) fn exact_reading() -> Result<CpuReading, ProbeError> {
    let first = reading()?;
    let until = sys::clock::monotonic() + STEP;
    loop {
        sys::clock::sleep_until(sys::clock::monotonic() + PAUSE);
        let now = reading()?;
        if now.since(&first).idle.0 > 0 || sys::clock::monotonic() >= until {
            return Ok(now);
        }
    }
}

/// What was neither idle nor stolen from whoever was not.
pub(super) fn busy(machine: &MachineCpu, stolen: Nanos) -> Nanos {
    // A CPU came or went, so that nobody knows how much time there was.
    if machine.by_cpu.is_empty() {
        return machine.busy();
    }
    let there_was = machine.elapsed.0 * u64::from(machine.cpus);
    Nanos(there_was.saturating_sub(machine.idle.0 + stolen.0))
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
        assert_eq!(busy(&machine, seconds(1)), seconds(5));
        assert_eq!(busy(&machine, seconds(0)), seconds(6), "it was stolen from an idle CPU");
        machine.by_cpu.clear();
        assert_eq!(busy(&machine, seconds(1)), seconds(4), "by ticks, when CPUs came or went");
    }
}
