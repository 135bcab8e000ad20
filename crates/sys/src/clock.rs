//! Kernel clocks in nanoseconds, and sleeping until a deadline.

use std::num::NonZeroU64;

use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::error::{Context, Result};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Returns the monotonic time, which is the same for all processes and stops while the machine is suspended.
#[must_use]
pub fn monotonic() -> u64 {
    read(ClockId::Monotonic)
}

#[must_use]
pub fn thread_cpu() -> u64 {
    read(ClockId::ThreadCPUTime)
}

/// Returns the user and system time of this process, including threads that have ended.
#[must_use]
pub fn process_cpu() -> u64 {
    read(ClockId::ProcessCPUTime)
}

/// Sleeps until `deadline` on the [`monotonic`] clock, even if signals arrive. How late the thread wakes up
/// depends on [`set_timer_slack`].
pub fn sleep_until(deadline: u64) {
    let request = timespec(deadline);
    while rustix::thread::clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &request).is_err() {
        // EINTR is the only possible error here. The deadline is absolute, so just repeat the call.
    }
}

/// Sets how late the kernel may wake the calling thread, in nanoseconds: 50,000 by default, 1 for a pacing
/// thread, 0 to restore the initial value. New threads inherit it. See PR_SET_TIMERSLACK in prctl(2).
pub fn set_timer_slack(nanos: u64) -> Result<()> {
    rustix::thread::set_current_timer_slack(NonZeroU64::new(nanos))
        .named("set timer slack of", || "the calling thread")
}

fn read(clock: ClockId) -> u64 {
    nanos(&clock_gettime(clock))
}

fn nanos(time: &Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(rest)
}

fn timespec(nanos: u64) -> Timespec {
    let part = |value: u64| i64::try_from(value).expect("2^64 ns are 2^34 s");
    Timespec { tv_sec: part(nanos / NANOS_PER_SECOND), tv_nsec: part(nanos % NANOS_PER_SECOND) }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MS: u64 = 1_000_000;

    #[expect(clippy::disallowed_methods, reason = "tests of clocks sleep")]
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

    #[test]
    fn process_cpu_counts_other_threads() {
        let all = process_cpu();
        std::thread::scope(|scope| scope.spawn(|| spin(thread_cpu() + 30 * MS)).join().expect("no panic"));
        assert!(process_cpu() - all >= 30 * MS);
    }

    #[test]
    fn sleeps_until_deadline_and_returns_at_once_after_it() {
        let deadline = monotonic() + 20 * MS;
        sleep_until(deadline);
        assert!(monotonic() >= deadline);
        for passed in [deadline, 1, 0] {
            let spent = thread_cpu();
            sleep_until(passed);
            assert!(thread_cpu() - spent < 10 * MS, "{passed}");
        }
    }

    #[test]
    fn converts_time_to_timespec_and_back() {
        for time in [0, 1, NANOS_PER_SECOND - 1, NANOS_PER_SECOND, u64::MAX] {
            assert_eq!(nanos(&timespec(time)), time);
        }
    }

    #[test]
    fn timer_slack_is_per_thread_and_zero_restores_it() {
        let slack = || rustix::thread::current_timer_slack().expect("any thread");
        let before = slack();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                set_timer_slack(1).expect("any thread");
                assert_eq!(slack(), 1);
                set_timer_slack(0).expect("any thread");
                assert_eq!(slack(), before);
            });
        });
        assert_eq!(slack(), before);
    }
}
