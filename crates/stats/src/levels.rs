//! Level shifts in a time series.

use crate::{describe, series};

/// Minimum number of values in a level.
pub const FEWEST: usize = 5;
/// Minimum relative size of a jump. Smaller jumps are ignored, even if they are significant.
pub const LEAST_JUMP: f64 = 0.1;

/// Longer series than this are first averaged in groups, so jumps are located less precisely.
const LONGEST: usize = 8192;

/// Upper limit for the correlation of neighbours. Beyond it, the level itself wanders.
const MOST_LIKENESS: f64 = 0.7;
/// Fraction of the steps, starting with the smallest, that are used to estimate the variance.
const KEPT: f64 = 0.85;
/// Mean square of the smallest fraction [`KEPT`] of normal values with variance 1. It is 1 - 2 q f(q) / 0.85, where f
/// is the density and q = 1.4395 is the 92.5th percentile.
const SQUARE_OF_KEPT: f64 = 0.5206;
const MOST_OFF: f64 = 3.0;
/// Variance inflation assumed if most values are equal.
const MOST_INFLATION: f64 = 6.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    pub start: usize,
    pub end: usize,
    pub value: f64,
}

/// Finds changes of the mean by PELT ([`changes`]) after clipping outliers. The penalty is 3 v ln n, where v is the
/// variance of the noise, corrected for autocorrelation and jumps. Then merges neighbouring levels with medians
/// that differ by less than [`LEAST_JUMP`].
pub fn levels(values: &[f64]) -> Option<Vec<Level>> {
    split(values, LEAST_JUMP)
}

pub fn split(values: &[f64], least: f64) -> Option<Vec<Level>> {
    let whole = Level { start: 0, end: values.len(), value: describe::median(values)? };
    if values.len() < 2 * FEWEST {
        return Some(vec![whole]);
    }
    let mut edges = vec![0];
    let size = values.len().div_ceil(LONGEST);
    let grouped = series::grouped(values, LONGEST);
    edges.extend(changes(&clipped(&grouped)?, penalty(&grouped)?, FEWEST)?.iter().map(|edge| edge * size));
    edges.push(values.len());
    let found = edges.windows(2).map(|pair| level(values, pair[0], pair[1])).collect::<Option<Vec<_>>>()?;
    join(values, found, least)
}

pub(crate) fn best_edge(values: &[f64], least: usize) -> usize {
    let sums = Sums::of(values);
    let cost = |edge: &usize| sums.cost(0, *edge) + sums.cost(*edge, values.len());
    let edges = least..=values.len().saturating_sub(least);
    edges.min_by(|one, other| cost(one).total_cmp(&cost(other))).unwrap_or(least)
}

pub(crate) fn penalty(values: &[f64]) -> Option<f64> {
    Some(3.0 * noise(values)? * (values.len() as f64).ln())
}

/// Returns the indices at which the mean changes, minimizing the sum of squares plus `penalty` per change, with at
/// least `least` values per segment. Exact, by PELT (Killick, Fearnhead & Eckley 2012).
pub fn changes(values: &[f64], penalty: f64, least: usize) -> Option<Vec<usize>> {
    if least == 0 || !penalty.is_finite() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let sums = Sums::of(values);
    let n = values.len();
    let mut best = vec![f64::INFINITY; n + 1];
    best[0] = -penalty;
    let mut from = vec![0; n + 1];
    let mut starts: Vec<usize> = Vec::new();
    for end in least..=n {
        starts.push(end - least);
        for &start in &starts {
            let cost = best[start] + sums.cost(start, end) + penalty;
            if cost < best[end] {
                (best[end], from[end]) = (cost, start);
            }
        }
        // A start that already costs more than the best one never becomes the best (theorem 3.1 in the paper).
        starts.retain(|&start| best[start] + sums.cost(start, end) <= best[end]);
    }
    Some(back(&from, n))
}

fn back(from: &[usize], mut end: usize) -> Vec<usize> {
    let mut found = Vec::new();
    while end > 0 {
        end = from[end];
        if end > 0 {
            found.push(end);
        }
    }
    found.reverse();
    found
}

