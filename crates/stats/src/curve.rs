//! Finds the knee and the plateau of a curve over ordered levels, and how certain they are.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{
    describe,
    distribution::normal_quantile,
    interval::{self, Estimate},
};

/// Levels on the plateau are at most this fraction below its value.
pub const ALIKE: f64 = 0.05;
/// Assumed minimum relative spread of trials if no level was repeated: half of [`ALIKE`].
pub const ASSUMED_SCATTER: f64 = 0.025;
pub const DRAWS: usize = 1000;

const CONFIDENCE: f64 = 0.95;
const SEED: u64 = 0x6b6e_6565;

#[derive(Debug, Clone, PartialEq)]
pub struct Plateau {
    /// The first level on the plateau, or the last level if the curve is still rising there.
    pub index: usize,
    /// Levels that may be the knee: a contiguous range that includes `index`.
    pub plausible: Vec<usize>,
    /// Median of the trials on the plateau, with an exact interval if there are at least two.
    pub value: Estimate,
    /// The first level after the plateau that is certainly below it.
    pub falls_at: Option<usize>,
}

/// Finds the plateau of a curve, given the trials at each level, in order.
///
/// The plateau's value is the median of the medians within [`ALIKE`] of the best one. A level is on the plateau if
/// its median is less than [`ALIKE`] below this value. The plausible levels are the middle 95 % of the knees in
/// [`DRAWS`] residual bootstrap curves (Davison & Hinkley 1997, section 6.2).
pub fn plateau(levels: &[Vec<f64>]) -> Option<Plateau> {
    let one_each: Vec<Vec<Vec<f64>>> = levels.iter().map(|level| vec![level.clone()]).collect();
    plateau_of_best(&one_each)
}

/// Like [`plateau`], but each level has several settings, and the best one counts. Each bootstrap curve chooses its own
/// best settings.
pub fn plateau_of_best(levels: &[Vec<Vec<f64>>]) -> Option<Plateau> {
    let fits = |value: &f64| value.is_finite() && *value > 0.0;
    if levels.len() < 2 || !levels.iter().flatten().flatten().all(fits) {
        return None;
    }
    let settings = levels
        .iter()
        .map(|level| level.iter().map(|trials| Setting::of(trials)).collect())
        .collect::<Option<Vec<Vec<Setting<'_>>>>>()?;
    let best = settings.iter().map(|level| Setting::best(level)).collect::<Option<Vec<&Setting<'_>>>>()?;
    let medians: Vec<f64> = best.iter().map(|setting| setting.median).collect();
    let bound = bound(&medians)?;
    let (index, last) = (first_on(&medians, bound)?, medians.iter().rposition(|median| *median >= bound)?);
    let draws = Draws::of(&settings, bound)?;
    let on: Vec<f64> = (index..=last)
        .filter(|i| medians[*i] >= bound)
        .flat_map(|i| best[i].trials.iter().copied())
        .collect();
    Some(Plateau {
        index,
        plausible: draws.plausible(index),
        value: interval::median_estimate(&on, CONFIDENCE)?,
        falls_at: (last + 1..levels.len()).find(|level| draws.is_below(*level)),
    })
}

struct Setting<'a> {
    trials: &'a [f64],
    median: f64,
}

impl<'a> Setting<'a> {
    fn of(trials: &'a [f64]) -> Option<Self> {
        Some(Self { trials, median: describe::median(trials)?.ln() })
    }

    fn best(level: &[Self]) -> Option<&Self> {
        level.iter().max_by(|one, other| one.median.total_cmp(&other.median))
    }
}

fn bound(medians: &[f64]) -> Option<f64> {
    let best = medians.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut near: Vec<f64> = medians.iter().copied().filter(|median| *median >= best + alike()).collect();
    Some(middle(&mut near)? + alike())
}

fn middle(values: &mut [f64]) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    describe::quantile_of_sorted(values, 0.5)
}

fn alike() -> f64 {
    (-ALIKE).ln_1p()
}

fn first_on(medians: &[f64], bound: f64) -> Option<usize> {
    medians.iter().position(|median| *median >= bound)
}

struct Draws {
    knees: Vec<usize>,
    below: Vec<usize>,
}

