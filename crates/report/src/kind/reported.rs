//! What a report shows of cells that another tool reported: nothing beside their columns.

use super::{Said, Shown};

/// Of such a cell.
pub(super) struct Reported;

impl Shown for Reported {
    fn column(&self, _: &str) -> Option<String> {
        None
    }

    fn further(&self) -> Vec<Said> {
        Vec::new()
    }
}
