//! The estimate of a VM's miss curve over several intervals: an average while the load stays, a new start when it shifts.
//! Must not know other VMs or what DRAM is given.

use serde::{Deserialize, Serialize};

use crate::curve::Curve;

/// Intervals without a histogram after which the estimate is no longer used.
const STALE: u32 = 10;
/// Scatter of the need from one histogram to the next that is assumed before any is known: 10 %.
const FIRST_SCATTER: f64 = 0.1;
/// The scatter is never taken for less than this part of the headroom: what is within it need not be found fast.
const LEAST_SCATTER: f64 = 0.125;
/// What is assumed counts as so many steps,
const ASSUMED_STEPS: u32 = 8;
/// and the newest step never for less than this part of the scatter.
const SCATTER_WEIGHT: f64 = 0.05;

/// Cumulative sums of deviations (Page, Biometrika 41, 1954): a deviation counts from one standard error on, and a sum of
/// ten is a shift.
const ALLOWANCE: f64 = 1.0;
const SHIFT: f64 = 10.0;
/// What a measured share of hits may be off by.
const MEASURED: f64 = 0.02;

/// No single histogram counts for more: a glitch is no shift, two in a row are.
const MOST_DEVIATION: f64 = 6.0;
/// A histogram further off than this waits for the next to say whether it was a glitch.
const OUTLIER: f64 = 3.0;

/// What is believed of a VM's accesses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    curve: Curve,
    /// Histograms in it.
    seen: u32,
    /// What the last histogram alone would need.
    last: f64,
    /// Variance of the logarithm of the need by a single histogram.
    variance: f64,
    /// The same before the load went where the estimate is not, which may be a shift and no scatter.
    #[serde(default)]
    steady: Option<(f64, u32)>,
    /// Steps that the variance is of; of a state that was kept without them many, as it was learned.
    #[serde(default = "many")]
    steps: u32,
    /// Sums of deviations to more and to less.
    more: f64,
    less: f64,
    /// Intervals since the last histogram.
    age: u32,
    /// How well the guest keeps its hottest memory in DRAM, once it was measured.
    placement: Option<f64>,
    /// DRAM that holds what is not accessed and stays, in bytes.
    #[serde(default)]
    idle: f64,
    /// Measurements of that since the load has shifted.
    #[serde(default)]
    placed: u32,
    /// The share that DRAM served, as it was measured in the last interval and the one before.
    #[serde(default)]
    served: [Option<f64>; 2],
}

const fn many() -> u32 {
    u32::MAX
}

impl Estimate {
    /// Of one histogram alone. Shifts are judged by the DRAM that serves `target`.
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

    /// Takes in the newest histogram; whether the load has shifted.
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

    /// Takes in the share that DRAM of this size was measured to serve, `idle` of which holds what is not accessed. That explains first
    /// why it serves less than it could, and only where that is less than `target`: what is cold makes room where hot memory has it.
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
            // Not more than is accessed: a guest that keeps so much cold memory there lacks no DRAM.
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

    /// After an interval without a histogram; `None` after too many.
    pub(crate) fn older(mut self) -> Option<Self> {
        self.age += 1;
        self.served = [None, self.served[0]];
        (self.age <= STALE).then_some(self)
    }

    /// What DRAM serves in this guest.
    pub(crate) fn curve(&self) -> Curve {
        self.curve.placed(self.placement.unwrap_or(1.0)).behind(self.idle)
    }

    /// Whether DRAM was measured twice to serve less than `target`, by more than a measurement may be off.
    pub(crate) fn misses(&self, target: f64) -> bool {
        self.served.iter().all(|served| served.is_some_and(|served| served < target * (1.0 - MEASURED)))
    }

    /// Relative standard error of what the estimate says is needed.
    pub(crate) fn uncertainty(&self, headroom: f64, smoothing: f64) -> f64 {
        let averaged = f64::from(self.seen).min((2.0 - smoothing) / smoothing);
        self.scatter(headroom) / averaged.sqrt()
    }

    /// From the steps between neighbours, so that neither a drift nor, clipped, a shift is taken for scatter.
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

    /// Standard error of a histogram's need about that of the estimate, which has an error of its own.
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
    fn a_steady_load_is_averaged() {
        let noisy: Vec<f64> = (0..60).map(|at| if at % 2 == 0 { 4.2 } else { 3.8 }).collect();
        assert!((learned(&noisy) - 4.0).abs() < 0.08, "{}", learned(&noisy));
    }

    #[test]
    fn a_shift_is_believed_with_the_second_histogram_that_shows_it() {
        let mut sizes = vec![4.0; 20];
        sizes.push(8.0);
        assert!((learned(&sizes) - 4.0).abs() < 0.01);
        sizes.push(8.0);
        assert!((learned(&sizes) - 8.0).abs() < 0.01);
    }

    /// Else each shift would make the next one harder to believe.
    #[test]
    fn shifts_are_no_scatter() {
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
    fn a_single_glitch_leaves_no_trace() {
        let mut sizes = vec![4.0; 20];
        sizes.push(40.0);
        sizes.extend([4.0; 5]);
        assert!((learned(&sizes) - 4.0).abs() < 0.01);
    }

    #[test]
    fn a_slow_drift_is_followed() {
        let sizes: Vec<f64> = (0..40).map(|at| 4.0 * 1.02_f64.powi(at)).collect();
        assert!(learned(&sizes) / sizes[39] > 0.9, "{}", learned(&sizes) / sizes[39]);
    }

    /// 176 MiB, of which 60 hold nothing that is accessed; the hot 112 MiB of 160 have their 97 % of the accesses.
    #[test]
    fn what_holds_nothing_that_is_accessed_is_needed_besides() {
        const MIB: f64 = 1_048_576.0;
        let class = |mib: u64, accesses: f64| crate::HeatClass { bytes: units::Bytes(mib << 20), accesses };
        let curve = Curve::of(&[class(112, 97.0), class(48, 3.0)]).expect("it is accessed");
        let mut estimate = Estimate::new(curve, 0.96);
        estimate.learn_placement(176.0 * MIB, 0.9, 60.0 * MIB, 0.96, 0.05);
        let told = estimate.curve();
        assert!((170.0..210.0).contains(&(told.bytes(0.96) / MIB)), "{}", told.bytes(0.96) / MIB);
        assert!((told.share(176.0 * MIB) - 0.9).abs() < 0.01, "{}", told.share(176.0 * MIB));
        // Where the target is met no more is needed for it than there is.
        for _ in 0..5 {
            estimate.learn_placement(150.0 * MIB, 0.97, 16.0 * MIB, 0.96, 0.05);
        }
        assert!(estimate.curve().bytes(0.96) / MIB < 155.0, "{}", estimate.curve().bytes(0.96) / MIB);
    }

    #[test]
    fn an_estimate_without_histograms_is_given_up() {
        let mut estimate = Some(Estimate::new(Curve::uniform(GIB), 0.9));
        let mut older = || {
            estimate = estimate.take().and_then(Estimate::older);
            estimate.is_some()
        };
        assert_eq!((0..100).take_while(|_| older()).count(), STALE as usize);
    }
}
