//! Rule `deny`: dependencies meet the requirements of deny.toml. Advisories are not checked, because they appear
//! without a change in this repository.

use std::process::Command;

use anyhow::{Context, Result};

use super::Verdict;
use crate::workspace::Workspace;

const ADVICE: &str = "use another crate, or accept this one in deny.toml with the reason";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    if Command::new("cargo-deny").arg("--version").output().is_err() {
        return Ok(Verdict::Skipped("cargo-deny is missing: `make lint` installs it".to_owned()));
    }
    let check = [
        "deny",
        "--locked",
        "--color=never",
        "check",
        "--hide-inclusion-graph",
        "licenses",
        "bans",
        "sources",
    ];
    let output = workspace.cargo(&check).output().context("start cargo deny")?;
    if output.status.success() {
        return Ok(Verdict::Held);
    }
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    Ok(Verdict::Broken { advice: ADVICE.to_owned(), places: report.lines().map(str::to_owned).collect() })
}
