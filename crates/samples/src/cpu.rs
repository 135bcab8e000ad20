//! CPU time beside a trial: the machine's, by kind, and the agents' threads'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

use crate::cpu_attribution::OwnedCpu;

/// CPU time while a trial was measured (warm-up included: counters are read at both its ends).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuUsage {
    /// The machine that both ends are on; per machine once ends are on several.
    pub machine: MachineCpu,
    /// The agents' traffic threads.
    pub threads: Vec<ThreadCpu>,
    /// Of ends that are in a virtual machine, what its guest's kernel counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guests: Vec<GuestCpu>,
    /// The machine's by process, as /proc told it just before the trial and just after; `None` where nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<OwnedCpu>,
}

impl CpuUsage {
    /// CPUs that were busy on average, those of processes that have no part in what was measured left out; `None` when nobody
    /// recorded the machine's time.
    #[must_use]
    pub fn own_cpus(&self) -> Option<f64> {
        let busy = self.machine.cpus_busy()?;
        Some((busy - self.other_cpus().unwrap_or(0.0)).max(0.0))
    }

    /// CPUs of those processes; `None` when nobody looked.
    #[must_use]
    pub fn other_cpus(&self) -> Option<f64> {
        let around = self.processes.as_ref().filter(|around| around.elapsed.0 > 0)?;
        Some(around.others().map(|(_, time)| time).sum::<Nanos>().seconds() / around.elapsed.seconds())
    }
}

/// A guest's CPU time as its own kernel counts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuestCpu {
    /// Which end: `client` or `server`.
    pub end: String,
    pub cpu: MachineCpu,
}

/// The machine's CPU time by kind, all CPUs added, from /proc/stat (resolution 10 ms).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MachineCpu {
    /// CPUs online.
    pub cpus: u32,
    /// Time between the two readings.
    pub elapsed: Nanos,
    /// In user space (nice included).
    pub user: Nanos,
    /// In the kernel, for a task.
    pub system: Nanos,
    /// In hardware interrupts.
    pub irq: Nanos,
    /// In soft interrupts: most of the network stack's receive side.
    pub softirq: Nanos,
    /// Taken by the hypervisor.
    pub steal: Nanos,
    /// Idle (waiting for I/O included).
    pub idle: Nanos,
    /// The same for each CPU that is online.
    #[serde(default)]
    pub by_cpu: Vec<CpuTimes>,
}

/// The time of one CPU, from /proc/stat (resolution 10 ms).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    pub cpu: u32,
    /// At work: everything but idle and steal.
    pub busy: Nanos,
    /// Of that, in soft interrupts.
    pub softirq: Nanos,
    /// Taken by the hypervisor.
    pub steal: Nanos,
}

impl MachineCpu {
    /// Time spent working: everything but idle and steal.
    #[must_use]
    pub fn busy(&self) -> Nanos {
        self.user + self.system + self.irq + self.softirq
    }

    /// The same in CPUs on average; `None` of a reading that nobody made.
    #[must_use]
    pub fn cpus_busy(&self) -> Option<f64> {
        (self.elapsed.0 > 0).then(|| self.busy().seconds() / self.elapsed.seconds())
    }
}

/// CPU time of one traffic thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ThreadCpu {
    /// Which end: `client` or `server`.
    pub end: String,
    /// What it did: `send`, `receive`, `ping`, `pong`.
    pub role: ThreadRole,
    /// Its CPU time, user and system together.
    pub busy: Nanos,
    /// For how long it ran.
    pub elapsed: Nanos,
}

/// What a traffic thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThreadRole {
    /// Sends a stream.
    Send,
    /// Receives a stream.
    Receive,
    /// Sends messages and awaits their return.
    Ping,
    /// Returns messages.
    Pong,
    /// Has no peer.
    Alone,
}
