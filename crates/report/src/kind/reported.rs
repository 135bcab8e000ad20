//! Report of cells from other tools: their columns only.

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
