//! A chart's numbers as a table.

use crate::backends::csv_line;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Data {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

pub(crate) type Field = Option<String>;

impl Data {
    pub(crate) fn new(columns: impl IntoIterator<Item = &'static str>) -> Self {
        Self { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    pub(crate) fn push(&mut self, fields: impl IntoIterator<Item = Field>) {
        self.rows.push(fields.into_iter().map(Option::unwrap_or_default).collect());
    }

    pub(crate) fn csv(&self) -> String {
        let head = csv_line(self.columns.iter().map(ToString::to_string));
        [head].into_iter().chain(self.rows.iter().map(|row| csv_line(row.iter().cloned()))).collect()
    }
}
