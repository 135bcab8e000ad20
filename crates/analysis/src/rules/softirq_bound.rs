//! `softirq-bound`: one CPU spends nearly all of its time in softirqs while others are idle.

use std::collections::BTreeMap;

use samples::{AttributedCpu, AttributionSource, CpuConsumer, CpuTimes, MachineCpu, Trial};
use stats::describe;

use super::{
    ethtool::typed_at,
    prelude::*,
    significance::{self, Above},
    tunnel_cost,
};
use crate::{probed, words::number};

pub(crate) const RULE: Rule = Rule::cause("softirq-bound", look);

/// At this utilization, a CPU cannot process more packets. The traffic threads need the remaining CPU time.
const FULL: f64 = 0.8;
/// With fewer idle CPUs, the load cannot be spread.
const IDLE: f64 = 0.5;
/// The placement in which both ends share a CPU on purpose. This CPU is expected to be busy.
const SHARED: &str = "same-cpu";

struct Hottest {
    cpu: u32,
    softirq: f64,
    idle: f64,
}

struct SaturatedCpu<'a> {
    result: &'a ResultSummary,
    cpus: Vec<u32>,
    softirq: Above,
    idle: f64,
    traced: bool,
}

fn look(context: &Context<'_>) -> Vec<Claim> {
    let mut found: Vec<SaturatedCpu<'_>> =
        context.results().filter_map(|(result, measured)| bound(result, measured)).collect();
    found.sort_by(|one, other| {
        other
            .softirq
            .sure
            .cmp(&one.softirq.sure)
            .then(other.softirq.estimate.total_cmp(&one.softirq.estimate))
    });
    found.first().map(|worst| finding(worst, &found)).into_iter().collect()
}

fn bound<'a>(result: &'a ResultSummary, measured: &Observations<'_>) -> Option<SaturatedCpu<'a>> {
    if measured.record.placement == SHARED {
        return None;
    }
    let traced: Vec<Hottest> =
        probed::watched(measured).iter().filter_map(|(_, seen)| hottest_traced(seen.cpu.as_ref()?)).collect();
    let is_traced = !traced.is_empty();
    let trials = if is_traced { traced } else { measured.trials().filter_map(hottest).collect() };
    let softirq = significance::above(&trials.iter().map(|trial| trial.softirq).collect::<Vec<_>>(), FULL)?;
    let idle = describe::median(&trials.iter().map(|trial| trial.idle).collect::<Vec<_>>())?;
    let mut cpus: Vec<u32> =
        trials.iter().filter(|trial| trial.softirq >= FULL).map(|trial| trial.cpu).collect();
    cpus.sort_unstable();
    cpus.dedup();
    (idle >= IDLE).then_some(SaturatedCpu { result, cpus, softirq, idle, traced: is_traced })
}

fn hottest(trial: &Trial) -> Option<Hottest> {
    let MachineCpu { by_cpu, elapsed, .. } = &trial.cpu.machine;
    let share = |time: units::Nanos| time.0 as f64 / elapsed.0.max(1) as f64;
    let hottest: &CpuTimes = by_cpu.iter().max_by_key(|cpu| cpu.softirq)?;
    let others = by_cpu.iter().filter(|cpu| cpu.cpu != hottest.cpu);
    let idle = others.map(|cpu| (1.0 - share(cpu.busy) - share(cpu.steal)).max(0.0)).sum();
    (elapsed.0 > 0).then(|| Hottest { cpu: hottest.cpu, softirq: share(hottest.softirq).min(1.0), idle })
}

/// Uses the exact times of the probe. The probe assigns only softirqs to CPUs, so the rest of this CPU's time may be
/// idle.
fn hottest_traced(attributed: &AttributedCpu) -> Option<Hottest> {
    let is_softirq =
        |consumer: CpuConsumer| matches!(consumer, CpuConsumer::Softirq | CpuConsumer::Ksoftirqd);
    let mut by_cpu: BTreeMap<u32, u64> = BTreeMap::new();
    for share in attributed.shares.iter().filter(|share| is_softirq(share.consumer)) {
        *by_cpu.entry(share.cpu?).or_default() += share.time.0;
    }
    let (cpu, softirq) = by_cpu.into_iter().max_by_key(|(_, time)| *time)?;
    let elapsed = attributed.elapsed.0.max(1) as f64;
    let idle = f64::from(attributed.cpus) - (attributed.busy.0 + attributed.steal.0) as f64 / elapsed;
    (attributed.source == AttributionSource::Traced).then(|| Hottest {
        cpu,
        softirq: (softirq as f64 / elapsed).min(1.0),
        idle: idle.max(0.0),
    })
}

