//! A fingerprint of the machine. Values that cannot be read remain unknown.

use procfs::{CpuInfo, Current, LoadAverage, Meminfo};
use samples::Environment;
use sys::clock;
use units::Bytes;

use crate::file::line;

/// The clock source that x86 uses until the TSC is calibrated, about a second after driver initialization
/// (`tsc_refine_calibration_work` in arch/x86/kernel/tsc.c).
const PROVISIONAL_CLOCK: &str = "tsc-early";
/// Calibration ends within this time after boot, in nanoseconds, even if it fails a few times.
const CLOCK_SETTLED_BY: u64 = 10_000_000_000;
/// The polling interval in nanoseconds. The kernel does not announce a new clock source.
const CLOCK_ASKED_EVERY: u64 = 20_000_000;

/// On a freshly booted machine, waits until the clock source is final.
#[must_use]
pub fn environment() -> Environment {
    let cpu = CpuInfo::current().ok();
    let field =
        |name: &str| cpu.as_ref().and_then(|info| info.get_info(0)?.get(name).map(|s| (*s).to_owned()));
    Environment {
        kernel: sys::uname::kernel_release(),
        architecture: sys::uname::machine(),
        cpu_model: field("model name"),
        cpus: cpu.as_ref().map_or(0, |info| info.num_cores() as u32),
        usable_cpus: sys::affinity::available(),
        governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        memory: Bytes(Meminfo::current().map_or(0, |memory| memory.mem_total)),
        virtual_machine: field("flags")
            .is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor")),
        clock_source: settled(clock_source, clock::monotonic, clock::sleep_until),
        congestion_default: line("/proc/sys/net/ipv4/tcp_congestion_control"),
        congestion_available: line("/proc/sys/net/ipv4/tcp_available_congestion_control")
            .map(|list| list.split_whitespace().map(str::to_owned).collect())
            .unwrap_or_default(),
        load_average: LoadAverage::current().ok().map(|load| {
            [load.one, load.five, load.fifteen].map(|value| f64::from((value * 100.0).round()) / 100.0)
        }),
        privileged: !sys::userns::is_nested(),
        engine: None,
        inside: None,
    }
}

fn clock_source() -> Option<String> {
    line("/sys/devices/system/clocksource/clocksource0/current_clocksource")
}

fn settled(
    current: impl Fn() -> Option<String>,
    now: impl Fn() -> u64,
    wait_until: impl Fn(u64),
) -> Option<String> {
    loop {
        // Reads the time first, so that the clock source is no older than the time.
        let asked = now();
        let source = current();
        if source.as_deref() != Some(PROVISIONAL_CLOCK) || asked >= CLOCK_SETTLED_BY {
            return source;
        }
        wait_until(asked + CLOCK_ASKED_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Simulates a kernel that switches to `tsc` at `settles` and is first queried at `asked`, both in
    /// nanoseconds since boot.
    fn clock_source_of(asked: u64, settles: u64) -> (Option<String>, u64) {
        let now = Cell::new(asked);
        let current = || Some(if now.get() < settles { PROVISIONAL_CLOCK } else { "tsc" }.to_owned());
        let source = settled(current, || now.get(), |deadline| now.set(deadline));
        (source, now.get())
    }

    #[test]
    fn waits_for_replacement_of_provisional_clock_source() {
        let (source, when) = clock_source_of(2 * SECOND, 3 * SECOND);
        assert_eq!((source.as_deref(), when), (Some("tsc"), 3 * SECOND));
    }

    #[test]
    fn reports_provisional_clock_source_after_deadline() {
        let (source, when) = clock_source_of(2 * SECOND, u64::MAX);
        assert_eq!((source.as_deref(), when), (Some(PROVISIONAL_CLOCK), CLOCK_SETTLED_BY));
    }

    #[test]
    fn does_not_wait_for_final_clock_source() {
        let (source, when) = clock_source_of(60 * SECOND, u64::MAX);
        assert_eq!((source.as_deref(), when), (Some(PROVISIONAL_CLOCK), 60 * SECOND));
        assert_eq!(clock_source_of(2 * SECOND, 0).1, 2 * SECOND);
        assert_eq!(settled(|| None, || 0, |_| panic!("no reason to wait")), None);
    }

    #[test]
    fn fingerprint_agrees_with_uname() {
        let environment = environment();
        assert_eq!(environment.kernel, sys::uname::kernel_release());
        assert!(environment.cpus >= 1 && environment.memory > Bytes(1 << 20), "{environment:?}");
    }
}
