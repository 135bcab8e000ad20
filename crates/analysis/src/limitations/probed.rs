//! Reports missing probe data: lost events and trials without a value.

use findings::Findings;
use samples::ProbeKind;

use crate::{
    observations::Observations,
    words::{count, list},
};

pub(super) fn limitations(measured: &[Observations<'_>], findings: &Findings) -> Vec<String> {
    without_value(measured)
        .into_iter()
        .chain(ProbeKind::ALL.map(|probe| overflowed(probe, findings)).into_iter().flatten())
        .collect()
}

fn without_value(measured: &[Observations<'_>]) -> Option<String> {
    let trials: usize = measured.iter().map(|result| result.unusable_probed).sum();
    let results: Vec<&str> = measured
        .iter()
        .filter(|result| result.unusable_probed > 0)
        .map(|result| result.record.id.as_str())
        .collect();
    (trials > 0).then(|| {
        format!(
            "{} of {} measured nothing; {} probe data is left out.",
            count(trials, "probed trial"),
            list(&results),
            if trials == 1 { "its" } else { "their" }
        )
    })
}

fn overflowed(probe: ProbeKind, findings: &Findings) -> Option<String> {
    let lacks = |result: &&findings::ResultSummary| {
        let mut all = result.probed.iter().flat_map(|probed| &probed.overflowed);
        all.any(|overflow| overflow.probe == probe && overflow.events > 0)
    };
    let results: Vec<&str> = findings.results.iter().filter(lacks).map(|result| result.id.as_str()).collect();
    let what = match probe {
        ProbeKind::Cpu => "CPU attribution",
        ProbeKind::Syscalls => "system calls",
        ProbeKind::PacketWay => "the packet path",
    };
    (!results.is_empty()).then(|| {
        format!(
            "The probe for {what} ran out of space for events of {}, so its numbers there are too low.",
            list(&results)
        )
    })
}