/// Cumulative sums and sums of squares. Subtracting the overall mean first preserves precision.
struct Sums {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Sums {
    fn of(values: &[f64]) -> Self {
        let center = describe::mean(values).unwrap_or(0.0);
        let running = |f: fn(f64) -> f64| -> Vec<f64> {
            let mut total = 0.0;
            let add = |value: &f64| {
                total += f(value - center);
                total
            };
            [0.0].into_iter().chain(values.iter().map(add)).collect()
        };
        Self { values: running(|x| x), squares: running(|x| x * x) }
    }

    fn cost(&self, start: usize, end: usize) -> f64 {
        let sum = self.values[end] - self.values[start];
        let squares = self.squares[end] - self.squares[start];
        (squares - sum * sum / (end - start) as f64).max(0.0)
    }
}

/// Clips values to [`MOST_OFF`] deviations from the median of five neighbours (Hampel identifier; Davies & Gather
/// 1993).
pub(crate) fn clipped(values: &[f64]) -> Option<Vec<f64>> {
    let most = MOST_OFF * (variance_of_steps(values, 1)? / 2.0).sqrt();
    if most == 0.0 {
        return Some(values.to_vec());
    }
    let clip = |at: usize| {
        let middle = describe::median(&values[at.saturating_sub(2)..values.len().min(at + 3)])?;
        Some(values[at].clamp(middle - most, middle + most))
    };
    (0..values.len()).map(clip).collect()
}

/// Estimates the long-run variance of the noise from differences at lags 1 and 2, so that jumps do not affect it. In
/// a first-order autoregression with correlation r and variance s^2, the variance of the differences is 2 s^2 (1 - r)
/// at lag 1. At lag 2, it is 1 + r times as large. The long-run variance is s^2 (1 + r) / (1 - r) (after Chakar et
/// al. 2017).
fn noise(values: &[f64]) -> Option<f64> {
    let (near, far) = (variance_of_steps(values, 1)?, variance_of_steps(values, 2)?);
    if near == 0.0 {
        // Most values are equal. Use the mean square including any jumps.
        let square = values.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum::<f64>();
        return Some(square / (2 * (values.len() - 1)) as f64 * MOST_INFLATION);
    }
    // In short series, the estimated correlation may be too low, and waves would be mistaken for jumps.
    let doubt = 1.5 / (values.len() as f64).sqrt();
    let likeness = (far / near - 1.0 + doubt).clamp(doubt.min(MOST_LIKENESS), MOST_LIKENESS);
    Some(near * (1.0 + likeness) / (2.0 * (1.0 - likeness).powi(2)))
}

/// Mean square of the differences at lag `apart`. The largest differences are left out, because they may be jumps.
fn variance_of_steps(values: &[f64], apart: usize) -> Option<f64> {
    let steps: Vec<f64> = values.iter().zip(&values[apart..]).map(|(a, b)| (b - a).powi(2)).collect();
    let sorted = describe::sorted(&steps)?;
    let kept = &sorted[..((sorted.len() as f64 * KEPT) as usize).max(1)];
    Some(kept.iter().sum::<f64>() / kept.len() as f64 / SQUARE_OF_KEPT)
}

fn level(values: &[f64], start: usize, end: usize) -> Option<Level> {
    Some(Level { start, end, value: describe::median(&values[start..end])? })
}

/// Merges neighbouring levels that differ too little for a jump. Starts with the closest pair, because a merge moves
/// the median. Treats rises and falls equally.
fn join(values: &[f64], mut levels: Vec<Level>, least: f64) -> Option<Vec<Level>> {
    let apart = |pair: &[Level]| {
        let smaller = pair[0].value.abs().min(pair[1].value.abs()).max(f64::MIN_POSITIVE);
        (pair[1].value - pair[0].value).abs() / smaller
    };
    loop {
        let alike = |(_, apart): &(usize, f64)| *apart < least;
        let pairs = levels.windows(2).map(apart).enumerate().filter(alike);
        let Some((at, _)) = pairs.min_by(|(_, one), (_, other)| one.total_cmp(other)) else {
            return Some(levels);
        };
        levels[at] = level(values, levels[at].start, levels[at + 1].end)?;
        levels.remove(at + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    fn noisy(rng: &mut Pcg64Mcg, n: usize, level: f64, noise: f64, carry: f64) -> Vec<f64> {
        let mut error = 0.0;
        let mut one = || {
            error =
                carry * error + (1.0 - carry * carry).sqrt() * normal_quantile(rng.random_range(1e-9..1.0));
            level * (1.0 + noise * error)
        };
        (0..n).map(|_| one()).collect()
    }

    #[test]
    fn finds_jumps_with_position_and_levels() {
        let mut rng = Pcg64Mcg::seed_from_u64(3);
        let mut values = noisy(&mut rng, 40, 12.6, 0.03, 0.0);
        values.extend(noisy(&mut rng, 25, 20.0, 0.03, 0.0));
        values.extend(noisy(&mut rng, 30, 12.6, 0.03, 0.0));
        let found = levels(&values).unwrap();
        let edges: Vec<_> = found.iter().map(|level| (level.start, level.end)).collect();
        assert_eq!(edges, [(0, 40), (40, 65), (65, 95)]);
        for (level, truth) in found.iter().zip([12.6, 20.0, 12.6]) {
            assert!((level.value / truth - 1.0).abs() < 0.02, "{level:?}");
        }
    }

    #[test]
    fn steady_series_rarely_have_jumps() {
        for (noise, carry) in [(0.02, 0.0), (0.1, 0.0), (0.1, 0.5), (0.2, 0.6)] {
            for n in [20, 100, 300] {
                let mut rng = Pcg64Mcg::seed_from_u64(n as u64);
                let jumps = |_: &i32| levels(&noisy(&mut rng, n, 10.0, noise, carry)).unwrap().len() > 1;
                let alarms = (0..200).filter(jumps).count();
                assert!(alarms <= 10, "noise {noise}, carry {carry}, n = {n}: {alarms} of 200");
            }
        }
    }

    #[test]
    fn bursts_are_one_level_but_a_jump_gives_two() {
        let bursts: Vec<f64> = (0..60).map(|at| if at % 10 == 0 { 10.0 } else { 0.0 }).collect();
        assert_eq!(levels(&bursts).unwrap().len(), 1);
        let step = [[5.0; 20], [9.0; 20]].concat();
        assert_eq!(levels(&step).unwrap().len(), 2);
    }

    #[test]
    fn short_or_constant_series_has_one_level() {
        assert_eq!(levels(&[1.0, 9.0]), Some(vec![Level { start: 0, end: 2, value: 5.0 }]));
        assert_eq!(levels(&[5.0; 50]).unwrap().len(), 1);
        assert_eq!((levels(&[]), levels(&[f64::NAN; 20])), (None, None));
    }

    /// Generated with `ruptures` 1.1 by tests/reference/pelt.py.
    #[test]
    fn changes_match_reference_implementation() {
        let table = include_str!("../tests/reference/pelt.tsv");
        let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.len() >= 30);
        for row in rows {
            let fields: Vec<&str> = row.split('\t').collect();
            let numbers =
                |text: &str| -> Vec<f64> { text.split_whitespace().map(|n| n.parse().unwrap()).collect() };
            let (penalty, least) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
            let expected: Vec<usize> = numbers(fields[2]).iter().map(|n| *n as usize).collect();
            assert_eq!(changes(&numbers(fields[3]), penalty, least), Some(expected), "{row}");
        }
    }

    proptest! {
        #[test]
        fn levels_cover_the_series_without_gaps(v in prop::collection::vec(prop::num::f64::ANY, 0..60)) {
            if let Some(found) = levels(&v) {
                prop_assert_eq!((found[0].start, found[found.len() - 1].end), (0, v.len()));
                prop_assert!(found.windows(2).all(|pair| pair[0].end == pair[1].start));
            }
        }
    }
}
