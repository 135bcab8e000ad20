//! A running QEMU virtual machine (qapi/machine.json and docs/interop/virtio-balloon-stats.rst of QEMU 7.2).

mod check;
mod driver_statistics;
mod means;

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use machine::Monitor;
use policy::{GuestReport, HeatClass};
use protocol::{AccessClass, AccessSourceKind, MemoryOrder, MemoryReply, MemoryTelemetry, NodeMemory};
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

#[derive(Debug, Clone, Default)]
pub struct VmAccess {
    pub qmp: PathBuf,
    pub agent: Option<PathBuf>,
    pub source: AccessSourceKind,
    pub method: Option<BalloonMethod>,
    pub slow: Vec<u32>,
    pub locks: Option<PathBuf>,
    pub tool: String,
    pub stop: Arc<AtomicBool>,
}

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

/// Unknown values are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GuestMemory {
    /// The initial memory minus the memory taken, as seen by the host.
    pub size: Bytes,
    pub slow: Bytes,
    pub resident: Option<Bytes>,
    pub free: Option<Bytes>,
    pub available: Option<Bytes>,
    pub swap_used: Option<Bytes>,
    /// Without an agent, these are major faults and swap-ins per second.
    pub refaults_per_second: Option<f64>,
    /// PSI: the fraction of time in which some task was stalled on memory.
    pub pressure: Option<Share>,
    pub source: AccessSourceKind,
    pub no_accesses_reason: Option<String>,
    pub nodes: Vec<NodeMemory>,
    /// The CPU time used in the guest, as a fraction of one CPU.
    pub telemetry_cpu: Option<Share>,
    pub telemetry_host_cpu: Option<Nanos>,
}

impl GuestMemory {
    /// Returns `None` if there is no slow memory or accesses per node are unknown.
    #[must_use]
    pub fn dram_hits(&self) -> Option<Share> {
        let count = |slow: bool| -> u64 {
            self.nodes.iter().filter(|node| node.slow == slow).map(NodeMemory::accesses).sum()
        };
        let (fast, all) = (count(false), count(false) + count(true));
        (all > 0 && self.nodes.iter().any(|node| node.slow)).then(|| Share(fast as f64 / all as f64))
    }

    #[must_use]
    pub fn idle(&self) -> Bytes {
        let fast = self.nodes.iter().filter(|node| !node.slow);
        let other: u64 = fast.map(|node| node.free.0 + node.accessed().0).sum();
        Bytes(self.size.0.saturating_sub(other))
    }

    #[must_use]
    pub fn awaits_accesses(&self) -> bool {
        self.source != AccessSourceKind::None && self.no_accesses_reason.is_some()
    }

    pub fn classes(&self) -> impl Iterator<Item = &AccessClass> {
        self.nodes.iter().flat_map(|node| &node.accesses)
    }

    /// Returns the policy's input, which includes accesses if `by_accesses` is set. Returns `None` if there is no data
    /// from the guest.
    #[must_use]
    pub fn report(&self, by_accesses: bool) -> Option<GuestReport> {
        let class = |class: &AccessClass| HeatClass { bytes: class.bytes, accesses: class.accesses as f64 };
        let accesses: Vec<HeatClass> = self.classes().map(class).collect();
        let known = by_accesses && !accesses.is_empty();
        Some(GuestReport {
            available: Some(self.available?),
            psi: self.pressure,
            refaults: self.refaults_per_second,
            accesses: known.then_some(accesses),
            dram_hits: self.dram_hits().filter(|_| known).map(|Share(hits)| Share(hits.clamp(0.0, 1.0))),
            idle: known.then(|| self.idle()),
        })
    }

    /// `machine` is the VM's total memory. If a number is invalid, adds nothing and returns the first such number as
    /// an error.
    fn take_in(&mut self, telemetry: MemoryTelemetry, slow: &[u32], machine: Bytes) -> Result<(), String> {
        let seconds = telemetry.elapsed.seconds();
        let share = |part: Nanos| (seconds > 0.0).then(|| Share((part.seconds() / seconds).min(1.0)));
        let node = |node: NodeMemory| NodeMemory { slow: slow.contains(&node.node), ..node };
        let mut seen = Self {
            free: None,
            available: Some(telemetry.available),
            swap_used: Some(telemetry.swap_used),
            refaults_per_second: (seconds > 0.0).then(|| telemetry.refaults as f64 / seconds),
            pressure: telemetry.stalled.and_then(share),
            telemetry_cpu: share(telemetry.cost),
            source: telemetry.source,
            no_accesses_reason: telemetry.no_accesses_reason,
            nodes: telemetry.nodes.into_iter().map(node).collect(),
            ..self.clone()
        };
        seen.check(machine)?;
        seen.free = Some(seen.nodes.iter().map(|node| node.free).sum());
        *self = seen;
        Ok(())
    }
}

