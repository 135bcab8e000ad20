//! Runs `plumb bisect` over links to installed kernels.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use plumb_tests::{COUNTED_SCENARIO, Sandbox};

/// Returns the image of an installed kernel of this series, e.g. `6.1`.
pub(crate) fn image(series: &str) -> PathBuf {
    let prefix = format!("vmlinuz-{series}.");
    let images =
        fs::read_dir("/boot").expect("kernels are installed").map(|entry| entry.expect("readable").path());
    let mut images = images
        .filter(|image| image.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    images.next().unwrap_or_else(|| panic!("no kernel {series} is installed"))
}

pub(crate) fn bisect(sandbox: &Sandbox, kernels: &[(PathBuf, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (number, (image, parameters)) in kernels.iter().enumerate() {
        let own = folder.path().join(format!("k{number}"));
        fs::create_dir(&own).expect("a new folder");
        symlink(image, own.join("vmlinuz")).expect("a new link");
        fs::write(own.join("parameters"), parameters).expect("writable");
    }
    let scenario = sandbox.file("counted.toml", COUNTED_SCENARIO);
    let (over, last) = (folder.path().to_string_lossy(), format!("k{}", kernels.len() - 1));
    let output = sandbox.plumb(&[
        "bisect",
        "k0",
        &last,
        "--over",
        &over,
        "--scenario",
        &scenario,
        "--workload",
        "latency",
    ]);
    (output.status, format!("{}{}", output.out, output.err))
}
