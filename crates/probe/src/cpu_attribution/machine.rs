//! The kernel's own busy time between two readings of /proc/stat, for comparison with the owners' total.
//!
//! Busy time is all time that is neither idle nor stolen. With `CONFIG_TICK_CPU_ACCOUNTING`, the kernel samples
//! user, system and softirq time only at ticks. Ticks miss the work of an idle CPU that wakes up: two CPUs that
//! woke each other with messages were busy for 1.0 s of 4 s according to ticks, and 1.7 s according to idle
//! time. If ticks stop on idle CPUs (`CONFIG_NO_HZ_COMMON`, set in every distribution), the columns idle and
//! iowait are exact, apart from rounding to 10 ms. In a trial of 0.5 s with one CPU at half load, an error of
//! 10 ms at the start or end would be 4 %, so the reading waits until the idle sum advances.
//!
//! While a woken idle CPU waits for the hypervisor, the kernel adds the time to both steal and idle. So only time
//! stolen from tasks is neither idle nor busy. The BPF programs measure it as the scheduler does.
//!
//! Some busy time remains unexplained:
//! - An idle CPU is busy from the first instruction of an interrupt, but the programs see only the handler.
//! - Kernels before Linux 6.9 do not report a CPU that is woken before it has fallen asleep.
//! - Processes that a sandbox hides from the programs have no owner.

use samples::MachineCpu;
use units::Nanos;

use crate::{cpu::CpuReading, observe::ProbeError};

const STEP: u64 = 10_000_000;
const PAUSE: u64 = 100_000;

pub(super) fn reading() -> Result<CpuReading, ProbeError> {
    CpuReading::now().map_err(|error| ProbeError::Unavailable {
        reason: error.to_string(),
        remedy: "mount /proc".to_owned(),
    })
}

/// Waits until the idle time advances by one step, to avoid the rounding error. If it does not advance, no CPU is
/// idle.
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

pub(super) fn busy(machine: &MachineCpu, stolen: Nanos) -> Nanos {
    // A CPU went online or offline, so the total time cannot be computed.
    if machine.by_cpu.is_empty() {
        return machine.busy();
    }
    let available = machine.elapsed.0 * u64::from(machine.cpus);
    Nanos(available.saturating_sub(machine.idle.0 + stolen.0))
}

#[cfg(test)]
mod tests {
    use samples::CpuTimes;

    use super::*;

    #[test]
    fn time_neither_idle_nor_stolen_is_busy() {
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
        assert_eq!(busy(&machine, seconds(0)), seconds(6), "stolen from an idle CPU");
        machine.by_cpu.clear();
        assert_eq!(busy(&machine, seconds(1)), seconds(4), "by ticks if CPUs came or went");
    }
}
