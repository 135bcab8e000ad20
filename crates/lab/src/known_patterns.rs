//! Tests access telemetry and rebalancing against guests that run a program with known accesses. Slow memory is a
//! second NUMA node of the guest. It is as fast as the first here, so its cost is modelled, not measured.

mod accuracy;
mod rebalancing;

use std::{path::Path, sync::Arc, time::Duration};

use machine::{Accelerator, Image, Kernel, Machine, Qemu};
use memory::{AgentLink, AttachedVm, MemoryError, RunningVm, VmAccess};
use protocol::{AccessClass, AccessSourceKind, MemoryOrder, MemoryReply, NodeAccesses};
use scenario::{HostName, Vm};
use units::{Bytes, Share};
use workload::BalloonMethod;

pub use accuracy::{Accuracy, AccuracyRequest, accuracy};
pub use rebalancing::{Arm, KnownVm, Look, Rebalancing, RebalancingRequest, rebalancing};

use crate::error::RunError;

const MIB: u64 = 1 << 20;
/// NUMA node of slow memory.
const SLOW: u32 = 1;
const FAST: u32 = 0;
/// Half of the fast memory is a virtio-mem device.
const FAST_MEMORY: Bytes = Bytes(256 * MIB);
const SLOW_MEMORY: Bytes = Bytes(256 * MIB);
/// Minimum fast memory: all but the virtio-mem device.
const FLOOR: Bytes = Bytes(128 * MIB);
/// Working set of the program.
const PROGRAM: Bytes = Bytes(160 * MIB);

/// Settings shared by all guests.
struct Guests {
    kernel: Kernel,
    accelerator: Accelerator,
    image: Arc<Image>,
    tool: String,
    source: AccessSourceKind,
    interval: Duration,
}

/// A guest running the program.
struct KnownGuest {
    vm: AttachedVm,
    /// Stops the machine on drop.
    _machine: Qemu,
}

impl Guests {
    fn new(kernel: Kernel, program: &Path, tool: &str, interval: Duration) -> Result<Self, RunError> {
        let (accelerator, _) = Accelerator::best();
        let modules = Qemu::MODULES.iter().chain(Qemu::modules_of(BalloonMethod::VirtioMem));
        let modules: Vec<&str> = modules.copied().collect();
        let image = Image::build(&kernel, program, &modules, &[]).map_err(machine::MachineError::from)?;
        let (image, source) = (Arc::new(image), AccessSourceKind::Auto);
        Ok(Self { kernel, accelerator, image, tool: tool.to_owned(), source, interval })
    }

    /// Boots a guest, with one retry.
    fn boot(&self, name: &str) -> Result<KnownGuest, RunError> {
        self.try_boot(name).or_else(|_| self.try_boot(name))
    }

    fn try_boot(&self, name: &str) -> Result<KnownGuest, RunError> {
        let vm = Vm {
            memory: FAST_MEMORY,
            slow: SLOW_MEMORY,
            balloon: Some(BalloonMethod::VirtioMem),
            ..Vm::default()
        };
        let host = HostName::new(name);
        let mut machine = Qemu::new(host, vm, self.accelerator, self.kernel.clone(), Arc::clone(&self.image));
        let channel = machine.start()?;
        let failed = failed(name);
        let patience = machine.boot().patience;
        let pid = machine.pids().first().copied();
        let link = AgentLink::over(channel.from_agent, channel.to_agent, &self.tool, pid, patience);
        let link = link.map_err(&failed)?;
        let monitor = machine.take_monitor().expect("it has one for its memory");
        let access = VmAccess {
            source: self.source,
            slow: vec![SLOW],
            tool: self.tool.clone(),
            ..VmAccess::default()
        };
        let vm = RunningVm::attach((monitor, pid), Some(link), &access, self.interval);
        let vm = vm.and_then(|vm| AttachedVm::of(vm, access, true, self.interval)).map_err(&failed)?;
        Ok(KnownGuest { vm, _machine: machine })
    }
}

fn failed(host: &str) -> impl Fn(MemoryError) -> RunError {
    move |source| RunError::Memory { host: host.to_owned(), source }
}

/// Accesses since the previous query.
struct Truth {
    hits: Option<Share>,
    /// The program's memory on the fast node.
    on_fast: Bytes,
    hottest: Vec<AccessClass>,
}

fn truth(vm: &mut AttachedVm) -> Result<Truth, MemoryError> {
    let MemoryReply::Accessed { accessed, hottest } = vm.ask(MemoryOrder::Accessed)? else {
        return Err(MemoryError::Guest("the agent did not report accesses".to_owned()));
    };
    let fast = |node: &&NodeAccesses| node.node != SLOW;
    let all: u64 = accessed.iter().map(|node| node.accesses).sum();
    let hits: u64 = accessed.iter().filter(fast).map(|node| node.accesses).sum();
    let hits = (all > 0).then(|| Share(hits as f64 / all as f64));
    Ok(Truth { hits, on_fast: accessed.iter().filter(fast).map(|node| node.bytes).sum(), hottest })
}

/// The share of accesses served by this much memory if it holds the hottest pages.
fn served(classes: &[AccessClass], bytes: f64) -> f64 {
    let mut classes: Vec<(f64, f64)> =
        classes.iter().map(|class| (class.bytes.0 as f64, class.accesses as f64)).collect();
    classes.sort_by(|one, other| (other.1 * one.0).total_cmp(&(one.1 * other.0)));
    let all: f64 = classes.iter().map(|(_, accesses)| accesses).sum();
    let (mut left, mut hits) = (bytes, 0.0);
    for (size, accesses) in classes.into_iter().filter(|(size, _)| *size > 0.0) {
        let part = (left / size).clamp(0.0, 1.0);
        hits += accesses * part;
        left -= size * part;
    }
    if all > 0.0 { hits / all } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_hottest_memory_first() {
        let class = |bytes: u64, accesses: u64| AccessClass { bytes: Bytes(bytes), accesses };
        let classes = [class(300, 10), class(100, 90)];
        let share = |bytes: f64| served(&classes, bytes);
        assert_eq!([share(50.0), share(100.0), share(250.0), share(1e9)], [0.45, 0.9, 0.95, 1.0]);
        assert_eq!(served(&[], 5.0), 0.0);
    }
}
