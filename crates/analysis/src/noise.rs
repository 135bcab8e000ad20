//! Noise floor per workload: the two trials of the baseline in each block, paired and judged like other comparisons.

use std::collections::BTreeMap;

use findings::NoiseFloor;
use stats::{noise, paired};

use crate::{
    compare::CONFIDENCE,
    observations::{self, Observations},
};

/// The noise floors of a run.
#[derive(Debug, Default)]
pub(crate) struct Noise {
    by_workload: BTreeMap<String, (NoiseFloor, stats::NoiseFloor)>,
}

impl Noise {
    /// Noise floors of workloads with enough repetitions of the baseline.
    pub(crate) fn of(measured: &[Observations<'_>]) -> Self {
        let baselines = measured.iter().filter(|result| result.record.baseline);
        let of = |result: &Observations<'_>| Some((result.record.workload.clone(), floor(result, measured)?));
        Self { by_workload: baselines.filter_map(of).collect() }
    }

    /// Every floor, by workload.
    pub(crate) fn floors(&self) -> impl Iterator<Item = &NoiseFloor> {
        self.by_workload.values().map(|(named, _)| named)
    }

    pub(crate) fn floor(&self, workload: &str) -> Option<&stats::NoiseFloor> {
        self.by_workload.get(workload).map(|(_, floor)| floor)
    }
}

/// From the baseline's pairs, and the pairs of other results of the workload with it.
fn floor(
    baseline: &Observations<'_>,
    measured: &[Observations<'_>],
) -> Option<(NoiseFloor, stats::NoiseFloor)> {
    let others = measured.iter().filter(|result| {
        !result.record.baseline
            && result.record.workload == baseline.record.workload
            && result.metric == baseline.metric
    });
    let against = |points| observations::pairs(&baseline.points, points);
    // Where nothing came through there is no ratio.
    let any = |pairs: &Vec<(f64, f64)>| pairs.iter().all(|(one, other)| *one > 0.0 && *other > 0.0);
    let pairs = against(&baseline.again);
    let others = others.map(|result| against(&result.points)).filter(any).collect();
    let floor = noise::of_workload(&pairs, others, CONFIDENCE)?;
    let named = NoiseFloor {
        workload: baseline.record.workload.clone(),
        result: baseline.record.id.clone(),
        floor: floor.relative,
        ratio: paired::ratio(&pairs, floor.scatter, CONFIDENCE)?.value,
        pairs: u32::try_from(floor.pairs).unwrap_or(u32::MAX),
    };
    Some((named, floor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fixtures::{Fixture, egress, stream_of},
        observations::gather,
    };
    use samples::Arm;

    #[test]
    fn each_workload_has_the_floor_of_its_own_baseline() {
        let run = egress(6);
        let noise = Noise::of(&gather(&run.record));
        let floors: Vec<_> =
            noise.floors().map(|floor| (&*floor.workload, &*floor.result, floor.pairs)).collect();
        assert_eq!(
            floors,
            [
                ("bulk", "node-to-node/bulk/underlay-offload=on", 6),
                ("ping", "node-to-node/ping/underlay-offload=on", 6)
            ]
        );
    }

    #[test]
    fn only_blocks_with_both_trials_are_paired() {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        // The repetitions of the first blocks are far off; their partners are missing.
        run.each("plain/bulk", |trial| {
            if trial.arm == Arm::Again && trial.block < 3 {
                trial.measurement = stream_of(9e9);
            }
        });
        run.record.trials.retain(|trial| trial.arm == Arm::Again || trial.block >= 3);
        let noise = Noise::of(&gather(&run.record));
        let floor = noise.floors().next().expect("three pairs remain");
        assert!(floor.pairs == 3 && floor.floor < 0.05, "{floor:?}");
    }

    #[test]
    fn one_burst_of_other_work_moves_a_floor_by_little() {
        let floor = |run: &Fixture| Noise::of(&gather(&run.record)).floors().next().expect("six pairs").floor;
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]).path("tunnel", &["wire", "vxlan"]);
        run.stream("plain", &[], 10e9).stream("tunnel", &[], 9e9);
        let before = floor(&run);
        run.each("plain/bulk", |trial| {
            if trial.block == 2 && trial.arm == Arm::Again {
                trial.measurement = stream_of(3e9);
            }
        });
        assert!(floor(&run) < 1.5 * before, "{before} {}", floor(&run));
    }

    #[test]
    fn one_pair_is_no_floor() {
        assert_eq!(Noise::of(&gather(&egress(1).record)).floors().count(), 0);
    }
}
