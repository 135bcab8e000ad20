//! Permutation test for a difference between two samples.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::{describe, distribution};

pub const EXACT_UNPAIRED: usize = 60;
pub const DRAWS: usize = 20_000;

const SEED: u64 = 0x706c_756d_6270;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    pub p: f64,
    pub exact: bool,
}

/// The statistic is the sum of the first sample's ranks (Wilcoxon 1945). Tied values share their rank. For up to
/// [`EXACT_UNPAIRED`] values, the test counts all divisions of the ranks into two samples. Beyond that, it uses
/// [`DRAWS`] seeded random divisions and the observed one (Phipson & Smyth 2010). The smallest possible p is 2 / C(n +
/// m, n) for n and m values.
pub fn two_sample(a: &[f64], b: &[f64]) -> Option<Test> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let ranks = doubled_ranks(&all)?;
    let seen: usize = ranks[..a.len()].iter().sum();
    // Twice the mean rank is n + 1.
    let middle = (a.len() * (all.len() + 1)) as f64;
    let distance = (seen as f64 - middle).abs();
    if all.len() <= EXACT_UNPAIRED {
        let p = tail(&distribution::subset_sums(&ranks, a.len()), middle, distance);
        return Some(Test { p, exact: true });
    }
    let mut ranks = ranks;
    let mut random = Pcg64Mcg::seed_from_u64(SEED);
    Some(drawn(distance, || {
        for at in 0..a.len() {
            let other = random.random_range(at..ranks.len());
            ranks.swap(at, other);
        }
        ranks[..a.len()].iter().sum::<usize>() as f64 - middle
    }))
}

/// Ranks are doubled to make tied ranks integers.
fn doubled_ranks(values: &[f64]) -> Option<Vec<usize>> {
    let sorted = describe::sorted(values)?;
    let rank = |value: &f64| {
        // Tied values share the mean of ranks `below + 1` to `up_to`.
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        below + up_to + 1
    };
    Some(values.iter().map(rank).collect())
}

fn tail(chances: &[f64], middle: f64, distance: f64) -> f64 {
    let far = chances.iter().enumerate().filter(|(sum, _)| (*sum as f64 - middle).abs() >= distance);
    far.map(|(_, chance)| chance).sum::<f64>().min(1.0)
}

fn drawn(distance: f64, mut draw: impl FnMut() -> f64) -> Test {
    let as_far = (0..DRAWS).filter(|_| draw().abs() >= distance).count();
    Test { p: (as_far + 1) as f64 / (DRAWS + 1) as f64, exact: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gives_published_values() {
        let apart = two_sample(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0, 7.0]).unwrap();
        assert!((apart.p - 2.0 / 35.0).abs() < 1e-12 && apart.exact);
        assert_eq!(two_sample(&[1.0; 4], &[1.0; 4]).map(|test| test.p), Some(1.0));
    }

    #[test]
    fn random_permutations_agree_with_exact_test() {
        let a: Vec<f64> = (0..31).map(|i| f64::from(i * 7 % 31)).collect();
        let b: Vec<f64> = (0..30).map(|i| f64::from(i * 11 % 31) + 5.3).collect();
        let (drawn, all) = (two_sample(&a, &b).unwrap(), two_sample(&a[1..], &b).unwrap());
        assert!(!drawn.exact && all.exact);
        assert!((drawn.p - all.p).abs() < 0.03, "{} and {}", drawn.p, all.p);
        assert_eq!(two_sample(&a, &b), Some(drawn));
    }

    proptest! {
        #[test]
        fn order_of_samples_does_not_matter(
            a in prop::collection::vec(0..20i32, 1..12), b in prop::collection::vec(0..20i32, 1..12),
        ) {
            let (a, b): (Vec<f64>, Vec<f64>) =
                (a.into_iter().map(f64::from).collect(), b.into_iter().map(f64::from).collect());
            let (one, other) = (two_sample(&a, &b).unwrap(), two_sample(&b, &a).unwrap());
            prop_assert!((one.p - other.p).abs() < 1e-9 && one.p > 0.0);
        }

        #[test]
        fn no_input_panics(
            a in prop::collection::vec(prop::num::f64::ANY, 0..8), b in prop::collection::vec(prop::num::f64::ANY, 0..8),
        ) {
            if let Some(test) = two_sample(&a, &b) { prop_assert!((0.0..=1.0).contains(&test.p)); }
        }
    }
}
