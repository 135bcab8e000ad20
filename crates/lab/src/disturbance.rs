//! Detects trials disturbed by other work. Only the CPU time of other processes counts.

use std::{collections::BTreeMap, collections::BTreeSet};

use samples::{AttributedCpu, CpuUsage, Disturber, ValidityWarning};
use units::Nanos;

use crate::placement::Cpus;

/// A trial is disturbed if other work uses at least this fraction of the available CPU time.
const BOUND: f64 = 0.05;
/// An unpinned trial is undisturbed if other work leaves at least this many CPUs for each CPU that the trial keeps
/// busy.
const ROOM: f64 = 2.0;
/// The minimum number of CPUs that a trial is assumed to keep busy, one per end.
const ENDS: f64 = 2.0;
/// Processes that use fewer CPUs than this are not listed.
const NAMED: f64 = 0.01;
const MOST_NAMED: usize = 3;

pub(crate) fn warning(usage: &CpuUsage, cpus: &Cpus) -> Option<ValidityWarning> {
    let around = usage.processes.as_ref().filter(|around| around.elapsed.0 > 0)?;
    let share = match pinned(cpus) {
        Some(pinned) => on_pinned(usage, around, &pinned),
        None => anywhere(around),
    };
    (share >= BOUND).then(|| ValidityWarning::Disturbed { share, processes: largest_disturbers(around) })
}

#[must_use]
pub fn disturbed(usage: &CpuUsage) -> Option<ValidityWarning> {
    warning(usage, &Cpus::FREE)
}

fn pinned(cpus: &Cpus) -> Option<BTreeSet<u32>> {
    let (client, server) = (cpus.client.as_ref()?, cpus.server.as_ref()?);
    Some(client.iter().chain(server).copied().collect())
}

fn anywhere(around: &AttributedCpu) -> f64 {
    let others = others(around);
    let left = f64::from(around.cpus) - others;
    let kept_busy = (cpus_of(around, around.busy) - others).max(ENDS);
    if left >= ROOM * kept_busy { 0.0 } else { others / f64::from(around.cpus.max(1)) }
}

/// Returns the other work on the pinned CPUs: their busy time minus that of the trial's threads and softirqs.
fn on_pinned(usage: &CpuUsage, around: &AttributedCpu, pinned: &BTreeSet<u32>) -> f64 {
    let machine = &usage.machine;
    let there: Vec<_> = machine.by_cpu.iter().filter(|cpu| pinned.contains(&cpu.cpu)).collect();
    let had: Nanos = there.iter().map(|cpu| cpu.busy + cpu.steal).sum();
    let own: Nanos =
        usage.threads.iter().map(|thread| thread.busy).chain(there.iter().map(|cpu| cpu.softirq)).sum();
    let of_others = match machine.elapsed.0 {
        0 => others(around),
        elapsed => others(around).min(had.0.saturating_sub(own.0) as f64 / elapsed as f64),
    };
    of_others / pinned.len().max(1) as f64
}

fn others(around: &AttributedCpu) -> f64 {
    let processes: Nanos = around.others().map(|(_, time)| time).sum();
    cpus_of(around, processes + around.steal)
}

fn largest_disturbers(around: &AttributedCpu) -> Vec<Disturber> {
    let mut times: BTreeMap<Option<&str>, Nanos> = BTreeMap::from([(None, around.steal)]);
    for (process, time) in around.others() {
        let sum = times.entry(process.or(Some("others"))).or_default();
        *sum = *sum + time;
    }
    let named = times.into_iter().map(|(process, time)| Disturber {
        process: process.map(str::to_owned),
        cpus: cpus_of(around, time),
    });
    let mut named: Vec<Disturber> = named.filter(|one| one.cpus >= NAMED).collect();
    named.sort_by(|one, other| other.cpus.total_cmp(&one.cpus));
    named.truncate(MOST_NAMED);
    named
}

