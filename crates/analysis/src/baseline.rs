//! Compares each result with the baseline of its workload.

use findings::Comparison;

use crate::{compare, noise::Noise, observations::Observations};

/// `result` as a share of its workload's baseline; `None` for the baseline itself and where there is none.
pub(crate) fn against(
    result: &Observations<'_>,
    all: &[Observations<'_>],
    noise: &Noise,
) -> Option<Comparison> {
    let workload = &result.record.workload;
    let baseline = all.iter().find(|other| other.record.baseline && other.record.workload == *workload)?;
    if result.record.baseline {
        return None;
    }
    compare::compare(result, baseline, noise.floor(workload))
}
