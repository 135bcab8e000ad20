//! Formats numbers and names for sentences.

use units::Share;
use workload::Metric;

/// Joins names: `a`, `a and b`, `a, b and c`. If there are more than five, the result contains the first
/// four names and the number of others.
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

pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `1 cell`, `3 cells`.
pub(crate) fn count(number: usize, singular: &str) -> String {
    if number == 1 { format!("1 {singular}") } else { format!("{number} {singular}s") }
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

    #[test]
    fn lists_names_in_words() {
        for (names, expected) in [
            (&["a"][..], "a"),
            (&["a", "b"], "a and b"),
            (&["a", "b", "c", "d", "e"], "a, b, c, d and e"),
            (&["a", "b", "c", "d", "e", "f", "g"], "a, b, c, d and 3 more"),
        ] {
            assert_eq!(list(names), expected);
        }
    }
}
