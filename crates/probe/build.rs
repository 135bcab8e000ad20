//! Compiles every `*.bpf.c` under src with clang to a BPF object, and embeds it in the crate.
#![expect(clippy::disallowed_macros, reason = "cargo reads what a build script prints")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-env-changed=CLANG");
    for source in sources(Path::new("src")) {
        compile(&source, &out);
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("crate directories are readable").path())
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
    let name = source.file_stem().expect("ends with .bpf.c").to_string_lossy();
    let object = out.join(format!("{name}.o"));
    let here = env::current_dir().expect("cargo runs it in the crate's directory");
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
        // Debian has asm/types.h here. When targeting BPF, clang does not look here.
        .args(["-idirafter", &format!("/usr/include/{}-linux-gnu", env::consts::ARCH)])
        .arg(architecture())
        .arg("-c")
        .arg(source)
        .arg("-o")
        .arg(&object)
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("cannot compile {}: clang exited with {status}", source.display()),
        Err(error) => panic!(
            "cannot run {}: {error}; install clang and libbpf-dev with `make setup`, or set CLANG to another compiler",
            Path::new(&clang).display()
        ),
    }
}

/// Returns the architecture's name in libbpf's headers.
fn architecture() -> &'static str {
    match env::var("CARGO_CFG_TARGET_ARCH").as_deref() {
        Ok("x86_64") => "-D__TARGET_ARCH_x86",
        Ok("aarch64") => "-D__TARGET_ARCH_arm64",
        other => panic!("the probes do not support this architecture: {other:?}"),
    }
}
