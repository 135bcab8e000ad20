//! A virtual machine of QEMU that runs: what its guest and its host say of its memory, and the means by which it is moved. Must not
//! know who decides how much it may have. Source: qapi/machine.json and docs/interop/virtio-balloon-stats.rst of QEMU 7.2.

mod check;
mod driver_statistics;
mod means;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use machine::Monitor;
use protocol::{AccessClass, AccessSourceKind, MemoryOrder, MemoryReply, MemoryTelemetry};
use serde_json::json;
use units::{Bytes, Nanos, Share};
use workload::BalloonMethod;

use self::{driver_statistics::DriverStatistics, means::Means};
use crate::{
    agent_link::AgentLink,
    error::MemoryError,
    lock::MemoryLock,
    telemetry::{AccessSource, Look, ReferencedBits},
};

/// How a machine is reached, and what is asked of it.
#[derive(Debug, Clone, Default)]
pub struct VmAccess {
    /// The socket of its monitor.
    pub qmp: PathBuf,
    /// The socket of the port that an agent in its guest listens at.
    pub agent: Option<PathBuf>,
    pub source: AccessSourceKind,
    /// `None`: the best that it has.
    pub method: Option<BalloonMethod>,
    /// Nodes of the guest that are slow memory.
    pub slow: Vec<u32>,
    /// Where it is locked; `None` where its memory is only looked at.
    pub locks: Option<PathBuf>,
    /// This version of plumb, which the agent must have too.
    pub tool: String,
    /// Ends every wait for the monitor and the agent.
    pub stop: Arc<AtomicBool>,
}

/// A virtual machine whose monitor's only client this is.
#[derive(Debug)]
pub struct RunningVm {
    monitor: Monitor,
    access: VmAccess,
    pid: Option<u32>,
    means: Means,
    statistics: Option<DriverStatistics>,
    agent: Option<AgentLink>,
    referenced: Option<Result<ReferencedBits, String>>,
    _lock: Option<MemoryLock>,
}

/// The memory of a guest, as it is now. What nobody tells is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuestMemory {
    /// What it has of fast memory, as the host sees it: all that it was started with, less what was taken.
    pub size: Bytes,
    /// And of slow memory.
    pub slow: Bytes,
    /// Of its process, in RAM.
    pub resident: Option<Bytes>,
    pub free: Option<Bytes>,
    /// What could be handed out without swapping.
    pub available: Option<Bytes>,
    pub swap_used: Option<Bytes>,
    /// Pages read back after they had been evicted, a second; of a guest without an agent, major faults and pages from swap.
    pub refaults: Option<f64>,
    /// Share of the time in which some task waited for memory.
    pub psi: Option<Share>,
    /// Source of accesses, and the reason for missing accesses.
    pub source: AccessSourceKind,
    pub no_accesses_because: Option<String>,
    /// The guest's nodes; none without an agent.
    pub tiers: Vec<TierMemory>,
    /// CPU time of the guest that telling took, as a share of one CPU.
    pub cost: Option<Share>,
    /// CPU time of the host that looking took.
    pub host_cost: Option<Nanos>,
}

/// A node of a guest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TierMemory {
    pub node: u32,
    pub is_slow: bool,
    pub size: Bytes,
    pub free: Bytes,
    pub accesses: Vec<AccessClass>,
}

impl TierMemory {
    /// What was accessed of it at all.
    #[must_use]
    pub fn accessed(&self) -> Bytes {
        self.accesses.iter().filter(|class| class.accesses > 0).map(|class| class.bytes).sum()
    }

    /// Accesses of all of it.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        self.accesses.iter().map(|class| class.accesses).sum()
    }
}

impl GuestMemory {
    /// Share of all accesses that fast memory served; `None` of one tier, and where accesses are not known by tier.
    #[must_use]
    pub fn dram_hits(&self) -> Option<Share> {
        let count = |slow: bool| -> u64 {
            self.tiers.iter().filter(|tier| tier.is_slow == slow).map(TierMemory::accesses).sum()
        };
        let (fast, all) = (count(false), count(false) + count(true));
        (all > 0 && self.tiers.iter().any(|tier| tier.is_slow)).then(|| Share(fast as f64 / all as f64))
    }

