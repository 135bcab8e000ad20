//! Sets `PLUMB_VERSION` to the package version, marked if the build is unoptimised, and lists the pages of
//! docs/findings.
#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]
#![expect(clippy::disallowed_methods, reason = "a build script writes files that users do not see")]

use std::{env, ffi::OsStr, fs, path::PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let optimised = env::var("OPT_LEVEL").is_ok_and(|level| level != "0");
    let mark = if optimised { "" } else { " (debug build)" };
    println!("cargo::rustc-env=PLUMB_VERSION={version}{mark}");
    list_pages();
}

fn list_pages() {
    let folder =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../docs/findings");
    println!("cargo::rerun-if-changed={}", folder.display());
    let entries = fs::read_dir(&folder).expect("docs/findings can be read");
    let mut pages: Vec<PathBuf> =
        entries.map(|entry| entry.expect("docs/findings can be read").path()).collect();
    pages.retain(|page| {
        page.extension() == Some(OsStr::new("md")) && page.file_stem() != Some(OsStr::new("README"))
    });
    pages.sort();
    let line = |page: &PathBuf| {
        let name = page.file_stem().expect("a page has a name");
        format!("({name:?}, include_str!({page:?})),\n")
    };
    let list: String = pages.iter().map(line).collect();
    let path = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    fs::write(path, format!("&[{list}]")).expect("the output folder is writable");
}
