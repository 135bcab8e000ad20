//! Finds the candidates that may have the highest value, even from few observations.

use crate::{describe, distribution::student_quantile};

/// Two-sided confidence level of a comparison. It is high because a contest is evaluated repeatedly.
const CONFIDENCE: f64 = 0.99;
/// Prior standard deviation of logarithms.
const ASSUMED_SCATTER: f64 = 0.05;
const ASSUMED_FREEDOM: f64 = 2.0;
/// Weight of the pooled variance, in degrees of freedom.
const SHARED_FREEDOM: f64 = 4.0;

/// Contestants, in the order given to [`Contest::of`]. Higher is better.
#[derive(Debug, Clone, PartialEq)]
pub struct Contest(Vec<Option<Contestant>>);

#[derive(Debug, Clone, Copy, PartialEq)]
struct Contestant {
    mean: f64,
    variance: f64,
    quantile: f64,
}

impl Contest {
    /// Creates a contest from logarithms.
    ///
    /// A contestant's variance is averaged with the pooled variance, weighted by degrees of freedom (Smyth 2004,
    /// section 4, with a fixed prior weight of 4).
    #[must_use]
    pub fn of(series: &[Vec<f64>]) -> Self {
        let squares = series.iter().filter_map(|values| squares(values)).collect::<Vec<_>>();
        let assumed = (ASSUMED_SCATTER * ASSUMED_SCATTER * ASSUMED_FREEDOM, ASSUMED_FREEDOM);
        let (sum, freedom) =
            squares.iter().fold(assumed, |(sum, freedom), (more, of)| (sum + more, freedom + of));
        let shared = sum / freedom;
        Self(series.iter().map(|values| Contestant::of(values, shared)).collect())
    }

    #[must_use]
    pub fn best(&self) -> Option<usize> {
        self.best_of(0..self.0.len())
    }

    #[must_use]
    pub fn best_of(&self, among: impl IntoIterator<Item = usize>) -> Option<usize> {
        let taking_part = among.into_iter().filter_map(|place| Some((place, self.get(place)?.mean)));
        taking_part.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| place)
    }

    #[must_use]
    pub fn is_below(&self, one: usize, other: usize, margin: f64) -> bool {
        let (Some(one), Some(other)) = (self.get(one), self.get(other)) else { return false };
        let variance = one.variance + other.variance;
        // Conservative: Welch-Satterthwaite would give slightly more degrees of freedom and may save trials.
        one.mean - other.mean - margin < -one.quantile.max(other.quantile) * variance.sqrt()
    }

    #[must_use]
    pub fn takes_part(&self, place: usize) -> bool {
        self.get(place).is_some()
    }

    fn get(&self, place: usize) -> Option<&Contestant> {
        self.0.get(place)?.as_ref()
    }
}

impl Contestant {
    fn of(values: &[f64], shared: f64) -> Option<Self> {
        let (squares, own) = squares(values)?;
        let freedom = SHARED_FREEDOM + own;
        let scatter = (shared * SHARED_FREEDOM + squares) / freedom;
        let quantile = student_quantile(CONFIDENCE, freedom)?;
        Some(Self { mean: describe::mean(values)?, variance: scatter / values.len() as f64, quantile })
    }
}

fn squares(values: &[f64]) -> Option<(f64, f64)> {
    let mean = describe::mean(values)?;
    Some((values.iter().map(|value| (value - mean).powi(2)).sum(), values.len() as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    #[test]
    fn only_distant_contestants_are_below() {
        let contest = Contest::of(&[vec![0.0, 0.02], vec![-0.03, 0.0], vec![-0.9, -0.88], vec![]]);
        assert_eq!(contest.best(), Some(0));
        let below = |place| contest.is_below(place, 0, 0.0);
        assert_eq!([below(1), below(2), below(3)], [false, true, false]);
        assert!(contest.is_below(0, 2, 2.0) && !contest.is_below(2, 0, -1.0), "with a margin");
        assert!(!contest.takes_part(3));
    }

    #[test]
    fn single_values_use_assumed_scatter() {
        let contest = Contest::of(&[vec![0.0], vec![-0.1], vec![-1.0]]);
        assert!(!contest.is_below(1, 0, 0.0) && contest.is_below(2, 0, 0.0));
    }

    #[test]
    fn equal_contestants_are_rarely_eliminated() {
        let mut random = Pcg64Mcg::seed_from_u64(31);
        let mut draw = |scatter: f64| scatter * normal_quantile(random.random_range(1e-9..1.0));
        let (mut out, mut all) = (0, 0);
        for _ in 0..200 {
            let series: Vec<Vec<f64>> = (0..20).map(|_| vec![draw(0.03), draw(0.03)]).collect();
            let contest = Contest::of(&series);
            out += (1..20).filter(|place| contest.is_below(*place, 0, 0.0)).count();
            all += 19;
        }
        let share = f64::from(u32::try_from(out).expect("few")) / f64::from(all);
        assert!(share < 0.01, "{share} of comparisons between equals are called a difference");
    }
}
