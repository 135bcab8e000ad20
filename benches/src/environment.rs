//! Where the numbers come from. They compare with those of no other machine.

use std::fs;

/// The machine and how busy it was at the start.
#[derive(Debug)]
pub(crate) struct Environment {
    /// The kernel's release.
    pub(crate) kernel: String,
    /// CPUs that this process may use.
    pub(crate) cpus: usize,
    /// The load average over one minute (proc(5)); `None` if the kernel does not say.
    pub(crate) load: Option<f64>,
}

impl Environment {
    /// Looks at the machine as it is now.
    pub(crate) fn read() -> Self {
        let load = fs::read_to_string("/proc/loadavg").ok();
        Self {
            kernel: sys::uname::kernel_release(),
            cpus: sys::affinity::available().len(),
            load: load.and_then(|text| text.split_whitespace().next()?.parse().ok()),
        }
    }

    /// Whether others kept the machine busy.
    pub(crate) fn was_busy(&self) -> bool {
        // A machine at rest shows a few hundredths; half a CPU at work is no rest.
        self.load.is_some_and(|load| load > 0.5)
    }
}
