//! Probability distributions for the intervals.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Maximum number of values for the exact signed-rank distribution.
const EXACT_SIGNED_RANK: usize = 100;

/// P(B <= k) for k = 0..=n, where B is binomial(n, 1/2).
pub(crate) fn binomial_half_cdf(n: usize) -> Vec<f64> {
    let mut log_p = -(n as f64) * std::f64::consts::LN_2;
    let mut total = log_p.exp();
    let mut cdf = vec![total];
    for i in 1..=n {
        log_p += (((n - i + 1) as f64) / i as f64).ln();
        total += log_p.exp();
        cdf.push(total.min(1.0));
    }
    cdf
}

/// P(T <= k) for k = 0..=n(n+1)/2, where T is Wilcoxon's signed-rank statistic of n differences that are symmetric
/// about zero. Up to n = 100, counts subsets exactly. Beyond that, uses a normal approximation with continuity
/// correction (Hollander, Wolfe & Chicken, Nonparametric Statistical Methods, 3rd ed. 2014, section 3.1).
pub(crate) fn signed_rank_cdf(n: usize) -> Vec<f64> {
    let top = n * (n + 1) / 2;
    if n > EXACT_SIGNED_RANK {
        let size = n as f64;
        return normal_steps(top, (size * (size + 1.0) * (2.0 * size + 1.0) / 24.0).sqrt());
    }
    cumulate(any_sums(&(1..=n).collect::<Vec<_>>()))
}

pub(crate) fn subset_sums(numbers: &[usize], size: usize) -> Vec<f64> {
    let mut largest = numbers.to_vec();
    largest.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
    let top: usize = largest.iter().take(size).sum();
    // ways[k][s] is the number of ways to choose k numbers with sum s.
    let mut ways = vec![vec![0.0; top + 1]; size + 1];
    ways[0][0] = 1.0;
    for (seen, &number) in numbers.iter().enumerate() {
        // Skip counts that can no longer reach `size`.
        let fewest = (size + seen + 1).saturating_sub(numbers.len()).max(1);
        for chosen in (fewest..=size.min(seen + 1)).rev() {
            let (without, with) = ways.split_at_mut(chosen);
            for (more, count) in with[0].iter_mut().skip(number).zip(&without[chosen - 1]) {
                *more += count;
            }
        }
    }
    let total: f64 = ways[size].iter().sum();
    ways.swap_remove(size).into_iter().map(|count| count / total).collect()
}

/// Returns the distribution of the sum of the numbers if each is included with probability 1/2.
pub(crate) fn any_sums(numbers: &[usize]) -> Vec<f64> {
    let top = numbers.iter().sum();
    let mut chance = vec![0.0; top + 1];
    chance[0] = 1.0;
    for &number in numbers {
        for sum in (0..=top).rev() {
            let with = if sum >= number { chance[sum - number] } else { 0.0 };
            chance[sum] = 0.5 * (chance[sum] + with);
        }
    }
    chance
}

/// Standard normal distribution function (Marsaglia, "Evaluating the Normal Distribution", Journal of Statistical
/// Software 11(4), 2004). Returns 0 or 1 beyond seven standard deviations.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    if x.abs() > 7.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut odd) = (x, x, 1.0);
    while term.abs() > 1e-17 {
        odd += 2.0;
        term *= x * x / odd;
        sum += term;
    }
    let density = (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    (0.5 + sum * density).clamp(0.0, 1.0)
}

pub(crate) fn student_quantile(confidence: f64, freedom: f64) -> Option<f64> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    Some(StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0))
}

pub(crate) fn student_tail(t: f64, freedom: f64) -> f64 {
    let tail = |students: StudentsT| 2.0 * students.cdf(-t.abs());
    StudentsT::new(0.0, 1.0, freedom).ok().map(tail).filter(|p| p.is_finite()).unwrap_or(1.0).clamp(0.0, 1.0)
}

/// Inverts [`normal_cdf`] by bisection, within -7..=7.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    let (mut low, mut high) = (-7.0, 7.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if normal_cdf(middle) < p { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

fn normal_steps(top: usize, deviation: f64) -> Vec<f64> {
    let middle = top as f64 / 2.0;
    (0..=top).map(|k| normal_cdf((k as f64 + 0.5 - middle) / deviation)).collect()
}

fn cumulate(mut p: Vec<f64>) -> Vec<f64> {
    let mut total = 0.0;
    for x in &mut p {
        total += *x;
        *x = total;
    }
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_published_tail_values() {
        for (name, got, want) in [
            ("signed rank n=5 T<=0", signed_rank_cdf(5)[0], 1.0 / 32.0),
            ("signed rank n=6 T<=2", signed_rank_cdf(6)[2], 3.0 / 64.0),
            ("signed rank n=10 T<=8", signed_rank_cdf(10)[8], 25.0 / 1024.0),
            ("normal", normal_cdf(1.959_963_985), 0.975),
            ("normal quantile", normal_quantile(0.975), 1.959_963_985),
        ] {
            assert!((got - want).abs() < 1e-9, "{name}: {got} is not {want}");
        }
    }

    #[test]
    fn exact_and_normal_results_agree_at_the_limit() {
        let exact = signed_rank_cdf(100);
        let normal = normal_steps(5050, (100.0f64 * 101.0 * 201.0 / 24.0).sqrt());
        assert!(exact.iter().zip(&normal).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}
