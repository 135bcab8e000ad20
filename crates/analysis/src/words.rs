//! Formats numbers and names for sentences.

use findings::{Phrase, Unit, phrase};
use units::Share;
use workload::Metric;

/// Joins names: `a`, `a and b`, `a, b and c`. If there are more than five, lists four of them and the number of
/// others.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    joined(names.iter().map(|name| name.as_ref().into())).to_string()
}

pub(crate) fn list_devices<T: AsRef<str>>(names: &[T]) -> Phrase {
    joined(names.iter().map(|name| Phrase::device(name.as_ref())))
}

fn joined(names: impl ExactSizeIterator<Item = Phrase>) -> Phrase {
    const MOST: usize = 5;
    let all = names.len();
    let shown = if all > MOST { MOST - 1 } else { all };
    let listed = names.take(shown).enumerate().fold(Phrase::default(), |listed, (index, name)| {
        let separator = match index {
            0 => "",
            last if last + 1 == all => " and ",
            _ => ", ",
        };
        phrase![listed, separator, name]
    });
    if shown < all { phrase![listed, format!(" and {} more", all - shown)] } else { listed }
}

pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// `1 trial`, `3 trials`.
pub(crate) fn count(number: impl TryInto<u64>, singular: &str) -> Phrase {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    Phrase::quantity(format!("{number} {singular}{plural}"), number as f64, Unit::Count)
}

pub(crate) fn percent(share: f64) -> Phrase {
    Phrase::quantity(Share(share).to_string(), share, Unit::Share)
}

pub(crate) fn value(metric: Metric, value: f64) -> Phrase {
    Phrase::metric(metric, value)
}

/// A relative change such as `−60.2 %` or `1.69x`.
pub(crate) fn change(ratio: f64) -> Phrase {
    Phrase::quantity(findings::change(ratio), ratio, Unit::Ratio)
}

pub(crate) fn size(bytes: u32) -> Phrase {
    Phrase::quantity(bytes.to_string(), bytes.into(), Unit::Bytes)
}

pub(crate) fn number(value: f64, digits: usize, unit: Unit, word: &str) -> Phrase {
    Phrase::quantity(format!("{}{word}", units::significant(value, digits)), value, unit)
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
