//! Describes the machine, because results from different machines cannot be compared.

use std::{fs, process::Command};

#[derive(Debug, Default)]
pub(crate) struct Environment {
    pub(crate) kernel: String,
    pub(crate) cpus: usize,
    pub(crate) load: Option<f64>,
    pub(crate) congestion: Option<String>,
    pub(crate) peers: Vec<String>,
}

impl Environment {
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

    pub(crate) fn was_busy(&self) -> bool {
        self.load.is_some_and(|load| load > 0.5)
    }
}

fn version(program: &str) -> Option<String> {
    let flag = if program == "ip" { "-V" } else { "--version" };
    let output = Command::new(program).arg(flag).output().ok()?;
    let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let line = printed
        .iter()
        .flat_map(|text| text.lines())
        .find(|line| line.contains(|c: char| c.is_ascii_digit()))?;
    let line = line.trim().trim_end_matches('.');
    Some(if line.contains(program) || line.contains("iperf") {
        line.to_owned()
    } else {
        format!("{program} {line}")
    })
}
