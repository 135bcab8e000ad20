//! Assigns unique anchors to the parts of a page.

use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Anchors(BTreeMap<String, usize>);

impl Anchors {
    /// Turns `Cost of each layer` into `cost-of-each-layer`. Appends a number to duplicates.
    pub(super) fn of(&mut self, title: &str) -> String {
        let name = Self::first(title);
        let times = self.0.entry(name.clone()).or_default();
        *times += 1;
        if *times > 1 { format!("{name}-{times}") } else { name }
    }

    pub(super) fn first(title: &str) -> String {
        let letters = title
            .chars()
            .map(|sign| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { ' ' });
        let words: String = letters.collect();
        let mut name = words.split_whitespace().collect::<Vec<_>>().join("-");
        if name.is_empty() {
            name.push_str("part");
        }
        name
    }
}
