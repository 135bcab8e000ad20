//! Reports results of other tools. These only have columns.

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
