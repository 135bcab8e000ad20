//! The columns of wide tables.

#[derive(Debug)]
pub struct Column<R: ?Sized> {
    pub name: &'static str,
    /// Empty if the values have no unit or the name implies it.
    pub unit: &'static str,
    /// Formats a row's value. `None` if unknown.
    pub of: fn(&R) -> Option<String>,
}

impl<R: ?Sized> Column<R> {
    #[must_use]
    pub const fn new(name: &'static str, unit: &'static str, of: fn(&R) -> Option<String>) -> Self {
        Self { name, unit, of }
    }

    #[must_use]
    pub fn head(&self) -> String {
        if self.unit.is_empty() { self.name.to_owned() } else { format!("{}_{}", self.name, self.unit) }
    }

    pub fn cell(columns: &[Self], head: &str, row: &R) -> Option<String> {
        columns.iter().find(|column| column.head() == head).and_then(|column| (column.of)(row))
    }

    #[must_use]
    pub fn heads(columns: &[Self]) -> Vec<String> {
        columns.iter().map(Self::head).collect()
    }
}
