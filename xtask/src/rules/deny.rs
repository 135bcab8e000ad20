//! Rule `deny`: licences, banned crates and sources of all dependencies are as deny.toml wants them. Must not
//! look at advisories: they change without a change here, and need the network.

use anyhow::{Context, Result};

use super::Verdict;
use crate::house::House;

/// Runs cargo-deny over the locked dependencies.
pub(crate) fn hold(house: &House) -> Result<Verdict> {
    if !house.cargo(&["deny", "--version"]).output().context("start cargo")?.status.success() {
        let advice = "cargo-deny is not installed; `make lint` installs it".to_owned();
        return Ok(Verdict::Broken { advice, places: Vec::new() });
    }
    let args = ["deny", "--color=never", "--locked", "check", "bans", "licenses", "sources"];
    let output = house.cargo(&args).output().context("start cargo deny")?;
    if output.status.success() {
        return Ok(Verdict::Held);
    }
    let advice = "take another crate, or accept this one in deny.toml and say why".to_owned();
    let said = [output.stderr, output.stdout].concat();
    let places = String::from_utf8_lossy(&said).lines().map(str::to_owned).collect();
    Ok(Verdict::Broken { advice, places })
}