    /// Fast memory that is neither free nor accessed: the kernel's, and what is left of other times.
    #[must_use]
    pub fn idle(&self) -> Bytes {
        let fast = self.tiers.iter().filter(|tier| !tier.is_slow);
        let other: u64 = fast.map(|tier| tier.free.0 + tier.accessed().0).sum();
        Bytes(self.size.0.saturating_sub(other))
    }

    /// Whether the source of accesses is running but its first report is pending.
    #[must_use]
    pub fn awaits_accesses(&self) -> bool {
        self.source != AccessSourceKind::None && self.no_accesses_because.is_some()
    }

    /// All classes of memory that is accessed alike, whatever node it is on; none where nothing is known.
    pub fn classes(&self) -> impl Iterator<Item = &AccessClass> {
        self.tiers.iter().flat_map(|tier| &tier.accesses)
    }

    /// Adds the agent's telemetry; `machine` is the VM's total memory.
    ///
    /// # Errors
    /// The first number that is impossible; nothing is added then.
    fn take_in(&mut self, told: MemoryTelemetry, slow: &[u32], machine: Bytes) -> Result<(), String> {
        let seconds = told.elapsed.seconds();
        let share = |part: Nanos| (seconds > 0.0).then(|| Share((part.seconds() / seconds).min(1.0)));
        let tier = |node: protocol::NodeTelemetry| TierMemory {
            node: node.node,
            is_slow: slow.contains(&node.node),
            size: node.size,
            free: node.free,
            accesses: node.accesses,
        };
        let mut seen = Self {
            free: None,
            available: Some(told.available),
            swap_used: Some(told.swap_used),
            refaults: (seconds > 0.0).then(|| told.refaults as f64 / seconds),
            psi: told.stalled.and_then(share),
            cost: share(told.cost),
            source: told.source,
            no_accesses_because: told.no_accesses_because,
            tiers: told.nodes.into_iter().map(tier).collect(),
            ..self.clone()
        };
        seen.check(machine)?;
        seen.free = Some(seen.tiers.iter().map(|tier| tier.free).sum());
        *self = seen;
        Ok(())
    }
}

impl RunningVm {
    /// Becomes the client of the machine's monitor, locks it where its memory is to be moved, and has the guest's driver tell how
    /// its memory is used at this interval, of at least a second.
    ///
    /// # Errors
    /// When nobody listens there, it has another client, somebody else moves its memory, or nothing can move it.
    pub fn open(access: &VmAccess, interval: Duration) -> Result<Self, MemoryError> {
        let monitor = Monitor::open(&access.qmp, &access.stop)?;
        let pid = monitor.listener();
        Self::attach((monitor, pid), None, access, interval)
    }

