//! Adjusts intervals and p-values for multiple comparisons.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Family(usize);

impl Family {
    pub const SINGLE: Self = Self(1);

    #[must_use]
    pub fn of(comparisons: usize) -> Self {
        Self(comparisons.max(1))
    }

    #[must_use]
    pub const fn comparisons(self) -> usize {
        self.0
    }

    /// Returns the confidence that each interval needs so that all hold with confidence `together` (Sidak 1967). If
    /// comparisons share a baseline, all hold more often than that.
    #[must_use]
    pub fn each(self, together: f64) -> f64 {
        together.powf(1.0 / self.0 as f64)
    }
}

/// Adjusts p-values by Benjamini and Hochberg (1995), in the order given.
pub fn benjamini_hochberg(p: &[f64]) -> Option<Vec<f64>> {
    let order = ascending(p)?;
    let mut adjusted = vec![0.0; p.len()];
    let mut most = 1.0f64;
    for (rank, &at) in order.iter().enumerate().rev() {
        most = most.min(p[at] * (p.len() as f64 / (rank + 1) as f64));
        adjusted[at] = most;
    }
    Some(adjusted)
}

fn ascending(p: &[f64]) -> Option<Vec<usize>> {
    if p.iter().any(|p| !(0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Generated with `statsmodels` by tests/reference/multiple.py. R gives the same values.
    #[test]
    fn adjusted_values_match_reference_implementation() {
        let table = include_str!("../tests/reference/multiple.tsv");
        let rows: Vec<&str> = table.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(rows.len() >= 20);
        for row in rows {
            let fields: Vec<Vec<f64>> =
                row.split('\t').map(|f| f.split(' ').map(|n| n.parse().unwrap()).collect()).collect();
            let got = benjamini_hochberg(&fields[0]).unwrap();
            let worst = got.iter().zip(&fields[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-12, "{row}: off by {worst}");
        }
    }

    #[test]
    fn independent_intervals_hold_together_with_the_requested_confidence() {
        for comparisons in [1, 2, 20] {
            let each = Family::of(comparisons).each(0.95);
            assert!((each.powi(comparisons as i32) - 0.95).abs() < 1e-12 && each >= 0.95, "{comparisons}");
        }
        assert_eq!(Family::of(0), Family::SINGLE);
    }

    #[test]
    fn empty_input_gives_empty_and_invalid_input_gives_none() {
        assert_eq!(benjamini_hochberg(&[]), Some(vec![]));
        for bad in [-0.1, 1.1, f64::NAN] {
            assert_eq!(benjamini_hochberg(&[0.5, bad]), None);
        }
    }

    proptest! {
        #[test]
        fn adjustment_only_raises_values_and_preserves_order(p in prop::collection::vec(0.0..=1.0f64, 1..20)) {
            let adjusted = benjamini_hochberg(&p).unwrap();
            for (i, j) in (0..p.len()).zip(1..p.len()) {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                prop_assert!((p[i] <= p[j]) == (adjusted[i] <= adjusted[j]) || adjusted[i] == adjusted[j]);
            }
        }
    }
}
