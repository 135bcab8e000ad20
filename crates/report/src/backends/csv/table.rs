//! A table in which each column has a name, a unit and a value per row.

use super::line;

type Cell<'a, R> = Box<dyn Fn(&R) -> Option<String> + 'a>;

pub(super) struct Table<'a, R> {
    columns: Vec<(String, Cell<'a, R>)>,
}

impl<'a, R> Table<'a, R> {
    pub(super) const fn new() -> Self {
        Self { columns: Vec::new() }
    }

    /// The cell of an unknown value is empty rather than zero.
    pub(super) fn column<T: ToString>(
        mut self,
        name: &str,
        unit: &str,
        of: impl Fn(&R) -> Option<T> + 'a,
    ) -> Self {
        let head = if unit.is_empty() { name.to_owned() } else { format!("{name}_{unit}") };
        self.columns.push((head, Box::new(move |row| of(row).map(|value| value.to_string()))));
        self
    }

    pub(super) fn each<K: Copy + 'a, T: ToString>(
        mut self,
        keys: impl IntoIterator<Item = K>,
        head: impl Fn(K) -> String,
        of: impl Fn(&R, K) -> Option<T> + Copy + 'a,
    ) -> Self {
        for key in keys {
            self = self.column(&head(key), "", move |row| of(row, key));
        }
        self
    }

    pub(super) fn has(&self, head: &str) -> bool {
        self.columns.iter().any(|(known, _)| known == head)
    }

    pub(super) fn write(&self, rows: impl IntoIterator<Item = R>) -> String {
        let head = line(self.columns.iter().map(|(head, _)| head.clone()));
        let row = |row: R| line(self.columns.iter().map(|(_, of)| of(&row).unwrap_or_default()));
        [head].into_iter().chain(rows.into_iter().map(row)).collect()
    }
}
