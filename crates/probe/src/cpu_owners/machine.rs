//! What the kernel itself counted as busy between two readings of /proc/stat: what the owners are held against.
//!
//! # How exact it is
//! Kernels without `CONFIG_VIRT_CPU_ACCOUNTING_GEN` and `CONFIG_IRQ_TIME_ACCOUNTING` (`CONFIG_TICK_CPU_ACCOUNTING`)
//! count user, system and softirq by looking at each tick (250 a second with `CONFIG_HZ=250`) at what it came into.
//! That is a sample: of 2 s on two CPUs at 20 % load 200 ticks are busy, of which one must expect ± 7 %. They never
//! see the work that an idle CPU does in an interrupt, and what begins by a timer hides from them.
//!
//! The columns idle and iowait are exact where ticks stop when a CPU is idle (`CONFIG_NO_HZ_COMMON`, every
//! distribution's): the kernel stamps each entry to idleness, each interrupt in it and its end
//! (`tick_nohz_stop_idle` and `get_idle_time` in Linux), and only shows the sum in hundredths of a second. So what was
//! busy is what was neither idle nor stolen. Held against it the owners of a 2 s reading were found within 0.5 %, and
//! against the columns of ticks within 3 %, mostly above them, on a machine that was 50 to 100 % busy.
//!
//! # What remains unexplained
//! - The columns have a resolution of 10 ms, each of them (idle, iowait, steal).
//! - Time that the hypervisor took while a task was running is in that task's time, where no clock of the guest can
//!   tell it apart; /proc/stat has it as steal.
//! - Interrupts without a handler of a device (the tick, those between CPUs) are in the time of what they came into;
//!   when they come into an idle CPU they are nobody's, and busy.

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
