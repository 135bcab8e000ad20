//! Missing probe data: lost events and trials without a value.

use findings::Findings;
use samples::ProbeKind;

use crate::{
    observations::Observations,
    words::{count, list},
};

/// Every caveat that applies.
pub(super) fn caveats(measured: &[Observations<'_>], findings: &Findings) -> Vec<String> {
    without_value(measured)
        .into_iter()
        .chain(ProbeKind::ALL.map(|probe| overflowed(probe, findings)).into_iter().flatten())
        .collect()
}

fn without_value(measured: &[Observations<'_>]) -> Option<String> {
    let trials: usize = measured.iter().map(|cell| cell.unusable_probed).sum();
    let cells: Vec<&str> =
        measured.iter().filter(|cell| cell.unusable_probed > 0).map(|cell| cell.record.id.as_str()).collect();
    (trials > 0).then(|| {
        format!(
            "{} with probes, of {}, measured nothing; probe data of {} is left out.",
            count(trials, "trial"),
            list(&cells),
            if trials == 1 { "it" } else { "them" }
        )
    })
}

fn overflowed(probe: ProbeKind, findings: &Findings) -> Option<String> {
    let lacks = |cell: &&findings::CellSummary| {
        let mut all = cell.probed.iter().flat_map(|probed| &probed.overflowed);
        all.any(|overflow| overflow.probe == probe && overflow.events > 0)
    };
    let cells: Vec<&str> = findings.cells.iter().filter(lacks).map(|cell| cell.id.as_str()).collect();
    let what = match probe {
        ProbeKind::Cpu => "CPU attribution",
        ProbeKind::Syscalls => "system calls",
        ProbeKind::PacketWay => "the packet path",
    };
    (!cells.is_empty()).then(|| {
        format!(
            "The probe for {what} ran out of space for events of {}, so its numbers there are too low.",
            list(&cells)
        )
    })
}
