//! Where the numbers come from. They compare with those of no other machine.

use std::{fs, process::Command};

/// The machine, its peers, and how busy it was at the start.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    /// The kernel's release.
    pub(crate) kernel: String,
    /// CPUs that this process may use.
    pub(crate) cpus: usize,
    /// The load average over one minute (proc(5)); `None` if the kernel does not say.
    pub(crate) load: Option<f64>,
    /// The congestion control that whoever chooses none gets.
    pub(crate) congestion: Option<String>,
    /// The peers that are there, in their own words.
    pub(crate) peers: Vec<String>,
}

impl Environment {
    /// Looks at the machine as it is now.
    pub(crate) fn read() -> Self {
        let load = fs::read_to_string("/proc/loadavg").ok();
        let congestion = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok();
        Self {
            kernel: sys::uname::kernel_release(),
            cpus: sys::affinity::available().len(),
            load: load.and_then(|text| text.split_whitespace().next()?.parse().ok()),
            congestion: congestion.map(|text| text.trim().to_owned()),
            peers: ["iperf3", "sockperf", "ip", "mn"].into_iter().filter_map(version).collect(),
        }
    }

    /// Whether others kept the machine busy.
    pub(crate) fn was_busy(&self) -> bool {
        // A machine at rest shows a few hundredths; half a CPU at work is no rest.
        self.load.is_some_and(|load| load > 0.5)
    }
}

/// The first line that it says about itself.
fn version(program: &str) -> Option<String> {
    let flag = if program == "ip" { "-V" } else { "--version" };
    let output = Command::new(program).arg(flag).output().ok()?;
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let line =
        said.iter().flat_map(|text| text.lines()).find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    let line = line.trim().trim_end_matches('.');
    Some(if line.contains(program) || line.contains("iperf") {
        line.to_owned()
    } else {
        format!("{program} {line}")
    })
}
