//! Rule `generated`: generated files are up to date.

use std::fs;

use anyhow::Result;

use super::Verdict;
use crate::generate::{GENERATED, SUMMARY, summary};
use crate::workspace::Workspace;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let plumb = workspace.plumb()?;
    let mut places = Vec::new();
    for file in GENERATED {
        if file.stored_in(&workspace.root) != Some(file.printed_by(&plumb)?) {
            places.push(format!("{} differs from the output of `plumb {}`", file.path, file.verb));
        }
    }
    if fs::read_to_string(workspace.root.join(SUMMARY))? != summary(&workspace.root)? {
        places.push(format!("{SUMMARY} does not list the pages of docs/findings"));
    }
    Ok(Verdict::broken("run `cargo xtask generate`", places))
}
