//! Compiles the QEMU plugin that counts instructions. The plugin uses the host's C library, even if plumb is static.
#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]

use std::{env, path::PathBuf, process::Command};

const SOURCE: &str = "plugin/instruction_counter.rs";

fn main() {
    println!("cargo::rerun-if-changed={SOURCE}");
    let variable = |name: &str| env::var_os(name).expect("set by cargo");
    let output = PathBuf::from(variable("OUT_DIR")).join("instruction_counter.so");
    let host = variable("HOST").into_string().expect("a target's name");
    let status = Command::new(variable("RUSTC"))
        .args(["--edition=2024", "--crate-type=cdylib", "--target", &host.replace("-musl", "-gnu")])
        .args(["-Copt-level=3", "-Cpanic=abort", "-Cstrip=symbols", "-Clink-arg=-nostdlib"])
        .args([SOURCE, "-o"])
        .arg(output)
        .status();
    assert!(status.expect("cargo runs rustc").success(), "cannot compile {SOURCE}");
}
