//! Which cells cannot be measured because the kernel lacks something that their path needs.

use samples::Skipped;
use scenario::{Cell, Path};
use topology::Missing;

/// Why `cell` on `path` cannot be measured, if it cannot.
pub(crate) fn reason(cell: &Cell, path: &Path, missing: &[Missing]) -> Option<Skipped> {
    let hit =
        missing.iter().find(|missing| missing.devices.iter().any(|device| path.devices.contains(device)))?;
    Some(Skipped { cell: cell.id.to_string(), because: hit.to_string() })
}
