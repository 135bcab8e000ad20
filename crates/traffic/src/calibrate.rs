//! What the engine's own steps cost on this machine: a look at the clock, a system call, a wake-up.
//!
//! Medians of a bounded number of samples, taken on the calling thread in less than 30 ms unless the machine
//! keeps it waiting. It does not know who compares them with what.

use std::hint::black_box;

use samples::Calibration;
use sys::clock::{monotonic, set_timer_slack, sleep_until};

/// How often each cost is sampled,
const SAMPLES: usize = 51;
/// unless that takes longer than this: ns.
const ENOUGH: u64 = 9_000_000;
/// Looks at the clock, and system calls, that are timed together.
const TOGETHER: u32 = 64;
/// How long a sleep is asked for: ns.
const SLEEP: u64 = 100_000;

/// Measures now.
#[must_use]
pub fn calibrate() -> Calibration {
    Calibration {
        clock_ns: median(|| each(monotonic)),
        // No system call does less; neither the kernel nor the C library remembers its answer.
        syscall_ns: median(|| each(std::process::id)),
        wake_ns: wake(),
    }
}

/// As a pacing thread is woken: with the least slack that the kernel offers.
fn wake() -> f64 {
    // Where that is refused, a wake-up is as late as it is for everybody here.
    let tight = set_timer_slack(1).is_ok();
    let late = median(|| {
        let deadline = monotonic() + SLEEP;
        sleep_until(deadline);
        monotonic().saturating_sub(deadline) as f64
    });
    if tight {
        // What was allowed just now is allowed again.
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
    fn every_cost_is_known_and_its_work_is_bounded() {
        // What the hypervisor takes from a thread that runs counts as its time.
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
    fn a_median_is_one_of_the_samples_and_slow_ones_are_few() {
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
