//! Finds the first of sixteen kernels that changes a count.

use std::path::PathBuf;

use plumb_tests::Random;

use crate::kernel_folders::{bisect, image};

const CANDIDATES: usize = 16;
/// Parameters that do not change the counted instructions.
const HARMLESS: [&str; 4] = ["", "loglevel=3", "sysctl.kernel.panic_on_oops=1", "printk.time=0"];

/// The candidates are links to the two installed kernels.
pub(crate) fn finds_kernels(rounds: usize, seed: u32) {
    let sandbox = crate::sandbox();
    let mut random = Random::of(seed);
    for round in 0..rounds {
        let plant = 1 + random.below(CANDIDATES - 1);
        let series = |at| if at < plant { "6.1" } else { "6.12" };
        let kernels: Vec<(PathBuf, &str)> =
            (0..CANDIDATES).map(|at| (image(series(at)), random.one_of(&HARMLESS))).collect();
        let (status, printed) = bisect(&sandbox, &kernels);
        println!("round {round}: first bad is k{plant}\n{printed}");
        assert_eq!(status, Some(0), "{printed}");
        assert!(printed.contains(&format!("first bad: k{plant},")), "{printed}");
        assert!(printed.contains("cause: the kernel\n"), "{printed}");
        let measured =
            printed.lines().filter(|line| line.starts_with("  good") || line.starts_with("  bad")).count();
        assert!(measured <= 6, "{printed}");
    }
    let (status, printed) = bisect(&sandbox, &[(image("6.1"), HARMLESS[0]), (image("6.1"), HARMLESS[1])]);
    assert!(status == Some(1) && printed.contains("do not differ"), "{printed}");
}
