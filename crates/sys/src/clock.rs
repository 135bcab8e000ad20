//! The clocks of the kernel, in nanoseconds, and waiting until one of them.
//!
//! It must not know what is timed. See clock_gettime(2), clock_nanosleep(2).

use rustix::thread::ClockId;
use rustix::time::{Timespec, clock_gettime};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// CLOCK_MONOTONIC: the same for all processes of a machine, stops while it is suspended.
#[must_use]
pub fn monotonic() -> u64 {
    read(rustix::time::ClockId::Monotonic)
}

/// CPU time, user and system, that the calling thread has used.
#[must_use]
pub fn thread_cpu() -> u64 {
    read(rustix::time::ClockId::ThreadCPUTime)
}

/// CPU time, user and system, that all threads of the process have used, ended ones included.
#[must_use]
pub fn process_cpu() -> u64 {
    read(rustix::time::ClockId::ProcessCPUTime)
}

/// CLOCK_BOOTTIME: time since the machine started, suspension included. Start times of processes count so.
#[must_use]
pub fn boot_time() -> u64 {
    read(rustix::time::ClockId::Boottime)
}

/// Waits until [`monotonic`] shows `deadline`; returns at once when that has passed. Signals do not end it.
pub fn sleep_until(deadline: u64) {
    let request = timespec(deadline);
    while rustix::thread::clock_nanosleep_absolute(ClockId::Monotonic, &request).is_err() {
        // EINTR is the only error for this clock and a valid time; the deadline is absolute, so ask again.
    }
}

fn read(clock: rustix::time::ClockId) -> u64 {
    nanos(&clock_gettime(clock))
}

fn nanos(time: &Timespec) -> u64 {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let rest = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(NANOS_PER_SECOND).saturating_add(rest)
}

fn timespec(nanos: u64) -> Timespec {
    let part = |value: u64| i64::try_from(value).expect("2^64 ns are 2^34 s, which fit");
    Timespec { tv_sec: part(nanos / NANOS_PER_SECOND), tv_nsec: part(nanos % NANOS_PER_SECOND) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn thread_cpu_grows_when_spinning_and_not_when_sleeping() {
        let start = thread_cpu();
        while thread_cpu() < start + 20 * MS {
            std::hint::spin_loop();
        }
        let spun = thread_cpu();
        sleep_until(monotonic() + 50 * MS);
        assert!(thread_cpu() - spun < 10 * MS, "slept {} ns of CPU", thread_cpu() - spun);
    }

    #[test]
    fn process_cpu_counts_other_threads_and_thread_cpu_does_not() {
        let (own, all) = (thread_cpu(), process_cpu());
        let spin = || {
            let start = thread_cpu();
            while thread_cpu() < start + 30 * MS {
                std::hint::spin_loop();
            }
        };
        std::thread::scope(|scope| scope.spawn(spin).join().expect("no panic"));
        assert!(process_cpu() - all >= 30 * MS);
        assert!(thread_cpu() - own < 10 * MS);
    }

    #[test]
    fn sleeping_ends_after_the_deadline_and_at_once_when_it_has_passed() {
        let deadline = monotonic() + 20 * MS;
        sleep_until(deadline);
        assert!(monotonic() >= deadline);
        let late = monotonic();
        sleep_until(deadline);
        assert!(monotonic() - late < 10 * MS);
    }

    #[test]
    fn time_since_boot_includes_what_monotonic_counts() {
        let monotonic = monotonic();
        assert!(boot_time() >= monotonic && monotonic > 0);
    }

    #[test]
    fn a_time_survives_the_kernel_s_form() {
        for time in [0, 1, NANOS_PER_SECOND - 1, NANOS_PER_SECOND, u64::MAX] {
            assert_eq!(nanos(&timespec(time)), time);
        }
    }
}
