//! Measures how long processes were runnable without a CPU.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// A wait for a machine, not counting the time during which it got no CPU.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    since: Instant,
    starved: Duration,
}

impl Wait {
    /// `starved` is the current value of [`Machine::starved`](crate::Machine::starved).
    #[must_use]
    pub fn begin(starved: Duration) -> Self {
        Self { since: Instant::now(), starved }
    }

    #[must_use]
    pub fn elapsed(self) -> Duration {
        self.since.elapsed()
    }

    pub fn exceeds(self, patience: Duration, starved: impl FnOnce() -> Duration) -> bool {
        let elapsed = self.elapsed();
        elapsed > patience && elapsed.saturating_sub(starved().saturating_sub(self.starved)) > patience
    }
}

/// Returns the longest wait of any thread, or zero if the kernel does not record waits (`CONFIG_SCHED_INFO`).
#[must_use]
pub fn longest_wait(pids: &[u32]) -> Duration {
    let tasks = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten();
    tasks.filter_map(|task| waited(&task.ok()?.path())).max().unwrap_or_default()
}

fn waited(task: &Path) -> Option<Duration> {
    let text = fs::read_to_string(task.join("schedstat")).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_a_cpu_is_not_waited() {
        let (second, short) = (Duration::from_secs(1), Duration::from_millis(1));
        let wait = Wait::begin(second);
        std::thread::sleep(2 * short);
        assert!(wait.exceeds(short, || second));
        assert!(!wait.exceeds(short, || second + wait.elapsed()));
    }

    #[test]
    fn counts_wait_of_running_process_only() {
        let own = std::process::id();
        let spin = || {
            std::thread::spawn(|| {
                let mut turns = 0_u64;
                while longest_wait(&[std::process::id()]) == Duration::ZERO && turns < 100_000 {
                    turns += 1;
                }
            })
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        (0..=cpus)
            .map(|_| spin())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|one| one.join().expect("no panic"));
        let is_recorded = Path::new("/proc/self/schedstat").exists();
        assert_eq!(longest_wait(&[own]) > Duration::ZERO, is_recorded);
        assert_eq!(longest_wait(&[u32::MAX]), Duration::ZERO);
        assert_eq!(longest_wait(&[]), Duration::ZERO);
    }
}
