//! CPU attribution over the probed trials, compared with the kernel's busy time. Uses totals over all trials, because
//! the owners' medians would not add up to the median busy time.

use crate::order::sort_descending;
use findings::{ConsumerPart, ConsumerTime, CpuAttribution, MachineTimes};
use samples::{AttributedCpu, ConsumerShare, CpuConsumer, Trial};
use units::Nanos;

use super::{ProbedTrial, volume};
use crate::guest_cpu;

/// Owners that work for a host's guests: the monitors' own threads, vhost, and the host's kernel.
const CARRIERS: [CpuConsumer; 6] = [
    CpuConsumer::Vmm,
    CpuConsumer::Vhost,
    CpuConsumer::Softirq,
    CpuConsumer::Ksoftirqd,
    CpuConsumer::Irq,
    CpuConsumer::Kernel,
];

pub(super) fn by_owner(watched: &[ProbedTrial<'_>]) -> Option<CpuAttribution> {
    let mut alike: Vec<(&Trial, &AttributedCpu)> =
        watched.iter().filter_map(|(trial, seen)| Some((*trial, seen.cpu.as_ref()?))).collect();
    let source = alike.first()?.1.source;
    alike.retain(|(_, cpu)| cpu.source == source);
    let seconds =
        |of: fn(&AttributedCpu) -> Nanos| alike.iter().map(|(_, cpu)| of(cpu).seconds()).sum::<f64>();
    let elapsed = seconds(|cpu| cpu.elapsed);
    if elapsed <= 0.0 {
        return None;
    }
    let busy = seconds(|cpu| cpu.busy);
    let attributed = seconds(attributed);
    let carried = volume::together(alike.iter().map(|(trial, _)| *trial));
    let scale = Scale { elapsed, busy, units: carried.map(|(work, carried)| carried / work.for_cpu().0) };
    let shares = || alike.iter().flat_map(|(_, cpu)| &cpu.shares);
    let mut consumers: Vec<CpuConsumer> = shares().map(|share| share.consumer).collect();
    consumers.sort_unstable();
    consumers.dedup();
    let trials: Vec<&Trial> = alike.iter().map(|(trial, _)| *trial).collect();
    let consumers: Vec<ConsumerTime> = consumers
        .into_iter()
        .map(|consumer| scale.consumer(consumer, shares().filter(|share| share.consumer == consumer)))
        .collect();
    Some(CpuAttribution {
        source,
        reason: alike.iter().find_map(|(_, cpu)| cpu.reason.clone()),
        cpus: alike.iter().map(|(_, cpu)| cpu.cpus).max()?,
        busy: busy / elapsed,
        attributed: attributed / elapsed,
        unexplained: (busy - attributed) / elapsed,
        unexplained_share: share(busy - attributed, busy),
        steal: seconds(|cpu| cpu.steal) / elapsed,
        work: carried.map(|(work, _)| work),
        busy_cost: scale.cost(busy),
        machines: machines(&consumers),
        guests: guest_cpu::together(&trials),
        consumers,
    })
}

fn machines(consumers: &[ConsumerTime]) -> Option<MachineTimes> {
    let had =
        |consumer: CpuConsumer| consumers.iter().find(|time| time.consumer == consumer).map(|time| time.cpus);
    let (server, client) = (had(CpuConsumer::ServerVm), had(CpuConsumer::ClientVm));
    let carriers = CARRIERS.iter().filter_map(|consumer| had(*consumer));
    (server.is_some() || client.is_some()).then(|| MachineTimes {
        server,
        hypervisor: carriers.sum(),
        client,
    })
}

pub(super) fn unexplained(cpu: &AttributedCpu) -> Option<f64> {
    let busy = cpu.busy.seconds();
    (busy > 0.0).then(|| share(busy - attributed(cpu).seconds(), busy))
}

fn attributed(cpu: &AttributedCpu) -> Nanos {
    Nanos(cpu.shares.iter().fold(0, |sum, share| sum.saturating_add(share.time.0)))
}

fn share(part: f64, of: f64) -> f64 {
    if of > 0.0 { part / of } else { 0.0 }
}

struct Scale {
    elapsed: f64,
    busy: f64,
    units: Option<f64>,
}

impl Scale {
    fn cost(&self, seconds: f64) -> Option<f64> {
        self.units.map(|units| seconds / units)
    }

    fn consumer<'a>(
        &self,
        consumer: CpuConsumer,
        shares: impl Iterator<Item = &'a ConsumerShare>,
    ) -> ConsumerTime {
        let mut parts: Vec<ConsumerPart> = Vec::new();
        let mut seconds = 0.0;
        for share in shares {
            let (time, cpus) = (share.time.seconds(), share.time.seconds() / self.elapsed);
            seconds += time;
            match parts.iter_mut().find(|part| is_of(part, share)) {
                Some(part) => part.cpus += cpus,
                None => parts.push(ConsumerPart {
                    process: share.process.clone(),
                    thread: share.thread.clone(),
                    cpu: share.cpu,
                    cpus,
                }),
            }
        }
        sort_descending(&mut parts, |one| one.cpus);
        ConsumerTime {
            consumer,
            cpus: seconds / self.elapsed,
            share: share(seconds, self.busy),
            cost: self.cost(seconds),
            parts,
        }
    }
}

fn is_of(part: &ConsumerPart, share: &ConsumerShare) -> bool {
    (&part.process, &part.thread, part.cpu) == (&share.process, &share.thread, share.cpu)
}