impl Draws {
    fn of(levels: &[Vec<Setting<'_>>], on: f64) -> Option<Self> {
        let residuals = residuals(levels, on);
        let mut random = Pcg64Mcg::seed_from_u64(SEED);
        let mut draws = Self { knees: Vec::with_capacity(DRAWS), below: vec![0; levels.len()] };
        let (mut errors, mut curve) = (Vec::new(), Vec::with_capacity(levels.len()));
        for _ in 0..DRAWS {
            curve.clear();
            for level in levels {
                let mut best = f64::NEG_INFINITY;
                for setting in level {
                    let error = |_: &f64| residuals[random.random_range(0..residuals.len())];
                    errors.clear();
                    errors.extend(setting.trials.iter().map(error));
                    best = best.max(setting.median + middle(&mut errors)?);
                }
                curve.push(best);
            }
            let bound = bound(&curve)?;
            draws.knees.push(first_on(&curve, bound)?);
            for (count, median) in draws.below.iter_mut().zip(&curve) {
                *count += usize::from(*median < bound);
            }
        }
        draws.knees.sort_unstable();
        Some(draws)
    }

    fn plausible(&self, index: usize) -> Vec<usize> {
        let tail = (DRAWS as f64 * (1.0 - CONFIDENCE) / 2.0) as usize;
        let (low, high) = (self.knees[tail], self.knees[DRAWS - 1 - tail]);
        (low.min(index)..=high.max(index)).collect()
    }

    fn is_below(&self, level: usize) -> bool {
        self.below[level] as f64 >= DRAWS as f64 * CONFIDENCE
    }
}

/// Returns the residuals as logarithms, scaled up because the medians were fitted to the same trials. If no level was
/// repeated, uses normal residuals with the spread of the plateau's levels, but at least [`ASSUMED_SCATTER`].
fn residuals(levels: &[Vec<Setting<'_>>], on: f64) -> Vec<f64> {
    let repeated: Vec<f64> = levels
        .iter()
        .flatten()
        .filter(|setting| setting.trials.len() >= 2)
        .flat_map(|setting| {
            let of = setting.trials.len() as f64;
            let wider = (of / (of - 1.0)).sqrt();
            setting.trials.iter().map(move |value| (value.ln() - setting.median) * wider)
        })
        .collect();
    if !repeated.is_empty() {
        return repeated;
    }
    let best = levels.iter().filter_map(|level| Some(Setting::best(level)?.median));
    let plateau: Vec<f64> = best.filter(|median| *median >= on).collect();
    let found = describe::stddev(&plateau).unwrap_or(0.0).max(ASSUMED_SCATTER);
    (0..DRAWS).map(|i| found * normal_quantile((i as f64 + 0.5) / DRAWS as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn about(levels: &[f64]) -> Vec<Vec<f64>> {
        levels.iter().map(|level| [0.98, 1.0, 1.01, 0.99, 1.02].map(|x| x * level).to_vec()).collect()
    }

    #[test]
    fn finds_knee_of_saturating_curve() {
        let got = plateau(&about(&[20.0, 40.0, 60.0, 78.0, 80.0, 79.0])).unwrap();
        assert_eq!((got.index, &*got.plausible, got.falls_at), (3, &[3][..], None));
        let interval = got.value.interval.unwrap();
        assert!(interval.contains(79.0) && interval.high - interval.low < 3.0, "{got:?}");
    }

    #[test]
    fn finds_where_a_curve_falls_again() {
        let got = plateau(&about(&[30.0, 60.0, 80.0, 79.0, 60.0, 50.0])).unwrap();
        assert_eq!((got.index, got.falls_at), (2, Some(4)));
    }

    #[test]
    fn knee_of_a_rising_curve_is_its_end() {
        let got = plateau(&about(&[10.0, 20.0, 40.0, 80.0])).unwrap();
        assert_eq!((got.index, got.falls_at), (3, None));
    }

    #[test]
    fn borderline_level_makes_the_knee_uncertain() {
        let got = plateau(&about(&[30.0, 76.0, 80.0, 80.0])).unwrap();
        assert_eq!(got.plausible, [1, 2]);
    }

    #[test]
    fn chooses_best_setting_in_each_drawn_curve() {
        let several = [about(&[50.0]), about(&[76.5; 8]), about(&[80.0]), about(&[80.0])];
        let as_if_one = several.clone().map(|level| level[0].clone());
        let (got, alone) = (plateau_of_best(&several).unwrap(), plateau(&as_if_one).unwrap());
        assert_eq!((got.index, alone.index), (1, 1));
        // The best of eight draws is usually higher than a single draw, so bootstrap knees are more often at this
        // level.
        assert_eq!((got.plausible, alone.plausible), (vec![1], vec![1, 2]));
        assert_eq!(plateau_of_best(&[vec![], about(&[1.0])]), None);
    }

    #[test]
    fn finds_knee_with_one_trial_per_level() {
        let once: Vec<Vec<f64>> = [28.5, 28.7, 56.2, 66.6, 74.4, 76.4, 77.2].map(|x| vec![x]).to_vec();
        let got = plateau(&once).unwrap();
        assert_eq!((got.index, got.falls_at), (4, None));
        assert!(got.plausible.contains(&5) && !got.plausible.contains(&2), "{got:?}");
    }

    proptest! {
        #[test]
        fn no_input_panics(
            levels in prop::collection::vec(prop::collection::vec(prop::num::f64::ANY, 0..4), 0..4),
        ) {
            if let Some(got) = plateau(&levels) { prop_assert!(got.plausible.contains(&got.index)); }
        }
    }
}