fn cpus_of(around: &AttributedCpu, time: Nanos) -> f64 {
    time.0 as f64 / around.elapsed.0 as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use samples::{
        AttributionSource, ConsumerShare, CpuConsumer, CpuTimes, MachineCpu, ThreadCpu, ThreadRole,
    };

    fn share(consumer: CpuConsumer, process: &str, millis: u64) -> ConsumerShare {
        ConsumerShare {
            consumer,
            process: Some(process.into()),
            thread: None,
            cpu: None,
            time: Nanos::from_millis(millis),
        }
    }

    fn second(cpus: u32, others: &[(&str, u64)], steal: u64) -> CpuUsage {
        let of_others = others.iter().map(|(name, millis)| share(CpuConsumer::Other, name, *millis));
        let shares: Vec<ConsumerShare> = of_others
            .chain([share(CpuConsumer::Client, "plumb", 700), share(CpuConsumer::Server, "plumb", 800)])
            .collect();
        let around = AttributedCpu {
            source: AttributionSource::Sampled,
            reason: None,
            elapsed: Nanos::from_secs(1),
            cpus,
            busy: shares.iter().map(|share| share.time).sum(),
            steal: Nanos::from_millis(steal),
            shares,
        };
        CpuUsage { processes: Some(around), ..CpuUsage::default() }
    }

    fn found(usage: &CpuUsage, cpus: &Cpus) -> Option<(u32, Vec<String>)> {
        warning(usage, cpus).map(|warning| match warning {
            ValidityWarning::Disturbed { share, processes } => {
                let names =
                    processes.into_iter().map(|one| one.process.unwrap_or_else(|| "hypervisor".into()));
                ((share * 100.0).round() as u32, names.collect())
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn reports_disturbance_from_5_percent_of_cpu_time() {
        for (usage, wanted) in [
            (second(2, &[("cc1", 300), ("sshd", 15), ("cron", 2)], 0), Some((16, vec!["cc1", "sshd"]))),
            (second(2, &[("cc1", 90)], 0), None),
            (second(2, &[("cc1", 60)], 50), Some((6, vec!["cc1", "hypervisor"]))),
            (CpuUsage::default(), None),
        ] {
            let wanted = wanted.map(|(share, by)| (share, by.into_iter().map(str::to_owned).collect()));
            assert_eq!(found(&usage, &Cpus::FREE), wanted, "{usage:?}");
        }
    }

    #[test]
    fn unpinned_trial_is_undisturbed_if_enough_cpus_are_idle() {
        assert_eq!(found(&second(64, &[("qemu", 10_000)], 0), &Cpus::FREE), None);
        assert!(found(&second(64, &[("qemu", 60_500)], 0), &Cpus::FREE).is_some());
        assert!(found(&second(4, &[("stress", 1_000)], 0), &Cpus::FREE).is_some());
    }

    #[test]
    fn pinned_trial_is_disturbed_only_on_its_cpus() {
        let cpus = Cpus { client: Some(vec![2]), server: Some(vec![3]) };
        let mut usage = second(64, &[("stress", 2_000)], 0);
        let thread = |end: &str, millis| ThreadCpu {
            end: end.into(),
            role: ThreadRole::Send,
            busy: Nanos::from_millis(millis),
            elapsed: Nanos::from_secs(1),
        };
        usage.threads = vec![thread("client", 700), thread("server", 800)];
        let busy = |cpu, millis| CpuTimes { cpu, busy: Nanos::from_millis(millis), ..CpuTimes::default() };
        let machine = |there| MachineCpu {
            cpus: 64,
            elapsed: Nanos::from_secs(1),
            by_cpu: vec![busy(2, 720), busy(3, there), busy(5, 1_000)],
            ..MachineCpu::default()
        };
        usage.machine = machine(820);
        assert_eq!(found(&usage, &cpus), None);
        usage.machine = machine(1_000);
        assert_eq!(found(&usage, &cpus).map(|(share, _)| share), Some(11));
    }
}
