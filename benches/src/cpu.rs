//! The machine's CPU time (proc_stat(5)). Busy time is all time that is neither idle nor stolen, because the kernel
//! measures idle time exactly, but only samples the rest.

use std::fs;

use anyhow::Context;

/// The value of USER_HZ on all supported architectures.
pub(crate) const TICKS_PER_SECOND: f64 = 100.0;

const STAT: &str = "/proc/stat";

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuTimes {
    cpus: f64,
    idle: f64,
    pub(crate) stolen: f64,
}

impl CpuTimes {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let text = fs::read_to_string(STAT).with_context(|| format!("read {STAT}"))?;
        Self::parse(&text).with_context(|| format!("unexpected format of {STAT}"))
    }

    pub(crate) fn busy_since(&self, before: &Self, seconds: f64) -> f64 {
        self.cpus * seconds - (self.idle - before.idle) - (self.stolen - before.stolen)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let all: Vec<&str> = lines.next()?.strip_prefix("cpu ")?.split_whitespace().collect();
        let seconds = |index: usize| Some(all.get(index)?.parse::<f64>().ok()? / TICKS_PER_SECOND);
        let cpus = lines.take_while(|line| line.starts_with("cpu")).count() as f64;
        Some(Self { cpus, idle: seconds(3)? + seconds(4)?, stolen: seconds(7)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_time_is_neither_idle_nor_stolen() {
        let at = |idle: u32, waiting: u32, stolen: u32| {
            let line = format!("cpu  500 0 300 {idle} {waiting} 0 40 {stolen} 0 0\n");
            CpuTimes::parse(&format!("{line}cpu0 1 2\ncpu1 1 2\nintr 5\n")).unwrap()
        };
        let busy = at(1050, 110, 15).busy_since(&at(1000, 100, 10), 1.0);
        assert!((busy - (2.0 - 0.6 - 0.05)).abs() < 1e-9, "{busy}");
        assert_eq!(CpuTimes::parse("intr 5\n"), None);
    }

    #[test]
    fn reads_values_of_this_kernel() {
        assert!(CpuTimes::read().unwrap().cpus >= 1.0);
    }
}
