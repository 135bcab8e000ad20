//! How long a machine's processes were ready to run and had no CPU. Must not know what they run.

use std::{fs, path::Path, time::Duration};

/// The longest time that any thread of these processes waited for a CPU; none where the kernel does not tell
/// (`CONFIG_SCHED_INFO`).
#[must_use]
pub fn longest_wait(pids: &[u32]) -> Duration {
    let tasks = pids.iter().filter_map(|pid| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten();
    tasks.filter_map(|task| waited(&task.ok()?.path())).max().unwrap_or_default()
}

/// The second of the numbers in /proc/PID/task/TID/schedstat, in nanoseconds.
fn waited(task: &Path) -> Option<Duration> {
    let text = fs::read_to_string(task.join("schedstat")).ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_nobody_lets_run_waits_and_one_that_is_gone_does_not() {
        let own = std::process::id();
        let spin = || {
            std::thread::spawn(|| {
                let mut turns = 0_u64;
                while longest_wait(&[std::process::id()]) == Duration::ZERO && turns < 100_000 {
                    turns += 1;
                }
            })
        };
        // More that want to run than there are CPUs.
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        (0..=cpus)
            .map(|_| spin())
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|one| one.join().expect("it ends"));
        let told = Path::new("/proc/self/schedstat").exists();
        assert_eq!(longest_wait(&[own]) > Duration::ZERO, told);
        assert_eq!(longest_wait(&[u32::MAX]), Duration::ZERO);
        assert_eq!(longest_wait(&[]), Duration::ZERO);
    }
}