fn finding(worst: &SaturatedCpu<'_>, found: &[SaturatedCpu<'_>]) -> Claim {
    Claim::new(
        Severity::warning_if(worst.softirq.sure),
        phrase!["One CPU processes all packets of ", worst.result],
    )
    .detail(phrase![
        "it spends ",
        percent(worst.softirq.estimate),
        " of its time in softirqs while ",
        number(worst.idle, 2, Unit::Cpus, " CPUs"),
        " are idle",
    ])
    .about(found, |bound| bound.result)
    .affected()
    .with_evidence(found.iter().map(evidence))
    .with_limits([
        "With virtual devices, receive processing runs on the CPU that sent the packet, so the busy CPU is \
             often the sender's. In that case, use more connections to spread the load; more queues do not help.",
        if worst.traced {
            "The times come from probed trials and include the warm-up and the probe's cost."
        } else {
            "CPU times have a resolution of up to 10 ms and include the warm-up."
        },
    ])
    .with_remedy(remedy(worst))
}

fn evidence(bound: &SaturatedCpu<'_>) -> Evidence {
    let cpus: Vec<String> = bound.cpus.iter().map(|cpu| format!("CPU {cpu}")).collect();
    Evidence::new(format!("{} of {}", list(&cpus), bound.result.label))
        .share(bound.softirq.estimate)
        .text(" in softirqs; ")
        .rounded(bound.idle, Unit::Cpus)
        .text(" other CPUs idle on average")
}

fn remedy(worst: &SaturatedCpu<'_>) -> Remedy {
    if tunnel_cost::uses_ipsec(worst.result) {
        return Remedy::manual(
            "Encrypt with several security associations, one per CPU (RFC 9611, Linux 6.13), or with a NIC that has \
             `esp-hw-offload`",
            vec!["ip -s xfrm state".into()],
        )
        .explained("The NIC and RPS see only the outer addresses, so all packets of a tunnel arrive at one CPU.");
    }
    let last = worst.result.devices.last().map_or("DEVICE", |device| device.device.as_str());
    Remedy::manual(
        "Spread receive processing: use more queues if the device has them, \
             otherwise RPS over the idle CPUs (ff is CPUs 0 to 7)",
        vec![
            typed_at(last, |device| format!("ethtool -L {device} combined 4")),
            typed_at(last, |device| format!("echo ff > /sys/class/net/{device}/queues/rx-0/rps_cpus")),
            "cat /proc/softirqs".into(),
        ],
    )
    .explained(
        "Leave receive offload on to reduce the number of packets, and use more \
             connections, since each stays on one CPU.",
    )
}

#[cfg(test)]
pub(super) mod tests {
    use findings::Severity;

    use crate::{
        analyse,
        rules::tests::{Case, made},
    };

    pub(in crate::rules) const CASE: Case = Case {
        triggers: || made::interrupted(920, 200),
        spares: || made::interrupted(920, 900),
        severity: Severity::Warning,
        says: &[
            "92.0 % of its time in softirqs",
            "0.80 CPUs are idle",
            "CPU 0 of vxlan-to-vxlan",
            "rps_cpus",
        ],
        change: None,
    };

    #[test]
    fn ipsec_needs_several_associations() {
        let mut run = made::interrupted(920, 200);
        for path in &mut run.record.header.paths {
            path.layers.iter_mut().filter(|layer| *layer == "vxlan").for_each(|layer| *layer = "esp".into());
        }
        let findings = analyse(&run.record);
        let found = findings.findings.iter().find(|it| it.id == "softirq-bound").expect("found");
        let remedy = found.remedy.as_ref().expect("a remedy");
        assert!(remedy.action.contains("one per CPU"), "{remedy:?}");
    }
}
