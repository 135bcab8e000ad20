//! Rule `generated`: generated files are up to date with `plumb`.

use anyhow::Result;

use super::Verdict;
use crate::generate::GENERATED;
use crate::workspace::Workspace;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let plumb = workspace.plumb()?;
    let mut places = Vec::new();
    for file in GENERATED {
        if file.stored_in(&workspace.root) != Some(file.printed_by(&plumb)?) {
            places.push(format!("{} differs from the output of `plumb {}`", file.path, file.verb));
        }
    }
    Ok(Verdict::broken("run `cargo xtask generate`", places))
}
