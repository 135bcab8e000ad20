//! What a report shows of cells that another tool reported: nothing beside their columns.

use super::{Field, KindReport};

pub(super) struct ReportedCell;

impl KindReport for ReportedCell {
    fn column(&self, _: &str) -> Option<String> {
        None
    }

    fn further(&self) -> Vec<Field> {
        Vec::new()
    }
}
