//! A fingerprint of the machine. Whatever cannot be read stays unknown; it is never guessed.

use procfs::{CpuInfo, Current, LoadAverage, Meminfo};
use samples::Environment;
use units::Bytes;

use crate::file::line;

/// Reads the fingerprint now.
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
        clock_source: line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fingerprint_agrees_with_uname() {
        let environment = environment();
        assert_eq!(environment.kernel, sys::uname::kernel_release());
        assert!(environment.cpus >= 1 && environment.memory > Bytes(1 << 20), "{environment:?}");
    }
}
