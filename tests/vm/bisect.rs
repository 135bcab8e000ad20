//! Finds kernel parameters that change a count.

use plumb_tests::guest_kernel_series;

use crate::kernel_folders::{bisect, image};

/// Checks and fills every object of the slab allocator.
const COSTLY: &str = "slub_debug=FZP";

pub(crate) fn names_parameters_that_change_the_count() {
    let oldest = guest_kernel_series().swap_remove(0);
    let (sandbox, kernel) = (crate::sandbox(), image(&oldest));
    let (status, printed) = bisect(&sandbox, &[(kernel.clone(), ""), (kernel, COSTLY)]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(
        printed.contains("first bad: k1") && printed.contains("cause: the kernel parameters"),
        "{printed}"
    );
    assert!(printed.contains("slub_debug: not set -> FZP"), "{printed}");
    let unknown = sandbox.plumb(&["bisect", "6.1", "6.12", "--over", "/boot"]);
    assert!(unknown.status == Some(64) && unknown.err.contains("no kernel `6.1`"), "{unknown:?}");
}
