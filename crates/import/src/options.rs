//! Import options.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    pub factors: Vec<String>,
    pub metrics: Vec<String>,
}
