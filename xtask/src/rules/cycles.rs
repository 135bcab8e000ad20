//! Rule `cycles`: limits the number of dependency cycles between a crate's modules. The limit may only decrease.

use anyhow::Result;

use super::Verdict;
use crate::count::circles;
use crate::source::Source;
use crate::workspace::Workspace;

const MOST: usize = 8;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let circles = circles::find(&Source::read(&workspace.root)?);
    let places = if circles.len() == MOST { Vec::new() } else { circles };
    let advice = format!(
        "move what both modules need into a third, lower one; if there are fewer than {MOST} cycles, lower MOST in \
         xtask/src/rules/cycles.rs"
    );
    Ok(Verdict::broken(&advice, places))
}
