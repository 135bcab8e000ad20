//! What the user says about the files.

use std::collections::BTreeSet;

use crate::markdown::column::means;

/// What the user says about the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Columns of tables that are factors, by their headings, whatever they look like.
    pub factors: Vec<String>,
    /// Columns of tables that are values, by their headings.
    pub metrics: Vec<String>,
}

impl Options {
    /// The columns that the user named and that no table has, whose headings are these.
    #[must_use]
    pub fn unknown(&self, columns: &BTreeSet<String>) -> Vec<&str> {
        let known = |wanted: &&String| columns.iter().any(|heading| means(wanted, heading));
        let named = self.factors.iter().chain(&self.metrics).filter(|wanted| !known(wanted));
        named.map(String::as_str).collect()
    }
}
