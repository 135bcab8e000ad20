//! Reports other tools' results, which consist only of columns.

use super::{Field, KindReport};

pub(super) struct ReportedResult;

impl KindReport for ReportedResult {
    fn column(&self, _: &str) -> Option<String> {
        None
    }

    fn further(&self) -> Vec<Field> {
        Vec::new()
    }
}
