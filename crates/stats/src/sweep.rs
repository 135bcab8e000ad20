//! Two runs of many cells: each cell's p, fine enough that one lost cell of many is found with five trials a side, and adjusted
//! so that many cells of equals seldom raise an alarm.

use crate::{describe, distribution::student_tail, location::LEAST_SCATTER, multiple, permutation};

/// The share of the chance of an alarm that Student's test may spend; the ranks have the rest.
///
/// With four values each the least p of the ranks, 2 in 70, must stay below 5 % when divided by what they have.
pub const STUDENTS_SHARE: f64 = 0.2;

/// A cell in two independent runs.
#[derive(Debug, Clone, Copy)]
pub struct Cell<'a> {
    /// The values in the first run.
    pub a: &'a [f64],
    /// The values in the second.
    pub b: &'a [f64],
    /// Cells of one group may be expected to scatter alike, such as those of one workload.
    pub group: usize,
}

/// The adjusted p of each cell, in the order given.
///
/// Ranks alone cannot tell one lost cell of seven or more: the least p of five values each is 2 in 252. So each cell has
/// two tests, the ranks' ([`permutation::two_sample`]) and Student's of the logarithms' means (Biometrika 6, 1908), and its p
/// is the smaller of both, each divided by its share of the chance ([`STUDENTS_SHARE`]). These are adjusted by
/// [`multiple::benjamini_hochberg`]; no cell's p becomes less than that of its ranks, so that four values each remain the
/// least. Student's test takes the larger of the cell's own scatter and the median one of its group: values at two levels
/// scatter by little when all trials of a run happened upon one.
///
/// `None` for a cell without two values in each run, or with one that is not finite and positive.
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

/// What one cell says alone.
struct Look {
    /// The p of its ranks.
    ranks: f64,
    /// Between the means of the logarithms.
    difference: f64,
    /// Of a single logarithm about its run's mean.
    variance: f64,
    /// Degrees of freedom of that.
    freedom: f64,
    /// By how much the variance of the difference is that of a single logarithm.
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

    /// Where cells of its group usually have this variance.
    fn p(&self, usual: f64) -> f64 {
        let variance = self.variance.max(usual).max(LEAST_SCATTER * LEAST_SCATTER);
        let student = student_tail(self.difference / (variance * self.share).sqrt(), self.freedom);
        (student / STUDENTS_SHARE).min(self.ranks / (1.0 - STUDENTS_SHARE)).min(1.0)
    }
}

/// `None` for less than two values, or one that is not finite and positive.
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

    /// Twenty cells of five values a run; `lost` is what the first keeps in the second run.
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
    fn one_lost_cell_of_twenty_is_found_with_five_values_each() {
        let mut random = Pcg64Mcg::seed_from_u64(0x5eed_2001);
        for kept in [0.5, 0.9, 1.1] {
            let found = judged(&twenty(&mut random, kept, quiet));
            assert!(found[0] < 0.01, "{kept}: {found:?}");
        }
    }

    #[test]
    fn twenty_equal_cells_seldom_raise_an_alarm() {
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
    fn fewer_than_four_values_each_never_suffice_and_four_do() {
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
