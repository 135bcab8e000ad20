//! A run between guests: the time of either as its host and as it sees it, with vhost and without, and with nobody watching.

use findings::{
    CellSummary, CpuAttribution, Findings, GuestTime, MachineTimes, OwnerTime, ProbedSummary, RunProbes,
    RunSummary,
};
use samples::{AttributionSource, CpuOwner, ProbeKind};

use super::{cells::stream, nothing, run};

pub(crate) fn machines() -> Findings {
    let cell = |vhost: &str, gbits| {
        let cell = stream("guest-to-guest", None, gbits, None);
        let levels = [("vhost".to_owned(), vhost.to_owned())].into();
        CellSummary { levels, cpu: None, guests: guests(0.5), ..cell }
    };
    let watched = |cell: CellSummary, owners: CpuAttribution| {
        let probed = ProbedSummary { trials: 5, cpu: Some(owners), ..ProbedSummary::default() };
        CellSummary { probed: Some(probed), ..cell }
    };
    Findings {
        run: RunSummary { title: "Two guests on one bridge".into(), ..run() },
        cells: vec![
            watched(cell("off", 3.1), owners(0.62, 0.0)),
            watched(cell("on", 5.2), owners(0.08, 0.47)),
            cell("unwatched", 4.0),
        ],
        probes: RunProbes { ran: vec![ProbeKind::Cpu], ..RunProbes::default() },
        ..nothing()
    }
}

fn guests(busy: f64) -> Vec<GuestTime> {
    let guest =
        |end: &str, busy| GuestTime { end: end.into(), cpus: 2, busy, interrupts: busy / 2.0, steal: 0.0 };
    vec![guest("client", busy), guest("server", busy * 1.25)]
}

fn owners(vmm: f64, vhost: f64) -> CpuAttribution {
    let time = |(owner, cpus): (CpuOwner, f64)| OwnerTime {
        owner,
        cpus,
        share: cpus / 3.0,
        cost: None,
        parts: vec![],
    };
    let all = [
        (CpuOwner::ClientVm, 0.81),
        (CpuOwner::ServerVm, 0.94),
        (CpuOwner::Vmm, vmm),
        (CpuOwner::Vhost, vhost),
        (CpuOwner::Softirq, 0.11),
    ];
    let owned: f64 = all.iter().map(|(_, cpus)| cpus).sum();
    let hypervisor = vmm + vhost + 0.11;
    CpuAttribution {
        source: AttributionSource::Traced,
        because: None,
        cpus: 4,
        busy: owned + 0.01,
        owned,
        unexplained: 0.01,
        unexplained_share: 0.004,
        steal: 0.0,
        work: None,
        busy_cost: None,
        owners: all.into_iter().filter(|(_, cpus)| *cpus > 0.0).map(time).collect(),
        machines: Some(MachineTimes { server: Some(0.94), hypervisor, client: Some(0.81) }),
        guests: guests(0.7),
    }
}
