//! Measures what basic operations cost on this machine: reading the clock, a system call and a wake-up.

use std::hint::black_box;

use samples::Calibration;
use sys::clock::{monotonic, set_timer_slack, sleep_until};

const SAMPLES: usize = 51;
/// Sampling stops early after this many nanoseconds.
const ENOUGH: u64 = 9_000_000;
const TOGETHER: u32 = 64;
const SLEEP: u64 = 100_000;

#[must_use]
pub fn calibrate() -> Calibration {
    Calibration {
        clock_ns: median(|| each(monotonic)),
        // The cheapest system call that neither the kernel nor libc caches.
        syscall_ns: median(|| each(std::process::id)),
        wake_ns: wake(),
    }
}

fn wake() -> f64 {
    let tight = set_timer_slack(1).is_ok();
    let late = median(|| {
        let deadline = monotonic() + SLEEP;
        sleep_until(deadline);
        monotonic().saturating_sub(deadline) as f64
    });
    if tight {
        let _ = set_timer_slack(0);
    }
    late
}

fn each<T>(step: impl Fn() -> T) -> f64 {
    let begun = monotonic();
    for _ in 0..TOGETHER {
        black_box(step());
    }
    (monotonic() - begun) as f64 / f64::from(TOGETHER)
}

fn median(sample: impl Fn() -> f64) -> f64 {
    let begun = monotonic();
    let mut taken = Vec::with_capacity(SAMPLES);
    while taken.len() < SAMPLES && (taken.is_empty() || monotonic() - begun < ENOUGH) {
        taken.push(sample());
    }
    taken.sort_by(f64::total_cmp);
    taken[taken.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_all_costs_in_bounded_time() {
        // Steal time is charged to the running thread, so an attempt may fail.
        plumb_tests::in_one_of_five(costs_are_known);
    }

    fn costs_are_known() {
        let spent = sys::clock::thread_cpu();
        let Calibration { clock_ns, syscall_ns, wake_ns } = calibrate();
        for (name, cost) in [("clock", clock_ns), ("system call", syscall_ns), ("wake-up", wake_ns)] {
            assert!(cost > 1.0 && cost < 50e6, "{name}: {cost} ns");
        }
        assert!(sys::clock::thread_cpu() - spent < 30_000_000);
    }

    #[test]
    fn median_is_a_sample_and_ignores_slow_ones() {
        let mut next = std::cell::Cell::new(0_u32);
        let counted = median(|| f64::from(next.replace(next.get() + 1)));
        assert_eq!((counted, *next.get_mut()), (25.0, 51));
        let slow = std::cell::Cell::new(0_u32);
        median(|| {
            slow.set(slow.get() + 1);
            sleep_until(monotonic() + ENOUGH);
            0.0
        });
        assert_eq!(slow.get(), 1);
    }
}
