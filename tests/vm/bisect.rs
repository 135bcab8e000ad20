//! Finds the first of several kernels that changes a count.

use std::{fs, os::unix::fs::symlink, path::PathBuf};

use plumb_tests::{COUNTED_SCENARIO, Sandbox};

/// Parameters that do not change the counted instructions.
const HARMLESS: [&str; 4] = ["", "loglevel=3", "sysctl.kernel.panic_on_oops=1", "printk.time=0"];
/// Checks and fills every object of the slab allocator.
const COSTLY: &str = "slub_debug=FZP";

/// Returns the image of the installed kernel of this series.
fn image(series: &str) -> PathBuf {
    let prefix = format!("vmlinuz-{series}.");
    let images =
        fs::read_dir("/boot").expect("kernels are installed").map(|entry| entry.expect("readable").path());
    let mut images = images
        .filter(|image| image.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)));
    images.next().unwrap_or_else(|| panic!("no kernel {series} is installed"))
}

fn bisect(sandbox: &Sandbox, kernels: &[(PathBuf, &str)]) -> (Option<i32>, String) {
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

pub(crate) fn names_parameters_that_change_the_count() {
    let sandbox = crate::sandbox();
    let kernel = image("6.1");
    let of = |parameters: &[&'static str]| -> Vec<(PathBuf, &str)> {
        parameters.iter().map(|one| (kernel.clone(), *one)).collect()
    };
    let (status, printed) = bisect(&sandbox, &of(&["", "loglevel=3", COSTLY]));
    assert_eq!(status, Some(0), "{printed}");
    assert!(printed.contains("first bad: k2") && printed.contains("cause: the configuration"), "{printed}");
    assert!(printed.contains("slub_debug: not set, FZP"), "{printed}");
    let (status, printed) = bisect(&sandbox, &of(&["", "loglevel=3"]));
    assert!(status == Some(1) && printed.contains("do not differ"), "{printed}");
    let unknown = sandbox.plumb(&["bisect", "6.1", "6.12", "--over", "/boot"]);
    assert!(unknown.status == Some(64) && unknown.err.contains("no kernel `6.1`"), "{unknown:?}");
}

/// The candidates are links to the two installed kernels.
pub(crate) fn finds_kernels(candidates: usize, rounds: usize, seed: u32) {
    let sandbox = crate::sandbox();
    let mut state = seed;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % bound
    };
    for round in 0..rounds {
        let plant = 1 + below(candidates - 1);
        let series = |at| if at < plant { "6.1" } else { "6.12" };
        let kernels: Vec<(PathBuf, &str)> =
            (0..candidates).map(|at| (image(series(at)), HARMLESS[below(HARMLESS.len())])).collect();
        let (status, printed) = bisect(&sandbox, &kernels);
        println!("round {round}: first bad is k{plant} of {candidates}\n{printed}");
        assert_eq!(status, Some(0), "{printed}");
        assert!(printed.contains(&format!("first bad: k{plant},")), "{printed}");
        assert!(!printed.contains("cause: ") || printed.contains("cause: the kernel;"), "{printed}");
        let measured = printed
            .lines()
            .filter(|line| ["  good", "  bad "].iter().any(|word| line.starts_with(word)))
            .count();
        assert!(measured <= 2 + (candidates - 1).next_power_of_two().ilog2() as usize, "{printed}");
    }
}
