//! A fleet under random faults.

use std::time::SystemTime;

use plumb_tests::storm::Storm;

/// `SOAK_SEED` repeats the faults of a storm; otherwise the seed comes from the clock.
pub(crate) fn a_storm_of_faults() {
    let from_clock = || SystemTime::UNIX_EPOCH.elapsed().expect("it is later").subsec_nanos() | 1;
    let seed = std::env::var("SOAK_SEED").ok();
    let seed = seed.map_or_else(from_clock, |text| text.parse().expect("SOAK_SEED is a number"));
    Storm::of(crate::rounds(100), seed).run(env!("CARGO_BIN_EXE_plumb"));
}
