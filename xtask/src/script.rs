//! Builds the script for report pages with the compiler that `npm ci --prefix tests/browser` installs.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Committed, so that building plumb does not require Node.
pub(crate) const BUILT: &str = "crates/report/script/page.js";
const SOURCE: &str = "crates/report/script";
const COMPILER: &str = "tests/browser/node_modules/.bin/tsc";
pub(crate) const INSTALL: &str = "npm ci --prefix tests/browser";

pub(crate) fn built(root: &Path) -> Result<Option<String>> {
    let compiler = root.join(COMPILER);
    if !compiler.exists() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let made = folder.path().join("page.js");
    let mut tsc = Command::new(compiler);
    tsc.arg("--project").arg(root.join(SOURCE)).arg("--outFile").arg(&made);
    let done = tsc.output().context("start tsc, which needs Node")?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout).trim());
    Ok(Some(fs::read_to_string(made).context("read the output of tsc")?))
}
