//! Computes p-values for two runs of many cells (docs/methods/comparisons.md).

use crate::{describe, distribution::student_tail, location::LEAST_SCATTER, multiple, permutation};

/// Fraction of the error rate given to Student's test. The rank test gets the remainder.
///
/// If each run has four values, the smallest p of the rank test is 2 in 70. Divided by the remainder, it must stay
/// below 5 %.
pub const STUDENTS_SHARE: f64 = 0.2;

#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    pub a: &'a [f64],
    pub b: &'a [f64],
    /// Cells in the same group, e.g. a workload, should have similar variance.
    pub group: usize,
}

/// Returns the adjusted p-values, in the order given. A cell gets `None` unless it has two values in each run.
///
/// Each cell gets a rank test ([`permutation::two_sample`]) and Student's t-test on logarithms. Each p-value is divided
/// by the test's fraction of the error rate ([`STUDENTS_SHARE`]). [`multiple::benjamini_hochberg`] then adjusts the
/// smaller one. The result is never below the p of the rank test, so four values on each side remain the minimum.
///
/// Student's test uses the cell's own variance or the median of its group, whichever is larger, because a bimodal cell
/// hardly varies if all trials of a run happen to be in one mode.
#[must_use]
pub fn p(cells: &[Cell<'_>]) -> Vec<Option<f64>> {
    let looks: Vec<Option<Look>> = cells.iter().map(Look::of).collect();
    let usual = |group: usize| {
        let own = cells.iter().zip(&looks).filter(|(cell, _)| cell.group == group);
        let variances: Vec<f64> = own.filter_map(|(_, look)| Some(look.as_ref()?.variance)).collect();
        describe::median(&variances).unwrap_or(0.0)
    };
    let raw: Vec<f64> = cells
        .iter()
        .zip(&looks)
        .filter_map(|(cell, look)| Some(look.as_ref()?.p(usual(cell.group))))
        .collect();
    let mut adjusted = multiple::benjamini_hochberg(&raw).unwrap_or(raw).into_iter();
    looks.iter().map(|look| look.as_ref().and_then(|look| Some(adjusted.next()?.max(look.ranks)))).collect()
}

struct Look {
    ranks: f64,
    difference: f64,
    variance: f64,
    freedom: f64,
    share: f64,
}

impl Look {
    fn of(cell: &Cell<'_>) -> Option<Self> {
        let (a, b) = (logs(cell.a)?, logs(cell.b)?);
        let (of_a, of_b) = (a.len() as f64, b.len() as f64);
        let freedom = of_a + of_b - 2.0;
        let squares = (of_a - 1.0) * describe::variance(&a)? + (of_b - 1.0) * describe::variance(&b)?;
        Some(Self {
            ranks: permutation::two_sample(&a, &b)?.p,
            difference: describe::mean(&b)? - describe::mean(&a)?,
            variance: squares / freedom,
            freedom,
            share: of_a.recip() + of_b.recip(),
        })
    }

    fn p(&self, usual: f64) -> f64 {
        let variance = self.variance.max(usual).max(LEAST_SCATTER * LEAST_SCATTER);
        let student = student_tail(self.difference / (variance * self.share).sqrt(), self.freedom);
        (student / STUDENTS_SHARE).min(self.ranks / (1.0 - STUDENTS_SHARE)).min(1.0)
    }
}

fn logs(values: &[f64]) -> Option<Vec<f64>> {
    let fits = values.len() > 1 && values.iter().all(|value| value.is_finite() && *value > 0.0);
    fits.then(|| values.iter().map(|value| value.ln()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::normal_quantile;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    type Runs = Vec<[Vec<f64>; 2]>;
    type Error = fn(&mut Pcg64Mcg) -> f64;

    /// Twenty cells with five values per run. In the second run, the first cell is scaled by `kept`.
    fn twenty(random: &mut Pcg64Mcg, kept: f64, error: Error) -> Runs {
        let mut five = |share: f64| (0..5).map(|_| share * error(random).exp()).collect::<Vec<f64>>();
        (0..20).map(|cell| [five(1.0), five(if cell == 0 { kept } else { 1.0 })]).collect()
    }

    fn judged(runs: &Runs) -> Vec<f64> {
        let cells: Vec<Cell<'_>> = runs.iter().map(|[a, b]| Cell { a, b, group: 0 }).collect();
        p(&cells).into_iter().map(|p| p.expect("five values each")).collect()
    }

    fn normal(random: &mut Pcg64Mcg) -> f64 {
        normal_quantile(random.random_range(1e-9..1.0))
    }

    fn quiet(random: &mut Pcg64Mcg) -> f64 {
        0.005 * normal(random)
    }

    fn skewed(random: &mut Pcg64Mcg) -> f64 {
        0.05 * (0.5 * normal(random)).exp()
    }

    fn disturbed(random: &mut Pcg64Mcg) -> f64 {
        let slow = if random.random_range(0.0..1.0) < 0.1 { -0.36 } else { 0.0 };
        slow + 0.02 * normal(random)
    }

    fn at_bimodal(random: &mut Pcg64Mcg) -> f64 {
        let level = if random.random_range(0.0..1.0) < 0.4 { -0.1 } else { 0.1 };
        level + 0.005 * normal(random)
    }

    #[test]
    fn finds_one_worse_cell_of_twenty_with_five_values() {
        let mut random = Pcg64Mcg::seed_from_u64(0x5eed_2001);
        for scale in [0.5, 0.9, 1.1] {
            let found = judged(&twenty(&mut random, scale, quiet));
            assert!(found[0] < 0.01, "{scale}: {found:?}");
        }
    }

    #[test]
    fn twenty_equal_cells_rarely_raise_an_alarm() {
        let errors: [(&str, Error); 4] =
            [("normal", quiet), ("skewed", skewed), ("disturbed", disturbed), ("at two levels", at_bimodal)];
        for (seed, (kind, error)) in (0x5eed_3001..).zip(errors) {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let alarm = |_: &usize| judged(&twenty(&mut random, 1.0, error)).iter().any(|p| *p <= 0.05);
            let alarms = (0..300).filter(alarm).count();
            assert!(alarms <= 15, "{kind}: {alarms} of 300");
        }
    }

    #[test]
    fn four_values_per_run_are_the_minimum() {
        let runs = |n: usize| [vec![1.0; n], (0..n).map(|at| 0.5 + 1e-3 * at as f64).collect::<Vec<f64>>()];
        let alone = |[a, b]: &[Vec<f64>; 2]| p(&[Cell { a, b, group: 0 }])[0];
        assert!(alone(&runs(3)).is_some_and(|p| p > 0.05) && alone(&runs(4)).is_some_and(|p| p < 0.05));
        assert_eq!((alone(&runs(1)), alone(&[vec![1.0, 0.0], vec![1.0, 2.0]])), (None, None));
    }

    proptest! {
        #[test]
        fn no_input_panics(
            a in prop::collection::vec(prop::num::f64::ANY, 0..6), b in prop::collection::vec(prop::num::f64::ANY, 0..6),
        ) {
            for p in p(&[Cell { a: &a, b: &b, group: 0 }, Cell { a: &b, b: &a, group: 0 }]).into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&p));
            }
        }
    }
}
