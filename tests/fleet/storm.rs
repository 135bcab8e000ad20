//! A short storm of faults. `make soak ARGS=storm` runs a hundred.

use std::time::Duration;

use plumb_tests::storm::{Fault, Storm};

pub(crate) fn one_of_each_main_kind() {
    let faults = [
        Fault::KilledController,
        Fault::PartedHosts,
        Fault::KilledMember,
        Fault::CrashedDatabase,
        Fault::KilledServer,
    ];
    let longest = Duration::from_secs(3);
    let storm = Storm { faults: faults.to_vec(), seed: 0x2545_f491, longest, trials: 1, trial: "4s" };
    storm.run(env!("CARGO_BIN_EXE_plumb"));
}
