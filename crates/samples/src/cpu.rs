//! CPU time during a trial, of the machine and of the agents' threads.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::cpu_attribution::AttributedCpu;

/// CPU time during a trial, including the warm-up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUsage {
    /// The machine of both ends.
    pub machine: MachineCpu,
    pub threads: Vec<ThreadCpu>,
    /// For ends in virtual machines, as counted by the guest kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<GuestCpu>,
    /// By process, from /proc readings around the trial; `None` if not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<AttributedCpu>,
}

impl CpuUsage {
    /// CPUs used by the run; `None` if the machine's time was not recorded.
    #[must_use]
    pub fn own_cpus(&self) -> Option<f64> {
        let busy = self.machine.cpus_busy()?;
        Some((busy - self.other_cpus().unwrap_or(0.0)).max(0.0))
    }

    /// `None` if not recorded.
    #[must_use]
    pub fn other_cpus(&self) -> Option<f64> {
        let around = self.processes.as_ref().filter(|around| around.elapsed.0 > 0)?;
        Some(around.others().map(|(_, time)| time).sum::<Nanos>().seconds() / around.elapsed.seconds())
    }
}

/// A guest's CPU time, as counted by its kernel.
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
    /// Soft interrupts, which include most of the network receive path.
    pub softirq: Nanos,
    pub steal: Nanos,
    /// Idle, including I/O wait.
    pub idle: Nanos,
    #[serde(default)]
    pub by_cpu: Vec<CpuTimes>,
}

/// CPU time of one CPU, from /proc/stat (resolution 10 ms).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    pub cpu: u32,
    /// Everything except idle and steal.
    pub busy: Nanos,
    /// Part of `busy` in soft interrupts.
    pub softirq: Nanos,
    pub steal: Nanos,
}

impl MachineCpu {
    /// Everything except idle and steal.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.user + self.system + self.irq + self.softirq
    }

    /// `None` without a reading.
    #[must_use]
    pub fn cpus_busy(&self) -> Option<f64> {
        (self.elapsed.0 > 0).then(|| self.busy().seconds() / self.elapsed.seconds())
    }
}

/// CPU time of a traffic thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCpu {
    /// `client` or `server`.
    pub end: String,
    /// `send`, `receive`, `ping`, `pong`.
    pub role: ThreadRole,
    pub busy: Nanos,
    /// Run time of the thread.
    pub elapsed: Nanos,
}

/// The task of a traffic thread.
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
    /// Has no peer.
    Alone,
}
