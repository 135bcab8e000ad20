//! The CPU's time-stamp counter: how fast it runs.
//!
//! It must not know who wants to know. Source: RDTSC in Intel's Software Developer's Manual, volume 2.
#![expect(unsafe_code, reason = "reading the counter is an intrinsic")]

use crate::clock;

/// Long enough that the reading of a clock, some 100 ns, is 20 parts in a million.
const SPAN: u64 = 5_000_000;
/// A reading during which the thread was not interrupted is among so many.
const TRIES: usize = 8;
/// What a counter of a PC may run at, in kHz; anything else was measured wrongly.
const PLAUSIBLE: std::ops::Range<u64> = 100_000..10_000_000;

/// Its frequency in kHz, measured against the kernel's clock in 5 ms; `None` where there is no plausible one.
#[must_use]
pub fn kilohertz() -> Option<u64> {
    let (begun, first) = reading()?;
    clock::sleep_until(begun + SPAN);
    let (ended, last) = reading()?;
    let ticks = u128::from(last.checked_sub(first)?);
    let khz = ticks * 1_000_000 / u128::from(ended.checked_sub(begun)?.max(1));
    u64::try_from(khz).ok().filter(|khz| PLAUSIBLE.contains(khz))
}

/// The kernel's clock in nanoseconds, and the counter at that time.
fn reading() -> Option<(u64, u64)> {
    let tries = (0..TRIES).filter_map(|_| {
        let before = clock::monotonic();
        let counter = counter()?;
        let after = clock::monotonic();
        Some((after - before, (before + (after - before) / 2, counter)))
    });
    tries.min_by_key(|(took, _)| *took).map(|(_, reading)| reading)
}

#[cfg(target_arch = "x86_64")]
fn counter() -> Option<u64> {
    // SAFETY: every 64-bit CPU has the instruction, and it touches no memory.
    Some(unsafe { std::arch::x86_64::_rdtsc() })
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_measurements_agree_to_a_thousandth() {
        let [one, other] = [kilohertz(), kilohertz()];
        assert_eq!(one.is_some(), cfg!(target_arch = "x86_64"), "a PC has a counter");
        let [one, other] = [one, other].map(Option::unwrap_or_default);
        assert!(one.abs_diff(other) <= one / 1000, "{one} and {other} kHz");
    }
}
