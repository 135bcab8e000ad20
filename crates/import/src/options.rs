//! What the user says about the files.

/// What the user says about the files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Columns of tables that are factors, by their headings, whatever they look like.
    pub factors: Vec<String>,
    /// Columns of tables that are values, by their headings.
    pub metrics: Vec<String>,
}
