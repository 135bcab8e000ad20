//! Descriptive statistics. All functions return `None` if the sample is empty, a value is not finite, or the result
//! overflows.

pub fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    Some(v)
}

pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// Type 7 of Hyndman & Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50 (1996), the
/// default in R and NumPy. Returns `None` for `p` outside 0..=1.
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values)?, p)
}

pub(crate) fn quantile_of_sorted(v: &[f64], p: f64) -> Option<f64> {
    if v.is_empty() || !(0.0..=1.0).contains(&p) {
        return None;
    }
    let h = (v.len() - 1) as f64 * p;
    let (below, above) = (v[h.floor() as usize], v[h.ceil() as usize]);
    let part = h - h.floor();
    // `above - below` could overflow.
    let mixed = if part == 0.0 { below } else { below * (1.0 - part) + above * part };
    Some(mixed.clamp(below, above))
}

pub fn mean(values: &[f64]) -> Option<f64> {
    let v = sorted(values)?;
    let mean = v.iter().sum::<f64>() / v.len() as f64;
    mean.is_finite().then(|| mean.clamp(v[0], v[v.len() - 1]))
}

/// The divisor is n - 1. Returns `None` for a single value.
pub fn variance(values: &[f64]) -> Option<f64> {
    let m = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|v| (v - m).powi(2)).sum();
    Some(squares / (values.len() - 1) as f64).filter(|v| v.is_finite())
}

pub fn stddev(values: &[f64]) -> Option<f64> {
    variance(values).map(f64::sqrt)
}

/// Returns `None` for a mean of zero.
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let m = mean(values)?;
    Some(stddev(values)? / m.abs()).filter(|v| v.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gives_published_values() {
        let v = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!((median(&v), mean(&v)), (Some(4.5), Some(5.0)));
        assert!((variance(&v).unwrap() - 32.0 / 7.0).abs() < 1e-12);
        assert!((coefficient_of_variation(&v).unwrap() - (32.0f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), Some(1.75));
    }

    #[test]
    fn empty_or_invalid_input_gives_none() {
        for v in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!((median(v), mean(v), variance(v)), (None, None, None));
        }
        assert_eq!((variance(&[1.0]), coefficient_of_variation(&[-1.0, 1.0])), (None, None));
    }

    proptest! {
        #[test]
        fn no_input_gives_nan(v in prop::collection::vec(prop::num::f64::ANY, 0..12), p in prop::num::f64::ANY) {
            let all = [median(&v), mean(&v), variance(&v), coefficient_of_variation(&v), quantile(&v, p)];
            for x in all.into_iter().flatten() { prop_assert!(x.is_finite()); }
        }
    }
}
