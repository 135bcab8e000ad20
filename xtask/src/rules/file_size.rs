//! Rule `file-size`: no Rust file has more than 600 lines.

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const MOST_LINES: usize = 600;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let mut places = Vec::new();
    for path in workspace.rust_files() {
        let lines = workspace.text(path)?.map_or(0, |text| text.lines().count());
        if lines > MOST_LINES {
            places.push(format!("{path}: {lines} lines"));
        }
    }
    Ok(Verdict::broken(&format!("split these by subject; the limit is {MOST_LINES} lines"), places))
}
