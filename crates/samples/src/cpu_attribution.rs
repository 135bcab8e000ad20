//! CPU time by its owner. Must not know how it was told apart.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Nanos;

/// Whose work a CPU did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CpuOwner {
    /// The client: the agent that it runs in.
    Client,
    Server,
    /// The vCPU threads of the client's virtual machine.
    ClientVm,
    /// The vCPU threads of the server's virtual machine.
    ServerVm,
    /// Threads of a virtual machine monitor that run no guest.
    Vmm,
    /// vhost workers.
    Vhost,
    /// Soft interrupts, in whoever's time they ran: most of the network stack's receive side.
    Softirq,
    /// ksoftirqd: soft interrupts that were put off.
    Ksoftirqd,
    /// Hardware interrupts.
    Irq,
    /// Other threads of the kernel.
    Kernel,
    /// plumb itself: controller and observer.
    Plumb,
    /// Every other process.
    Other,
}

/// CPU time of the whole machine by owner, between two readings. The owners do not overlap.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OwnedCpu {
    /// How the time was told apart.
    pub source: AttributionSource,
    /// Why no better: what the exact way lacks, and what to do; `None` when it is the exact one, or nobody told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Between the readings.
    pub elapsed: Nanos,
    /// CPUs online.
    pub cpus: u32,
    /// What the kernel itself counted as busy meanwhile, in /proc/stat: what the owners should add up to.
    pub busy: Nanos,
    /// Taken by the hypervisor meanwhile, from /proc/stat.
    pub steal: Nanos,
    /// Who had it, the largest first; those of less than a ten-thousandth are added up under their owner.
    pub shares: Vec<OwnerShare>,
}

impl OwnedCpu {
    /// Time of processes that have no part in what is measured, by name.
    pub fn others(&self) -> impl Iterator<Item = (Option<&str>, Nanos)> {
        let others = self.shares.iter().filter(|share| share.owner == CpuOwner::Other);
        others.map(|share| (share.process.as_deref(), share.time))
    }
}

/// How CPU time was told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttributionSource {
    /// At each switch of threads and at each interrupt: exact, soft interrupts apart from the thread they ran in.
    Traced,
    /// From /proc before and after: soft interrupts are in the time of the thread that they interrupted.
    Sampled,
}

/// The time of one owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwnerShare {
    /// Whose.
    pub owner: CpuOwner,
    /// The process, where it matters.
    pub process: Option<String>,
    /// The thread, where it matters: `CPU 0/KVM`, `ksoftirqd/1`.
    pub thread: Option<String>,
    /// Where, of what belongs to a CPU (soft interrupts).
    pub cpu: Option<u32>,
    /// How much.
    pub time: Nanos,
}
