//! CPU time of the machine and of the agents' threads during a trial.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::cpu_attribution::AttributedCpu;

/// CPU time during a trial, including the warm-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUsage {
    /// The machine on which both ends run.
    pub machine: MachineCpu,
    pub threads: Vec<ThreadCpu>,
    /// CPU time of ends in virtual machines, as counted by the guest kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<GuestCpu>,
    /// CPU time by process, read from /proc before and after the trial. `None` if not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<AttributedCpu>,
    /// Ends that were throttled by the CPU quota of a cgroup.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub throttled: Vec<CpuThrottling>,
}

impl CpuUsage {
    /// Number of CPUs used by the run, or `None` if the machine's time was not recorded.
    #[must_use]
    pub fn own_cpus(&self) -> Option<f64> {
        let busy = self.machine.cpus_busy()?;
        Some((busy - self.other_cpus().unwrap_or(0.0)).max(0.0))
    }

    /// Number of CPUs used by other processes, or `None` if not recorded.
    #[must_use]
    pub fn other_cpus(&self) -> Option<f64> {
        let around = self.processes.as_ref().filter(|around| around.elapsed.0 > 0)?;
        Some(around.others().map(|(_, time)| time).sum::<Nanos>().seconds() / around.elapsed.seconds())
    }
}

/// Throttling of the client or the server by the CPU quota of a cgroup.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuThrottling {
    /// `client` or `server`.
    pub end: String,
    /// The cgroup's directory. It may be an ancestor of the end's cgroup.
    pub group: String,
    /// The quota in CPUs, if it was still set at the end of the trial.
    pub limit: Option<f64>,
    /// Quota periods, usually of 100 ms, in which the processes ran.
    pub periods: u64,
    /// Quota periods in which the processes were throttled.
    pub throttled: u64,
    /// Throttled time, summed over CPUs.
    pub time: Nanos,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuestCpu {
    /// `client` or `server`.
    pub end: String,
    pub cpu: MachineCpu,
}

/// The machine's CPU time by kind, summed over CPUs, from /proc/stat (resolution 10 ms).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCpu {
    pub cpus: u32,
    /// Time between the two readings.
    pub elapsed: Nanos,
    pub user: Nanos,
    pub system: Nanos,
    pub irq: Nanos,
    /// Soft interrupts, including most of the network receive path.
    pub softirq: Nanos,
    pub steal: Nanos,
    /// Idle time, including I/O wait.
    pub idle: Nanos,
    #[serde(default)]
    pub by_cpu: Vec<CpuTimes>,
}

/// CPU time of one CPU, from /proc/stat (resolution 10 ms).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    pub cpu: u32,
    /// All time except idle and steal.
    pub busy: Nanos,
    /// Part of `busy` spent in soft interrupts.
    pub softirq: Nanos,
    pub steal: Nanos,
}

impl MachineCpu {
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.user + self.system + self.irq + self.softirq
    }

    /// Number of busy CPUs, or `None` if there is no reading.
    #[must_use]
    pub fn cpus_busy(&self) -> Option<f64> {
        (self.elapsed.0 > 0).then(|| self.busy().seconds() / self.elapsed.seconds())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCpu {
    /// `client` or `server`.
    pub end: String,
    pub role: ThreadRole,
    pub busy: Nanos,
    /// Run time of the thread.
    pub elapsed: Nanos,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadRole {
    /// Sends a stream.
    Send,
    /// Receives a stream.
    Receive,
    /// Sends messages and waits for replies.
    Ping,
    /// Replies to messages.
    Pong,
    /// Runs without a peer.
    Alone,
}
