//! Compares each cell with the baseline of its workload.

use findings::Comparison;

use crate::{compare, noise::Noise, observations::Observations};

/// `cell` as a share of its workload's baseline; `None` for the baseline itself and where there is none.
pub(crate) fn against(
    cell: &Observations<'_>,
    all: &[Observations<'_>],
    noise: &Noise,
) -> Option<Comparison> {
    let workload = &cell.record.workload;
    let baseline = all.iter().find(|other| other.record.baseline && other.record.workload == *workload)?;
    if cell.record.baseline {
        return None;
    }
    compare::compare(cell, baseline, noise.floor(workload))
}
