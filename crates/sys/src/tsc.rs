//! The frequency of the CPU's time-stamp counter. See RDTSC in Intel's Software Developer's Manual, volume 2.
#![cfg_attr(target_arch = "x86_64", expect(unsafe_code, reason = "the counter is read by an intrinsic"))]

use crate::clock;

/// The duration of the measurement in nanoseconds. Reading the clock takes about 100 ns (20 ppm).
const SPAN: u64 = 5_000_000;
const TRIES: usize = 8;
const PLAUSIBLE: std::ops::Range<u64> = 100_000..10_000_000;

/// Compares the counter with the kernel's clock. Returns `None` if the result is implausible or the CPU is not
/// supported.
#[must_use]
pub fn kilohertz() -> Option<u64> {
    let (started, first) = reading()?;
    clock::sleep_until(started + SPAN);
    let (ended, last) = reading()?;
    let ticks = u128::from(last.checked_sub(first)?);
    let khz = ticks * 1_000_000 / u128::from(ended.checked_sub(started)?.max(1));
    u64::try_from(khz).ok().filter(|khz| PLAUSIBLE.contains(khz))
}

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
    // SAFETY: all x86-64 CPUs have this instruction, which accesses no memory.
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
    fn measurements_agree_within_a_thousandth() {
        let [one, other] = [kilohertz(), kilohertz()];
        assert_eq!(one.is_some(), cfg!(target_arch = "x86_64"), "a PC has a counter");
        let [one, other] = [one, other].map(Option::unwrap_or_default);
        assert!(one.abs_diff(other) <= one / 1000, "{one} and {other} kHz");
    }
}
