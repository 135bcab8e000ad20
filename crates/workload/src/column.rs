//! Columns of wide tables: each has a name, a unit and what a row says in it, so that none depends on its place.

/// A column of a table of `R`.
#[derive(Debug)]
pub struct Column<R: ?Sized> {
    /// Without the unit; it does not change.
    pub name: &'static str,
    /// Its unit; empty where it has none, or the name says it.
    pub unit: &'static str,
    /// What a row says in it; `None` is what is not known, and never a zero.
    pub of: fn(&R) -> Option<String>,
}

impl<R: ?Sized> Column<R> {
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str, of: fn(&R) -> Option<String>) -> Self {
        Self { name, unit, of }
    }

    /// What stands above it: `measured_ns`.
    #[must_use]
    pub fn head(&self) -> String {
        if self.unit.is_empty() { self.name.to_owned() } else { format!("{}_{}", self.name, self.unit) }
    }

    /// What a row says in the column with this head; `None` where there is no such column.
    pub fn said(columns: &[Self], head: &str, row: &R) -> Option<String> {
        columns.iter().find(|column| column.head() == head).and_then(|column| (column.of)(row))
    }

    /// What stands above these.
    #[must_use]
    pub fn heads(columns: &[Self]) -> Vec<String> {
        columns.iter().map(Self::head).collect()
    }
}
