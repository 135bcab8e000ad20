//! The machine's CPU time, from two readings of /proc/stat (proc(5)).

use procfs::{CpuTime, CurrentSI, KernelStats};
use samples::{CpuTimes, MachineCpu};
use units::Nanos;

use crate::error::Error;

#[derive(Debug, Clone)]
pub struct CpuReading {
    at: u64,
    stats: Counters,
    by_cpu: Vec<Counters>,
}

#[derive(Debug, Clone, Copy)]
struct Counters {
    user: u64,
    system: u64,
    irq: u64,
    softirq: u64,
    steal: u64,
    idle: u64,
}

impl CpuReading {
    pub fn now() -> Result<Self, Error> {
        let stats = KernelStats::current().map_err(|source| Error { what: "/proc/stat", source })?;
        let by_cpu = stats.cpu_time.iter().map(Counters::of).collect();
        Ok(Self { at: sys::clock::monotonic(), stats: Counters::of(&stats.total), by_cpu })
    }

    /// As in the kernel, user time includes guest time.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> MachineCpu {
        let (now, then) = (self.stats, earlier.stats);
        MachineCpu {
            cpus: self.by_cpu.len() as u32,
            elapsed: Nanos(self.at.saturating_sub(earlier.at)),
            user: passed(now.user, then.user),
            system: passed(now.system, then.system),
            irq: passed(now.irq, then.irq),
            softirq: passed(now.softirq, then.softirq),
            steal: passed(now.steal, then.steal),
            idle: passed(now.idle, then.idle),
            by_cpu: self.by_cpu_since(earlier),
        }
    }

    /// Returns an empty list if a CPU went online or offline, because the kernel lists only online CPUs.
    fn by_cpu_since(&self, earlier: &Self) -> Vec<CpuTimes> {
        if self.by_cpu.len() != earlier.by_cpu.len() {
            return Vec::new();
        }
        let times = |(cpu, (now, then)): (u32, (&Counters, &Counters))| CpuTimes {
            cpu,
            busy: passed(now.busy(), then.busy()),
            softirq: passed(now.softirq, then.softirq),
            steal: passed(now.steal, then.steal),
        };
        (0..).zip(self.by_cpu.iter().zip(&earlier.by_cpu)).map(times).collect()
    }
}

impl Counters {
    fn of(total: &CpuTime) -> Self {
        Self {
            user: total.user + total.nice,
            system: total.system,
            irq: total.irq.unwrap_or(0),
            softirq: total.softirq.unwrap_or(0),
            steal: total.steal.unwrap_or(0),
            idle: total.idle + total.iowait.unwrap_or(0),
        }
    }

    const fn busy(self) -> u64 {
        self.user + self.system + self.irq + self.softirq
    }
}

fn passed(now: u64, then: u64) -> Nanos {
    ticks(now.saturating_sub(then))
}

fn ticks(count: u64) -> Nanos {
    Nanos(count * (1_000_000_000 / procfs::ticks_per_second()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spinning_thread_is_busy_time() {
        let before = CpuReading::now().expect("Linux");
        let until = sys::clock::monotonic() + 200_000_000;
        while sys::clock::monotonic() < until {}
        let spent = CpuReading::now().expect("Linux").since(&before);
        assert!(spent.elapsed >= Nanos::from_millis(200), "{spent:?}");
        assert!(spent.busy() >= Nanos::from_millis(100), "{spent:?}");
        let all = spent.busy() + spent.idle + spent.steal;
        let possible = Nanos(spent.elapsed.0 * u64::from(spent.cpus)) + Nanos::from_millis(200);
        assert!(all <= possible, "{spent:?}");
    }
}
