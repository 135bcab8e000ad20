//! The clocks of the kernel, in nanoseconds.
//!
//! It must not know what is timed. See clock_gettime(2).

use rustix::time::{ClockId, Timespec, clock_gettime};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC: the same for all processes of a machine, stops while it is suspended.
#[must_use]
pub fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

/// CPU time, user and system, that the calling thread has used.
#[must_use]
pub fn thread_cpu() -> u64 {
    read(ClockId::ThreadCPUTime)
}

fn read(clock: ClockId) -> u64 {
    nanos(&clock_gettime(clock))
}

fn nanos(time: &Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(rest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MS: u64 = 1_000_000;

    #[expect(clippy::disallowed_methods, reason = "a test of clocks waits")]
    fn sleep() {
        std::thread::sleep(Duration::from_millis(50));
    }

    fn spin(until: u64) {
        while thread_cpu() < until {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn monotonic_counts_a_sleep_in_nanoseconds() {
        let begin = monotonic();
        sleep();
        let took = monotonic() - begin;
        assert!((50 * MS..5000 * MS).contains(&took), "{took}");
    }

    #[test]
    fn thread_cpu_does_not_count_other_threads() {
        let own = thread_cpu();
        std::thread::scope(|scope| scope.spawn(|| spin(thread_cpu() + 30 * MS)).join().expect("no panic"));
        assert!(thread_cpu() - own < 10 * MS);
    }

    #[test]
    fn thread_cpu_grows_when_spinning_and_not_when_sleeping() {
        spin(thread_cpu() + 20 * MS);
        let spun = thread_cpu();
        sleep();
        assert!(thread_cpu() - spun < 10 * MS, "slept {} ns of CPU", thread_cpu() - spun);
    }
}
