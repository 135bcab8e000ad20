//! Estimates a VM's miss curve as an average under a steady load. The average restarts when the load shifts.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;

/// An estimate is stale after this many intervals without a histogram.
const STALE: u32 = 10;
const FIRST_SCATTER: f64 = 0.1;
const LEAST_SCATTER: f64 = 0.125;
const ASSUMED_STEPS: u32 = 8;
const SCATTER_WEIGHT: f64 = 0.05;

/// The CUSUM test (Page, Biometrika 41, 1954) sums up deviations beyond one standard error. If the sum reaches ten, the
/// load has shifted.
const ALLOWANCE: f64 = 1.0;
const SHIFT: f64 = 10.0;
const MEASURED: f64 = 0.02;

/// Limits the effect of one histogram: only two outliers in a row count as a shift.
const MOST_DEVIATION: f64 = 6.0;
/// The next histogram must confirm a deviation this large.
const OUTLIER: f64 = 3.0;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    curve: Curve,
    seen: u32,
    last: f64,
    /// The variance of log(need) between histograms.
    variance: f64,
    #[serde(default)]
    steady: Option<(f64, u32)>,
    #[serde(default = "many")]
    steps: u32,
    more: f64,
    less: f64,
    age: u32,
    /// The fraction of DRAM that holds the guest's hottest memory.
    placement: Option<f64>,
    #[serde(default)]
    idle: f64,
    #[serde(default)]
    placed: u32,
    #[serde(default)]
    served: [Option<f64>; 2],
}

const fn many() -> u32 {
    u32::MAX
}

impl Estimate {
    /// Shifts are detected in the amount of DRAM needed to serve `target`.
    pub(crate) fn new(first: Curve, target: f64) -> Self {
        let (last, variance) = (first.bytes(target).max(1.0), FIRST_SCATTER * FIRST_SCATTER);
        Self {
            curve: first,
            seen: 1,
            last,
            variance,
            steady: None,
            steps: ASSUMED_STEPS,
            more: 0.0,
            less: 0.0,
            age: 0,
            placement: None,
            idle: 0.0,
            placed: 0,
            served: [None; 2],
        }
    }

    pub(crate) fn learn(&mut self, newest: Curve, target: f64, headroom: f64, smoothing: f64) -> bool {
        self.age = 0;
        self.served = [None, self.served[0]];
        let need = newest.bytes(target).max(1.0);
        let before = (self.variance, self.steps);
        self.learn_scatter(need, headroom);
        let deviation = (need / self.curve.bytes(target).max(1.0)).ln() / self.error(headroom);
        if self.is_shift(deviation) {
            let (variance, steps) = self.steady.unwrap_or(before);
            let Self { placement, idle, .. } = *self;
            *self = Self { variance, steps, placement, idle, ..Self::new(newest, target) };
            return true;
        }
        if deviation.abs() > OUTLIER {
            let _ = self.steady.get_or_insert(before);
        } else {
            self.steady = None;
            self.seen = self.seen.saturating_add(1);
            let weight = (1.0 / f64::from(self.seen)).max(smoothing);
            self.curve = self.curve.averaged(&newest, weight);
        }
        false
    }

    /// Attributes a low hit ratio to idle memory first. If the ratio reaches `target`, the estimated idle memory does
    /// not grow.
    pub(crate) fn learn_placement(
        &mut self,
        bytes: f64,
        served: f64,
        idle: f64,
        target: f64,
        smoothing: f64,
    ) {
        self.placed = self.placed.saturating_add(1);
        self.served[0] = Some(served);
        let weight = (1.0 / f64::from(self.placed)).max(smoothing);
        let beyond = |share: f64| (bytes - self.curve.bytes(share)).max(0.0);
        self.idle = if served < target {
            let newest = idle.min(beyond(served)).min(self.curve.accessed());
            if self.idle > 0.0 { f64::midpoint(self.idle, newest) } else { newest }
        } else {
            self.idle.min(beyond(target))
        };
        if let Some(newest) = self.curve.placement(bytes - self.idle, served) {
            let before = self.placement.unwrap_or(newest);
            self.placement = Some(before + weight * (newest - before));
        }
    }

    pub(crate) fn older(mut self) -> Option<Self> {
        self.age += 1;
        self.served = [None, self.served[0]];
        (self.age <= STALE).then_some(self)
    }

    pub(crate) fn curve(&self) -> Curve {
        self.curve.placed(self.placement.unwrap_or(1.0)).behind(self.idle)
    }

    pub(crate) fn misses(&self, target: f64) -> bool {
        self.served.iter().all(|served| served.is_some_and(|served| served < target * (1.0 - MEASURED)))
    }

    pub(crate) fn uncertainty(&self, headroom: f64, smoothing: f64) -> f64 {
        let averaged = f64::from(self.seen).min((2.0 - smoothing) / smoothing);
        self.scatter(headroom) / averaged.sqrt()
    }

