//! Import options set by the user.

/// Import options set by the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Headings of table columns to treat as factors.
    pub factors: Vec<String>,
    /// Headings of table columns to treat as values.
    pub metrics: Vec<String>,
}
