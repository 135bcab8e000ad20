//! Rule `clippy`: the workspace lints pass in all targets.

use anyhow::{Context, Result};

use super::Verdict;
use crate::workspace::Workspace;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let args = ["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
    let status = workspace.cargo(&args).status().context("start cargo clippy")?;
    if status.success() {
        return Ok(Verdict::Held);
    }
    let advice = "fix the lints above, or add `#[expect(lint, reason = \"...\")]`";
    Ok(Verdict::Broken { advice: advice.to_owned(), places: Vec::new() })
}
