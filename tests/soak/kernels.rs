//! Runs all guest tests on each installed kernel series. `make test` runs only a few.

use std::process::Command;

use plumb_tests::{GUEST_KERNEL_VARIABLE, guest_kernel_series};

pub(crate) fn guests_on_each_kernel() {
    let cargo = std::env::var("CARGO").expect("cargo starts this test");
    for series in guest_kernel_series() {
        println!("guests boot Linux {series}");
        let mut tests = Command::new(&cargo);
        tests.args(["test", "--release", "--quiet", "--workspace", "--test", "vm"]);
        let status = tests.env(GUEST_KERNEL_VARIABLE, &series).status().expect("cargo runs");
        assert!(status.success(), "tests of guests fail with Linux {series}");
    }
}
