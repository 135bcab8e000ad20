//! This process's CPU time during a test, as reported by iperf3.

use sys::clock::{monotonic, process_cpu};

pub(super) struct Cpu {
    at: u64,
    total: u64,
    parts: [u64; 2],
}

impl Cpu {
    pub(super) fn now() -> Self {
        Self { at: monotonic(), total: process_cpu(), parts: parts().unwrap_or_default() }
    }

    pub(super) fn until_now(&self) -> [f64; 3] {
        let now = Self::now();
        let percent = (now.total - self.total) as f64 * 100.0 / (now.at - self.at).max(1) as f64;
        let [user, system] = [0, 1].map(|part| now.parts[part].saturating_sub(self.parts[part]) as f64);
        let ticks = user + system;
        let share = if ticks > 0.0 { user / ticks } else { 0.0 };
        [percent, percent * share, percent * (1.0 - share)]
    }
}

/// Reads fields 14 and 15 of /proc/self/stat (proc_pid_stat(5)). Only their ratio is used, because their resolution
/// is coarse.
fn parts() -> Option<[u64; 2]> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    Some([fields.next()?.parse().ok()?, fields.next()?.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_system_time_add_up_to_the_total() {
        let cpu = Cpu::now();
        let started = process_cpu();
        while process_cpu() - started < 50_000_000 {
            std::hint::spin_loop();
        }
        let [total, user, system] = cpu.until_now();
        assert!(total > 0.0 && user >= 0.0 && system >= 0.0, "{total} {user} {system}");
        assert!((total - user - system).abs() < 1e-6, "{total} {user} {system}");
        assert!(parts().is_some());
    }
}
