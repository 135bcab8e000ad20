//! How numbers and names stand in sentences. Computes nothing.

use findings::{Comparison, Interval};
use units::{Confidence, Share, significant};
use workload::Metric;

/// `a`, `a and b`, `a, b and c`; beyond five only the first four and how many more there are.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    const MOST: usize = 5;
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).into(),
        [first @ .., last] if names.len() <= MOST => format!("{} and {last}", first.join(", ")),
        names => format!("{} and {} more", names[..MOST - 1].join(", "), names.len() + 1 - MOST),
    }
}

/// `1 cell`, `3 cells`.
pub(crate) fn count(number: usize, singular: &str) -> String {
    if number == 1 { format!("1 {singular}") } else { format!("{number} {singular}s") }
}

/// ` So it is in 3 cells.` behind a claim that names one of several; nothing behind one of its own.
pub(crate) fn so_in(cells: usize) -> String {
    if cells > 1 { format!(" So it is in {}.", count(cells, "cell")) } else { String::new() }
}

/// `0.31x (0.28 to 0.35, 94 %)`.
pub(crate) fn ratio(comparison: &Comparison) -> String {
    let digits = |value: f64| significant(value, 3);
    let medians = comparison.ratio_of_medians;
    let medians = medians.map(|ratio| format!("; medians {}x", digits(ratio))).unwrap_or_default();
    match comparison.ratio_interval {
        Some(Interval { low, high, confidence }) => format!(
            "{}x ({} to {}, {}{medians})",
            digits(comparison.ratio),
            digits(low),
            digits(high),
            Confidence(confidence)
        ),
        None => format!("{}x (too few trials for an interval{medians})", digits(comparison.ratio)),
    }
}

/// `3.10 %`.
pub(crate) fn percent(share: f64) -> String {
    Share(share).to_string()
}

/// `9.41 Gbit/s` or `49.3 µs`.
pub(crate) fn value(metric: Metric, value: f64) -> String {
    metric.show(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::Difference;

    #[test]
    fn names_are_listed_as_one_would_say_them() {
        for (names, said) in [
            (&["a"][..], "a"),
            (&["a", "b"], "a and b"),
            (&["a", "b", "c", "d", "e"], "a, b, c, d and e"),
            (&["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d and 3 more"),
        ] {
            assert_eq!(list(names), said);
        }
    }

    #[test]
    fn a_ratio_says_what_its_interval_attains() {
        let comparison = Comparison {
            ratio: 0.3123,
            ratio_of_medians: None,
            ratio_interval: Some(Interval { low: 0.28, high: 0.351, confidence: 0.9375 }),
            difference: -1.0,
            difference_interval: None,
            verdict: Difference::Lower,
            basis: findings::Basis::Trials,
        };
        assert_eq!(ratio(&comparison), "0.312x (0.280 to 0.351, 94 %)");
    }
}