impl RunningVm {
    /// Locks the machine if its memory is to be moved, and enables balloon statistics at `interval`, but at most once
    /// per second. Fails if the monitor has another client, or if another process is moving the memory.
    pub fn open(access: &VmAccess, interval: Duration) -> Result<Self, MemoryError> {
        let monitor = Monitor::open(&access.qmp, &access.stop)?;
        let pid = monitor.listener();
        Self::attach((monitor, pid), None, access, interval)
    }

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

    pub fn whole(&mut self) -> Result<Bytes, MemoryError> {
        self.means.whole(&mut self.monitor, &self.access.slow)
    }

    pub(crate) fn sizes(&mut self) -> Result<(Bytes, Bytes), MemoryError> {
        self.means.sizes(&mut self.monitor, &self.access.slow)
    }

    /// Returns guest values older than `stale` as `None`.
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

    /// The guest changes its size asynchronously.
    pub fn resize(&mut self, size: Bytes) -> Result<(), MemoryError> {
        let Self { monitor, means, agent, access, .. } = self;
        let resized = means.resize(monitor, agent.as_mut(), &access.slow, size);
        if resized.is_err() && self.method() == BalloonMethod::Agent {
            self.drop_agent();
        }
        resized
    }

    fn ask_agent(&mut self, seen: &mut GuestMemory, machine: Bytes) {
        if self.agent.is_none() {
            let Some(at) = &self.access.agent else { return };
            match AgentLink::connect(at, &self.access.tool, self.pid, &self.access.stop) {
                Ok(link) => self.agent = Some(link),
                Err(error) => {
                    seen.no_accesses_reason = Some(error.to_string());
                    return;
                }
            }
        }
        let Some(agent) = &mut self.agent else { return };
        let taken_in = match agent.ask(MemoryOrder::Telemetry { source: self.access.source }) {
            Ok(MemoryReply::Telemetry(telemetry)) => {
                seen.take_in(telemetry, &self.access.slow, machine).map_err(MemoryError::Guest)
            }
            Ok(_) => Err(MemoryError::Guest("unexpected reply to a telemetry order".to_owned())),
            Err(error) => Err(error),
        };
        if let Err(error) = taken_in {
            seen.no_accesses_reason = Some(error.to_string());
            self.drop_agent();
        }
    }

    /// The agent exits when its channel closes.
    fn drop_agent(&mut self) {
        self.agent = None;
        self.means.forget_agent();
    }

    /// The host cannot distinguish the guest's nodes.
    fn look_at_referenced(&mut self, seen: &mut GuestMemory) {
        let Self { monitor, referenced, pid, .. } = self;
        let referenced = referenced.get_or_insert_with(|| open_referenced(monitor, *pid));
        let begun = sys::clock::thread_cpu();
        let looked = match referenced {
            Ok(bits) => bits.look().map_err(|error| error.to_string()),
            Err(reason) => Err(reason.clone()),
        };
        match looked {
            Ok(Look::Pending(reason)) => {
                seen.source = AccessSourceKind::Referenced;
                seen.no_accesses_reason = Some(reason.to_owned());
            }
            Ok(Look::Accesses(accesses)) => {
                seen.source = AccessSourceKind::Referenced;
                seen.no_accesses_reason = None;
                let classes: Vec<AccessClass> = accesses.into_values().flatten().collect();
                match seen.nodes.first_mut() {
                    Some(node) => node.accesses = classes,
                    None => seen.nodes.push(NodeMemory { accesses: classes, ..NodeMemory::default() }),
                }
            }
            Err(reason) => seen.no_accesses_reason = Some(reason),
        }
        seen.telemetry_host_cpu = Some(Nanos(sys::clock::thread_cpu() - begun));
    }
}

fn open_referenced(monitor: &mut Monitor, pid: Option<u32>) -> Result<ReferencedBits, String> {
    let kvm = monitor.order("query-kvm", &json!({})).map_err(|error| error.to_string())?;
    let pid = pid.ok_or("the monitor's process is unknown")?;
    ReferencedBits::of(pid, kvm["enabled"] == true).map_err(|error| error.to_string())
}
