//! Compiles every `*.bpf.c` under src with clang to an object for the kernel, which the crate embeds.
#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-env-changed=CLANG");
    for source in sources(Path::new("src")) {
        compile(&source, &out);
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a folder of this crate can be read").path())
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.to_string_lossy().ends_with(".bpf.c"))
        .collect();
    found.sort();
    found
}

fn compile(source: &Path, out: &Path) {
    let clang = env::var_os("CLANG").unwrap_or_else(|| "clang".into());
    let name = source.file_stem().expect("it ends with .bpf.c").to_string_lossy();
    let object = out.join(format!("{name}.o"));
    // The object says where it was compiled; it is to be the same wherever that was.
    let here = env::current_dir().expect("cargo starts it in the crate's folder");
    let nameless = format!("-ffile-prefix-map={}=.", here.display());
    let status = Command::new(&clang)
        .args([
            "-target",
            "bpf",
            "-mcpu=v3",
            "-O2",
            "-g",
            "-Wall",
            "-Wextra",
            "-Wno-unused-parameter",
            "-Werror",
            "-Isrc/bpf",
            &nameless,
        ])
        // Where Debian keeps asm/types.h, which clang does not look for when it builds for the kernel.
        .args(["-D__TARGET_ARCH_x86", "-idirafter", "/usr/include/x86_64-linux-gnu"])
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{} could not be compiled: clang ended with {status}", source.display()),
        Err(error) => panic!(
            "cannot run {}: {error}; `make setup` installs clang and libbpf-dev, CLANG names another",
            Path::new(&clang).display()
        ),
    }
}