    /// Clips the difference between consecutive histograms, so that drifts and shifts are not mistaken for scatter.
    fn learn_scatter(&mut self, need: f64, headroom: f64) {
        let most = OUTLIER * self.scatter(headroom);
        let step = (need / self.last).ln() / std::f64::consts::SQRT_2;
        self.steps = self.steps.saturating_add(1);
        let weight = (1.0 / f64::from(self.steps)).max(SCATTER_WEIGHT);
        self.variance += weight * (step.clamp(-most, most).powi(2) - self.variance);
        self.last = need;
    }

    fn scatter(&self, headroom: f64) -> f64 {
        self.variance.sqrt().max(LEAST_SCATTER * headroom)
    }

    fn error(&self, headroom: f64) -> f64 {
        self.scatter(headroom) * (1.0 + 1.0 / f64::from(self.seen)).sqrt()
    }

    fn is_shift(&mut self, deviation: f64) -> bool {
        let clipped = deviation.clamp(-MOST_DEVIATION, MOST_DEVIATION);
        self.more = (self.more + clipped - ALLOWANCE).max(0.0);
        self.less = (self.less - clipped - ALLOWANCE).max(0.0);
        self.more >= SHIFT || self.less >= SHIFT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: f64 = (1_u64 << 30) as f64;

    fn learned(sizes: &[f64]) -> f64 {
        let mut estimate = Estimate::new(Curve::uniform(sizes[0] * GIB), 0.9);
        for size in &sizes[1..] {
            estimate.learn(Curve::uniform(size * GIB), 0.9, 0.1, 0.1);
        }
        estimate.curve().bytes(0.9) / 0.9 / GIB
    }

    #[test]
    fn averages_a_steady_load() {
        let noisy: Vec<f64> = (0..60).map(|at| if at % 2 == 0 { 4.2 } else { 3.8 }).collect();
        assert!((learned(&noisy) - 4.0).abs() < 0.08, "{}", learned(&noisy));
    }

    #[test]
    fn second_histogram_confirms_a_shift() {
        let mut sizes = vec![4.0; 20];
        sizes.push(8.0);
        assert!((learned(&sizes) - 4.0).abs() < 0.01);
        sizes.push(8.0);
        assert!((learned(&sizes) - 8.0).abs() < 0.01);
    }

    /// Treating a shift as scatter would make the next shift harder to detect.
    #[test]
    fn shifts_do_not_count_as_scatter() {
        let mut estimate = Estimate::new(Curve::uniform(4.0 * GIB), 0.9);
        let mut shifts = 0;
        for at in 0..80 {
            let size = if (at / 8) % 2 == 0 { 4.0 } else { 8.0 } * (1.0 + 0.02 * f64::from(at % 2));
            shifts += u32::from(estimate.learn(Curve::uniform(size * GIB), 0.9, 0.1, 0.1));
        }
        assert_eq!(shifts, 9);
        assert!(estimate.scatter(0.1) < 0.03, "{}", estimate.scatter(0.1));
    }

    #[test]
    fn ignores_a_single_glitch() {
        let mut sizes = vec![4.0; 20];
        sizes.push(40.0);
        sizes.extend([4.0; 5]);
        assert!((learned(&sizes) - 4.0).abs() < 0.01);
    }

    #[test]
    fn follows_a_slow_drift() {
        let sizes: Vec<f64> = (0..40).map(|at| 4.0 * 1.02_f64.powi(at)).collect();
        assert!(learned(&sizes) / sizes[39] > 0.9, "{}", learned(&sizes) / sizes[39]);
    }

    /// Of the VM's 176 MiB of DRAM, 60 MiB are idle. 112 MiB of the 160 MiB accessed get 97 % of the accesses.
    #[test]
    fn idle_memory_adds_to_the_need() {
        const MIB: f64 = 1_048_576.0;
        let class = |mib: u64, accesses: f64| crate::HeatClass { bytes: units::Bytes(mib << 20), accesses };
        let curve = Curve::of(&[class(112, 97.0), class(48, 3.0)]).expect("has accesses");
        let mut estimate = Estimate::new(curve, 0.96);
        estimate.learn_placement(176.0 * MIB, 0.9, 60.0 * MIB, 0.96, 0.05);
        let estimated = estimate.curve();
        assert!((170.0..210.0).contains(&(estimated.bytes(0.96) / MIB)), "{}", estimated.bytes(0.96) / MIB);
        assert!((estimated.share(176.0 * MIB) - 0.9).abs() < 0.01, "{}", estimated.share(176.0 * MIB));
        // If the target is met, the existing DRAM is enough.
        for _ in 0..5 {
            estimate.learn_placement(150.0 * MIB, 0.97, 16.0 * MIB, 0.96, 0.05);
        }
        assert!(estimate.curve().bytes(0.96) / MIB < 155.0, "{}", estimate.curve().bytes(0.96) / MIB);
    }

    #[test]
    fn estimate_without_histograms_expires() {
        let mut estimate = Some(Estimate::new(Curve::uniform(GIB), 0.9));
        let mut older = || {
            estimate = estimate.take().and_then(Estimate::older);
            estimate.is_some()
        };
        assert_eq!((0..100).take_while(|_| older()).count(), STALE as usize);
    }
}
