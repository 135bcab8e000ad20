//! Finds the runs related to a given run.

use samples::{RunId, RunRecord};

use crate::{error::StoreError, listing::RunListing, store::Store};

/// Maximum number of other runs. Older ones may predate changes to the machine.
const MOST_OTHERS: usize = 10;
const REMEDIES: &str = "-remedies";

impl Store {
    /// Returns the newest other runs of A's scenario that `counts` accepts. The store need not contain A and B.
    ///
    /// Skips unreadable runs, because the other runs are only used to refine the noise estimate.
    pub fn others(
        &self,
        a: &RunRecord,
        b: &RunRecord,
        counts: impl Fn(&RunListing) -> bool,
    ) -> Result<Vec<RunRecord>, StoreError> {
        let digest = &a.header.scenario.digest;
        if digest.is_empty() || a.header.origin.imported().is_some() {
            return Ok(Vec::new());
        }
        let listed = self.runs_of(digest)?;
        let others =
            listed.iter().filter(|run| ![&a.header.id, &b.header.id].contains(&&run.id) && counts(run));
        Ok(others.filter_map(|run| self.load(&run.id).ok()).take(MOST_OTHERS).collect())
    }
}

/// Returns the name for a run that tests the remedies recommended by `run`. A number may be appended.
#[must_use]
pub fn remedies_name(run: &RunId) -> String {
    format!("{run}{REMEDIES}")
}

pub fn remedies_parent<'a>(run: &RunId, stored: impl Iterator<Item = &'a RunId>) -> Option<&'a RunId> {
    let is_parent = |other: &&RunId| *other != run && run.0.starts_with(&remedies_name(other));
    stored.filter(is_parent).max_by_key(|other| other.0.len())
}
