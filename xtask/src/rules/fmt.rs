//! Rule `fmt`: the code is formatted according to rustfmt.toml.

use anyhow::{Context, Result};

use super::Verdict;
use crate::workspace::Workspace;

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let args = ["fmt", "--all", "--", "--check", "--files-with-diff"];
    let output = workspace.cargo(&args).output().context("start cargo fmt")?;
    if output.status.success() {
        return Ok(Verdict::Held);
    }
    let text = [output.stdout, output.stderr].concat();
    let root = format!("{}/", workspace.root.display());
    let places = String::from_utf8_lossy(&text).lines().map(|line| line.replace(&root, "")).collect();
    Ok(Verdict::Broken { advice: "run `cargo fmt --all`".to_owned(), places })
}
