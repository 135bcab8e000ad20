//! Sets `PLUMB_VERSION` to the package version, with a mark if the build is not optimised.
#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let optimised = env::var("OPT_LEVEL").is_ok_and(|level| level != "0");
    let mark = if optimised { "" } else { " (debug build)" };
    println!("cargo::rustc-env=PLUMB_VERSION={version}{mark}");
}
