//! Import options.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The headings of table columns to treat as factors.
    pub factors: Vec<String>,
    /// The headings of table columns to treat as values.
    pub metrics: Vec<String>,
}
