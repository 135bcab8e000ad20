//! Rule `clippy`: no lint of the workspace speaks, in any target. The lints themselves, with the bans on
//! clock, file system, printing and exit outside their crates, are in Cargo.toml and clippy.toml.

use anyhow::{Context, Result};

use super::Verdict;
use crate::workspace::Workspace;

/// Runs clippy; its messages go to the terminal as they come.
pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let args = ["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"];
    let status = workspace.cargo(&args).status().context("start cargo clippy")?;
    if status.success() {
        return Ok(Verdict::Held);
    }
    let advice = "mend what clippy names above, or `#[expect(lint, reason = \"...\")]` it";
    Ok(Verdict::Broken { advice: advice.to_owned(), places: Vec::new() })
}