    /// The same with a monitor that is open already, its machine's process, and an agent that has greeted.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn attach(
        (mut monitor, pid): (Monitor, Option<u32>),
        agent: Option<AgentLink>,
        access: &VmAccess,
        interval: Duration,
    ) -> Result<Self, MemoryError> {
        let lock = access.locks.as_ref().zip(pid);
        let lock = lock.map(|(folder, pid)| MemoryLock::claim(pid, folder)).transpose()?;
        let means = Means::of(&mut monitor, access, pid)?;
        let statistics = DriverStatistics::start(&mut monitor, interval)?;
        let access = access.clone();
        Ok(Self { monitor, access, pid, means, statistics, agent, referenced: None, _lock: lock })
    }

    #[must_use]
    pub fn method(&self) -> BalloonMethod {
        self.means.method()
    }

    /// The most fast memory that it can have: all that it was started with.
    ///
    /// # Errors
    /// When QEMU does not answer.
    pub fn whole(&mut self) -> Result<Bytes, MemoryError> {
        self.means.whole(&mut self.monitor, &self.access.slow)
    }

    /// Fast and slow memory that it has, as the host sees it.
    ///
    /// # Errors
    /// When QEMU does not answer.
    pub(crate) fn sizes(&mut self) -> Result<(Bytes, Bytes), MemoryError> {
        self.means.sizes(&mut self.monitor, &self.access.slow)
    }

    /// Its memory as it is now; `None` for what the guest says where it has said nothing for longer than `stale`.
    ///
    /// # Errors
    /// When QEMU does not answer.
    pub fn look(&mut self, stale: Duration) -> Result<GuestMemory, MemoryError> {
        let (size, slow) = self.sizes()?;
        let machine = self.whole()? + slow;
        let resident = self.pid.and_then(|pid| machine::resident(&[pid]));
        let mut seen = GuestMemory { size, slow, resident, ..GuestMemory::default() };
        seen.source = AccessSourceKind::None;
        if let Some(statistics) = &mut self.statistics {
            statistics.look(&mut self.monitor, (stale, machine), &mut seen)?;
        }
        self.ask_agent(&mut seen, machine);
        if self.access.source == AccessSourceKind::Referenced {
            self.look_at_referenced(&mut seen);
        }
        Ok(seen)
    }

    /// Asks that it have so much fast memory; the guest gives or takes it in its own time.
    ///
    /// # Errors
    /// When QEMU does not answer, or refuses, or the guest hands over what is not its own.
    pub fn resize(&mut self, size: Bytes) -> Result<(), MemoryError> {
        let Self { monitor, means, agent, access, .. } = self;
        let resized = means.resize(monitor, agent.as_mut(), &access.slow, size);
        if resized.is_err() && self.method() == BalloonMethod::Agent {
            self.drop_agent();
        }
        resized
    }

    /// An agent that does not answer is looked for anew at the next look.
    fn ask_agent(&mut self, seen: &mut GuestMemory, machine: Bytes) {
        if self.agent.is_none() {
            let Some(at) = &self.access.agent else { return };
            match AgentLink::connect(at, &self.access.tool, self.pid, &self.access.stop) {
                Ok(link) => self.agent = Some(link),
                Err(error) => {
                    seen.no_accesses_because = Some(error.to_string());
                    return;
                }
            }
        }
        let Some(agent) = &mut self.agent else { return };
        let taken_in = match agent.ask(MemoryOrder::Telemetry { source: self.access.source }) {
            Ok(MemoryReply::Telemetry(told)) => {
                seen.take_in(told, &self.access.slow, machine).map_err(MemoryError::Guest)
            }
            Ok(_) => Err(MemoryError::Guest("unexpected reply to a telemetry order".to_owned())),
            Err(error) => Err(error),
        };
        if let Err(error) = taken_in {
            seen.no_accesses_because = Some(error.to_string());
            self.drop_agent();
        }
    }

    /// It sees the end of its channel and ends, or has ended already.
    fn drop_agent(&mut self) {
        self.agent = None;
        self.means.forget_agent();
    }

    /// All of it by one node: the host does not see which of the guest's it is.
    fn look_at_referenced(&mut self, seen: &mut GuestMemory) {
        let Self { monitor, referenced, pid, .. } = self;
        let referenced = referenced.get_or_insert_with(|| open_referenced(monitor, *pid));
        let begun = sys::clock::thread_cpu();
        let looked = match referenced {
            Ok(bits) => bits.look().map_err(|error| error.to_string()),
            Err(because) => Err(because.clone()),
        };
        match looked {
            Ok(Look::Pending(reason)) => {
                seen.source = AccessSourceKind::Referenced;
                seen.no_accesses_because = Some(reason.to_owned());
            }
            Ok(Look::Accesses(accesses)) => {
                seen.source = AccessSourceKind::Referenced;
                seen.no_accesses_because = None;
                let classes: Vec<AccessClass> = accesses.into_values().flatten().collect();
                match seen.tiers.first_mut() {
                    Some(tier) => tier.accesses = classes,
                    None => seen.tiers.push(TierMemory { accesses: classes, ..TierMemory::default() }),
                }
            }
            Err(because) => seen.no_accesses_because = Some(because),
        }
        seen.host_cost = Some(Nanos(sys::clock::thread_cpu() - begun));
    }
}

fn open_referenced(monitor: &mut Monitor, pid: Option<u32>) -> Result<ReferencedBits, String> {
    let kvm = monitor.order("query-kvm", &json!({})).map_err(|error| error.to_string())?;
    let pid = pid.ok_or("the process behind its monitor is not known")?;
    ReferencedBits::of(pid, kvm["enabled"] == true).map_err(|error| error.to_string())
}
