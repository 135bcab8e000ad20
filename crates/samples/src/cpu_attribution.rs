//! CPU time by owner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuConsumer {
    /// The client's agent.
    Client,
    Server,
    /// vCPU threads of the client's virtual machine.
    ClientVm,
    /// vCPU threads of the server's virtual machine.
    ServerVm,
    /// Other threads of a virtual machine monitor.
    Vmm,
    /// vhost workers.
    Vhost,
    /// Soft interrupts in the context of any thread, including most of the network receive path.
    Softirq,
    /// Deferred soft interrupts in ksoftirqd.
    Ksoftirqd,
    /// Hardware interrupts.
    Irq,
    /// Other kernel threads.
    Kernel,
    /// plumb's controller and observer.
    Plumb,
    /// All other processes.
    Other,
}

/// CPU time of the whole machine by owner, between two readings. Owners do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttributedCpu {
    pub source: AttributionSource,
    /// Why the exact method was not used, with a hint. `None` if it was used, or if the reason is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub elapsed: Nanos,
    pub cpus: u32,
    /// Busy time according to /proc/stat, for comparison with the sum over all owners.
    pub busy: Nanos,
    /// Time stolen by the hypervisor, from /proc/stat.
    pub steal: Nanos,
    /// The time of each owner, largest first. Entries below 0.01 % are merged by owner.
    pub shares: Vec<ConsumerShare>,
}

impl AttributedCpu {
    pub fn others(&self) -> impl Iterator<Item = (Option<&str>, Nanos)> {
        let others = self.shares.iter().filter(|share| share.consumer == CpuConsumer::Other);
        others.map(|share| (share.process.as_deref(), share.time))
    }
}

/// How CPU time was attributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttributionSource {
    /// Recorded at each context switch and interrupt. Exact, and separates soft interrupts from the interrupted thread.
    Traced,
    /// Computed from two readings of /proc, where soft interrupt time is added to the interrupted thread.
    Sampled,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConsumerShare {
    pub consumer: CpuConsumer,
    pub process: Option<String>,
    /// The thread, if relevant, e.g. `CPU 0/KVM` or `ksoftirqd/1`.
    pub thread: Option<String>,
    /// The CPU, for soft interrupts.
    pub cpu: Option<u32>,
    pub time: Nanos,
}
