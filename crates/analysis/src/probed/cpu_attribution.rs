//! CPU attribution over probed trials, compared with the kernel's busy time. Times of all trials are added up before dividing,
//! because medians of owners would not add up to the median of busy.

use findings::{CpuAttribution, MachineTimes, OwnerPart, OwnerTime};
use samples::{CpuOwner, OwnedCpu, OwnerShare, Trial};
use units::Nanos;

use super::{ProbedTrial, volume};
use crate::guest_cpu;

/// Who works for the guests of a host: the monitors' own threads, vhost, and the host's kernel.
const CARRIERS: [CpuOwner; 6] =
    [CpuOwner::Vmm, CpuOwner::Vhost, CpuOwner::Softirq, CpuOwner::Ksoftirqd, CpuOwner::Irq, CpuOwner::Kernel];

/// `None` without CPU attribution.
pub(super) fn by_owner(watched: &[ProbedTrial<'_>]) -> Option<CpuAttribution> {
    let known: Vec<(&Trial, &OwnedCpu)> =
        watched.iter().filter_map(|(trial, seen)| Some((*trial, seen.cpu.as_ref()?))).collect();
    let source = known.first()?.1.source;
    let alike: Vec<(&Trial, &OwnedCpu)> = known.into_iter().filter(|(_, cpu)| cpu.source == source).collect();
    let seconds = |of: fn(&OwnedCpu) -> Nanos| alike.iter().map(|(_, cpu)| of(cpu).seconds()).sum::<f64>();
    let elapsed = seconds(|cpu| cpu.elapsed);
    if elapsed <= 0.0 {
        return None;
    }
    let busy = seconds(|cpu| cpu.busy);
    let owned = seconds(owned);
    let carried = volume::together(alike.iter().map(|(trial, _)| *trial));
    let scale = Scale { elapsed, busy, units: carried.map(|(work, carried)| carried / work.for_cpu().0) };
    let shares = || alike.iter().flat_map(|(_, cpu)| &cpu.shares);
    let mut owners: Vec<CpuOwner> = shares().map(|share| share.owner).collect();
    owners.sort_unstable();
    owners.dedup();
    let trials: Vec<&Trial> = alike.iter().map(|(trial, _)| *trial).collect();
    let owners: Vec<OwnerTime> = owners
        .into_iter()
        .map(|owner| scale.owner(owner, shares().filter(|share| share.owner == owner)))
        .collect();
    Some(CpuAttribution {
        source,
        because: alike.iter().find_map(|(_, cpu)| cpu.because.clone()),
        cpus: alike.iter().map(|(_, cpu)| cpu.cpus).max()?,
        busy: busy / elapsed,
        owned: owned / elapsed,
        unexplained: (busy - owned) / elapsed,
        unexplained_share: share(busy - owned, busy),
        steal: seconds(|cpu| cpu.steal) / elapsed,
        work: carried.map(|(work, _)| work),
        busy_cost: scale.cost(busy),
        machines: machines(&owners),
        guests: guest_cpu::together(&trials),
        owners,
    })
}

/// Virtual machines and hypervisor; `None` without virtual machines.
fn machines(owners: &[OwnerTime]) -> Option<MachineTimes> {
    let had = |owner: CpuOwner| owners.iter().find(|time| time.owner == owner).map(|time| time.cpus);
    let (server, client) = (had(CpuOwner::ServerVm), had(CpuOwner::ClientVm));
    let carriers = CARRIERS.iter().filter_map(|owner| had(*owner));
    (server.is_some() || client.is_some()).then(|| MachineTimes {
        server,
        hypervisor: carriers.sum(),
        client,
    })
}

/// The share of a trial's busy time that no owner explains; `None` where the kernel counted none.
pub(super) fn unexplained(cpu: &OwnedCpu) -> Option<f64> {
    let busy = cpu.busy.seconds();
    (busy > 0.0).then(|| share(busy - owned(cpu).seconds(), busy))
}

fn owned(cpu: &OwnedCpu) -> Nanos {
    Nanos(cpu.shares.iter().fold(0, |sum, share| sum.saturating_add(share.time.0)))
}

fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

/// Divisor of times.
struct Scale {
    /// Seconds of all trials.
    elapsed: f64,
    /// Busy CPU-seconds of all trials.
    busy: f64,
    /// Units of work that they carried.
    units: Option<f64>,
}

impl Scale {
    fn cost(&self, seconds: f64) -> Option<f64> {
        self.units.map(|units| seconds / units)
    }

    fn owner<'a>(&self, owner: CpuOwner, shares: impl Iterator<Item = &'a OwnerShare>) -> OwnerTime {
        let mut parts: Vec<OwnerPart> = Vec::new();
        let mut seconds = 0.0;
        for share in shares {
            let (time, cpus) = (share.time.seconds(), share.time.seconds() / self.elapsed);
            seconds += time;
            match parts.iter_mut().find(|part| is_of(part, share)) {
                Some(part) => part.cpus += cpus,
                None => parts.push(OwnerPart {
                    process: share.process.clone(),
                    thread: share.thread.clone(),
                    cpu: share.cpu,
                    cpus,
                }),
            }
        }
        parts.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
        OwnerTime {
            owner,
            cpus: seconds / self.elapsed,
            share: share(seconds, self.busy),
            cost: self.cost(seconds),
            parts,
        }
    }
}

fn is_of(part: &OwnerPart, share: &OwnerShare) -> bool {
    (&part.process, &part.thread, part.cpu) == (&share.process, &share.thread, share.cpu)
}
