//! A fleet under random faults.

use plumb_tests::storm::Storm;

pub(crate) fn storm_of_faults() {
    Storm::of(crate::rounds(100), crate::seed()).run(env!("CARGO_BIN_EXE_plumb"));
}
