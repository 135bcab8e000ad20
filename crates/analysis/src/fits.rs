//! Fits each workload of a run. The fits give all values, noise floors and comparisons.

use findings::{Comparison, Difference, Estimate, NoiseFloor};
use stats::{Family, Fit, Level, fit::BASELINE};

use crate::{
    compare::{self, CONFIDENCE},
    disturbance,
    observations::{self, Observations},
    single_trial,
};

#[derive(Debug)]
pub(crate) struct Fits {
    workloads: Vec<Workload>,
    family: Family,
}

#[derive(Debug)]
struct Workload {
    name: String,
    results: Vec<String>,
    fit: Fit,
    floor: Option<stats::NoiseFloor>,
}

impl Fits {
    pub(crate) fn of(measured: &[Observations<'_>]) -> Self {
        let baselines =
            measured.iter().filter(|result| result.record.baseline && !single_trial::is_imported(result));
        let compared = measured.iter().filter(|result| {
            !result.record.baseline && !single_trial::is_imported(result) && !result.received().is_empty()
        });
        let family = Family::of(compared.count());
        Self {
            workloads: baselines.filter_map(|baseline| Workload::of(baseline, measured, family)).collect(),
            family,
        }
    }

    pub(crate) const fn family(&self) -> Family {
        self.family
    }

    pub(crate) fn floors(&self) -> Vec<NoiseFloor> {
        self.workloads.iter().filter_map(Workload::floor).collect()
    }

    pub(crate) fn floor(&self, workload: &str) -> Option<&stats::NoiseFloor> {
        self.workloads.iter().find(|it| it.name == workload)?.floor.as_ref()
    }

    /// Estimates a single imported trial from its intervals, and any other result from the workload's fit. Without a
    /// fit, uses only the result's trials.
    pub(crate) fn value(&self, result: &Observations<'_>) -> Option<Estimate> {
        if let Some(estimate) = single_trial::estimate(result) {
            return Some(estimate);
        }
        match self.place(result) {
            Some((workload, place)) => {
                compare::of_trials(&result.values(), workload.fit.value(place, CONFIDENCE))
            }
            None => compare::estimate(&result.values()),
        }
    }

    fn level(&self, result: &Observations<'_>) -> Option<Level> {
        match self.place(result) {
            Some((workload, place)) => workload.fit.level(place),
            None => Level::of(&result.values()),
        }
    }

    /// The verdict is unclear if either result is disturbed. Returns `None` if no data arrived in any trial of one of
    /// the results.
    pub(crate) fn compare(&self, this: &Observations<'_>, that: &Observations<'_>) -> Option<Comparison> {
        let comparison = self.judged(this, that)?;
        let is_disturbed = [this, that].into_iter().any(disturbance::is_mostly_disturbed);
        Some(if is_disturbed {
            Comparison { verdict: Difference::Unclear, ..comparison }
        } else {
            comparison
        })
    }

    fn judged(&self, this: &Observations<'_>, that: &Observations<'_>) -> Option<Comparison> {
        if single_trial::is_imported(this) || single_trial::is_imported(that) {
            return single_trial::compare((this, &self.level(this)?), (that, &self.level(that)?));
        }
        let reference = self.level(that)?.estimate(CONFIDENCE)?.value;
        let places = self.place(this).zip(self.place(that));
        if let Some(((own, place), (_, below))) =
            places.filter(|((own, _), (other, _))| own.name == other.name)
        {
            let (ratio, verdict) = own.fit.judge(place, below, CONFIDENCE)?;
            return Some(compare::comparison(&ratio, compare::converted(verdict), reference));
        }
        let ratio = self.level(this)?.ratio(&self.level(that)?, CONFIDENCE)?;
        Some(compare::comparison(&ratio, Difference::Unclear, reference))
    }

    pub(crate) fn of_pairs(&self, workload: &str, pairs: &[(f64, f64)]) -> Option<Comparison> {
        let fit = &self.workloads.iter().find(|it| it.name == workload)?.fit;
        let (ratio, verdict) = fit.of_pairs(pairs, CONFIDENCE)?;
        let reference = compare::estimate(&pairs.iter().map(|(first, _)| *first).collect::<Vec<_>>())?;
        Some(compare::comparison(&ratio, compare::converted(verdict), reference.estimate))
    }

    fn place(&self, result: &Observations<'_>) -> Option<(&Workload, usize)> {
        self.workloads.iter().find_map(|workload| {
            let place = workload.results.iter().position(|id| *id == result.record.id)?;
            workload.fit.level(place).map(|_| (workload, place))
        })
    }
}

impl Workload {
    fn of(baseline: &Observations<'_>, measured: &[Observations<'_>], family: Family) -> Option<Self> {
        let others = measured.iter().filter(|result| {
            result.record.workload == baseline.record.workload
                && result.metric == baseline.metric
                && result.record.id != baseline.record.id
        });
        let results: Vec<&Observations<'_>> = [baseline].into_iter().chain(others).collect();
        let values: Vec<stats::Blocks> = results.iter().map(|result| result.blocks()).collect();
        let fit = Fit::of(&values, &observations::values(&baseline.again), family)?;
        Some(Self {
            name: baseline.record.workload.clone(),
            results: results.iter().map(|result| result.record.id.clone()).collect(),
            floor: fit.floor(CONFIDENCE),
            fit,
        })
    }

    fn floor(&self) -> Option<NoiseFloor> {
        let floor = self.floor?;
        Some(NoiseFloor {
            workload: self.name.clone(),
            result: self.results.get(BASELINE)?.clone(),
            floor: floor.relative,
            ratio: self.fit.again(CONFIDENCE)?.value,
            pairs: u32::try_from(floor.pairs).unwrap_or(u32::MAX),
        })
    }
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
    fn each_workload_has_its_own_noise_floor() {
        let run = egress(6);
        let floors = Fits::of(&gather(&run.record)).floors();
        let floors: Vec<_> =
            floors.iter().map(|floor| (&*floor.workload, &*floor.result, floor.pairs)).collect();
        assert_eq!(
            floors,
            [
                ("bulk", "node-to-node/bulk/underlay-offload=on", 6),
                ("ping", "node-to-node/ping/underlay-offload=on", 6)
            ]
        );
    }

    #[test]
    fn pairs_only_blocks_with_both_trials() {
        let mut run = Fixture::new(6);
        run.path("plain", &["wire"]).stream("plain", &[], 1e9);
        run.each("plain/bulk", |trial| {
            if trial.arm == Arm::Again && trial.block < 3 {
                trial.measurement = stream_of(9e9);
            }
        });
        run.record.trials.retain(|trial| trial.arm == Arm::Again || trial.block >= 3);
        let floors = Fits::of(&gather(&run.record)).floors();
        let floor = floors.first().expect("three pairs remain");
        assert!(floor.pairs == 3 && floor.floor < 0.05, "{floor:?}");
    }

    #[test]
    fn single_disturbance_barely_changes_the_noise_floor() {
        let floor = |run: &Fixture| Fits::of(&gather(&run.record)).floors()[0].floor;
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
    fn single_pair_gives_no_noise_floor() {
        assert_eq!(Fits::of(&gather(&egress(1).record)).floors().len(), 0);
    }
}
