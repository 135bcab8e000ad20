//! A run between guests, with and without vhost, and without probes. It has the CPU time of each machine according to
//! host and guest.

use findings::{
    ConsumerTime, CpuAttribution, Findings, GuestTime, MachineTimes, ProbedSummary, ResultSummary, RunProbes,
    RunSummary,
};
use samples::{AttributionSource, CpuConsumer, ProbeKind};

use super::{nothing, results::stream, run, verdict};

pub(crate) fn machines() -> Findings {
    let result = |vhost: &str, gbits| {
        let result = stream("guest-to-guest", None, gbits, None);
        let levels = [("vhost".to_owned(), vhost.to_owned())].into();
        ResultSummary { levels, cpu: None, guests: guests(0.5), ..result }
    };
    let watched = |result: ResultSummary, consumers: CpuAttribution| {
        let probed = ProbedSummary { trials: 5, cpu: Some(consumers), ..ProbedSummary::default() };
        ResultSummary { probed: Some(probed), ..result }
    };
    verdict::of_values(Findings {
        run: RunSummary { title: "Two guests on one bridge".into(), ..run() },
        results: vec![
            watched(result("off", 3.1), consumers(0.62, 0.0)),
            watched(result("on", 5.2), consumers(0.08, 0.47)),
            result("unwatched", 4.0),
        ],
        probes: RunProbes { used: vec![ProbeKind::Cpu], ..RunProbes::default() },
        ..nothing()
    })
}

fn guests(busy: f64) -> Vec<GuestTime> {
    let guest =
        |end: &str, busy| GuestTime { end: end.into(), cpus: 2, busy, interrupts: busy / 2.0, steal: 0.0 };
    vec![guest("client", busy), guest("server", busy * 1.25)]
}

fn consumers(vmm: f64, vhost: f64) -> CpuAttribution {
    let time = |(consumer, cpus): (CpuConsumer, f64)| ConsumerTime {
        consumer,
        cpus,
        share: cpus / 3.0,
        cost: None,
        parts: vec![],
    };
    let all = [
        (CpuConsumer::ClientVm, 0.81),
        (CpuConsumer::ServerVm, 0.94),
        (CpuConsumer::Vmm, vmm),
        (CpuConsumer::Vhost, vhost),
        (CpuConsumer::Softirq, 0.11),
    ];
    let attributed: f64 = all.iter().map(|(_, cpus)| cpus).sum();
    let hypervisor = vmm + vhost + 0.11;
    CpuAttribution {
        source: AttributionSource::Traced,
        reason: None,
        cpus: 4,
        busy: attributed + 0.01,
        attributed,
        unexplained: 0.01,
        unexplained_share: 0.004,
        steal: 0.0,
        work: None,
        busy_cost: None,
        consumers: all.into_iter().filter(|(_, cpus)| *cpus > 0.0).map(time).collect(),
        machines: Some(MachineTimes { server: Some(0.94), hypervisor, client: Some(0.81) }),
        guests: guests(0.7),
    }
}
