//! Import options set by the user.

use std::collections::BTreeSet;

use crate::markdown::column::means;

/// Import options set by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Headings of table columns to treat as factors.
    pub factors: Vec<String>,
    /// Headings of table columns to treat as values.
    pub metrics: Vec<String>,
}

impl Options {
    /// Named columns that match none of these headings.
    #[must_use]
    pub fn unknown(&self, columns: &BTreeSet<String>) -> Vec<&str> {
        let known = |wanted: &&String| columns.iter().any(|heading| means(wanted, heading));
        let named = self.factors.iter().chain(&self.metrics).filter(|wanted| !known(wanted));
        named.map(String::as_str).collect()
    }
}
