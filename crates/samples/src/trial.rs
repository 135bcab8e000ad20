//! A single measurement of a workload on a path, with given factor levels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use workload::{LEAST_IPV6_MTU, Measurement, Metric, WorkloadSettings, udp_headers};

use crate::{
    counters::PathCounters,
    cpu::CpuUsage,
    device_state::DeviceState,
    observed::ProbeResults,
    syscalls::SyscallCount,
    time::UnixMillis,
    warning::{DiscardedAttempt, ValidityWarning},
};

/// The purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arm {
    /// Measures the result.
    Measure,
    /// Repeats the baseline in the same block to measure the noise floor.
    Again,
    /// Repeats the trial in the same block with probes, to get their data and measure their overhead. Not used for
    /// the result.
    Probed,
    /// Repeats a simultaneous trial on its own in the same block, to measure how simultaneous trials affect each
    /// other. Not used for the result.
    Alone,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Trial {
    /// Position in the plan, starting at 0.
    pub index: u32,
    /// Block, starting at 0.
    pub block: u32,
    pub result: String,
    pub arm: Arm,
    pub started: UnixMillis,
    pub measurement: Measurement,
    pub cpu: CpuUsage,
    /// The devices along the path, as reported by the kernel just before the trial.
    pub devices: Vec<DeviceState>,
    pub path_check: PathCheck,
    /// System calls counted by another tool.
    #[serde(default)]
    pub syscalls: Vec<SyscallCount>,
    /// Probe data of a probed trial.
    #[serde(default)]
    pub observed: Option<ProbeResults>,
    /// Counters of devices and of the machine; `None` if not read.
    #[serde(default)]
    pub counters: Option<PathCounters>,
    /// Instructions executed by an emulated machine, if they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<InstructionCounts>,
    /// Number of simultaneous trials between other pairs of hosts.
    #[serde(default, skip_serializing_if = "is_none")]
    pub simultaneous: u32,
    pub warnings: Vec<ValidityWarning>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<DiscardedAttempt>,
}

/// The instructions that an emulated machine executed from the end of the warm-up to the end of the measurement.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InstructionCounts {
    /// Instructions of the kernel and all programs.
    pub total: u64,
    /// The functions with the most instructions. Their sum is at most `total`.
    pub functions: Vec<FunctionCount>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FunctionCount {
    /// A kernel module, `kernel` for other kernel functions, or `plumb`.
    pub module: String,
    pub function: String,
    pub instructions: u64,
}

impl Trial {
    #[must_use]
    pub fn metric(&self) -> Metric {
        let metric = self.measurement.kind().metric();
        match (&self.instructions, metric) {
            (Some(_), Metric::Throughput) => Metric::InstructionsPerGigabyte,
            (Some(_), Metric::RoundTrip) => Metric::InstructionsPerMessage,
            (_, metric) => metric,
        }
    }

    /// Returns the trial's value, or `None` if it is missing or belongs to another metric.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        match &self.instructions {
            Some(counted) => {
                let work = self.measurement.kind().measured_work().filter(|work| *work > 0.0)?;
                (self.metric() == metric).then_some(counted.total as f64 / work)
            }
            None => self.measurement.value(metric),
        }
    }

    /// The value with its unit, e.g. `9.41 Gbit/s` or `727 M instr/GB`.
    #[must_use]
    pub fn in_a_word(&self) -> String {
        let counted = self.instructions.as_ref().and_then(|_| self.value(self.metric()));
        counted.map_or_else(|| self.measurement.kind().in_a_word(), |value| self.metric().show(value))
    }
}

const fn is_none(count: &u32) -> bool {
    *count == 0
}

/// Checks of a path just before a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathCheck {
    /// The largest IP packet that passes end to end without fragmentation. `None` if not tested.
    pub mtu: Option<u32>,
    /// Set if packets that the sender's MTU allows were lost without an ICMP error. Probed before a result's first
    /// trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub black_hole: Option<BlackHole>,
}

/// An MTU black hole. All sizes are IP packet sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlackHole {
    /// The largest packet that passes.
    pub carried: u32,
    /// The largest packet that the sender's MTU allows.
    pub lost: u32,
    /// The length of the IP and UDP headers.
    #[serde(default = "ipv4_headers")]
    pub headers: u32,
    /// The first device on the path that forwarded small packets but no large ones. `None` if the counters show no such
    /// device.
    pub device: Option<String>,
    /// The MTU of this device, if known.
    pub device_mtu: Option<u32>,
}

const fn ipv4_headers() -> u32 {
    udp_headers(true)
}

impl BlackHole {
    #[must_use]
    pub fn can_be_avoided(&self) -> bool {
        self.headers == ipv4_headers() || self.carried >= LEAST_IPV6_MTU
    }

    #[must_use]
    pub fn affects(&self, load: &WorkloadSettings) -> bool {
        load.kind().exceeds(self.carried.into(), self.headers.into())
    }
}
