//! Line numbers for notes: the first few, and how many more.

use std::{fmt, ops::RangeInclusive};

const NAMED: usize = 3;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Places {
    first: Vec<u64>,
    more: u64,
}

impl Places {
    pub(crate) const NONE: Self = Self { first: Vec::new(), more: 0 };

    pub(crate) fn add(&mut self, line: u64) {
        if self.first.len() < NAMED {
            self.first.push(line);
        } else {
            self.more += 1;
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

pub(crate) fn lines(lines: &RangeInclusive<u64>) -> String {
    let (first, last) = (lines.start(), lines.end());
    if first == last { format!("line {first}") } else { format!("lines {first} to {last}") }
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut named: Vec<String> = self.first.iter().map(u64::to_string).collect();
        if self.more > 0 {
            named.push(format!("{} more", self.more));
        }
        match named.as_slice() {
            [] => f.write_str("no line"),
            [line] => write!(f, "line {line}"),
            [before @ .., last] => write!(f, "lines {} and {last}", before.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_first_lines_and_counts_the_rest() {
        let printed = |lines: &[u64]| {
            let mut places = Places::default();
            lines.iter().for_each(|line| places.add(*line));
            places.to_string()
        };
        assert_eq!(printed(&[7]), "line 7");
        assert_eq!(printed(&[7, 9]), "lines 7 and 9");
        assert_eq!(printed(&[7, 9, 12]), "lines 7, 9 and 12");
        assert_eq!(printed(&[7, 9, 12, 13, 15]), "lines 7, 9, 12 and 2 more");
    }
}
