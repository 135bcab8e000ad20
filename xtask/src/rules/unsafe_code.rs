//! Rule `unsafe`: only crates/sys may allow unsafe code, and every package inherits the workspace lints.

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const ROOM: &str = "crates/sys/";
const ADVICE: &str =
    "move unsafe code behind a safe function of `sys`, and keep `[lints] workspace = true` in every package";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let mut places = Vec::new();
    for path in workspace.rust_files().filter(|path| !path.starts_with(ROOM)) {
        let text = workspace.text(path)?.unwrap_or_default();
        let lifted = text.lines().enumerate().filter(|(_, line)| lifts_the_ban(line));
        places.extend(lifted.map(|(at, _)| format!("{path}:{}: lifts the lint `unsafe_code`", at + 1)));
    }
    for path in workspace.files.iter().filter(|path| path.ends_with("/Cargo.toml")) {
        if !workspace.text(path)?.is_some_and(|text| is_under_the_lints(&text)) {
            places.push(format!("{path}: lacks `[lints] workspace = true`"));
        }
    }
    Ok(Verdict::broken(ADVICE, places))
}

fn lifts_the_ban(line: &str) -> bool {
    let line = line.trim_start();
    // If an attribute spans several lines, its lint is on a separate line.
    line.starts_with('#') && line.contains("(unsafe_code") || line.starts_with("unsafe_code,")
}

fn is_under_the_lints(manifest: &str) -> bool {
    let mut lines = manifest.lines().map(str::trim);
    lines.any(|line| line == "[lints]") && lines.next() == Some("workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_attributes_allow_unsafe_code() {
        assert!(lifts_the_ban("#![expect(unsafe_code, reason = \"fast\")]"));
        assert!(lifts_the_ban("    unsafe_code,"));
        assert!(lifts_the_ban("#[cfg_attr(test, allow(unsafe_code))]"));
        assert!(!lifts_the_ban("// see unsafe_code"));
        assert!(!lifts_the_ban("mod unsafe_code;"));
        assert!(!lifts_the_ban("let name = \"unsafe_code\";"));
    }

    #[test]
    fn recognizes_manifests_with_workspace_lints() {
        assert!(is_under_the_lints("[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"));
        assert!(!is_under_the_lints("[package]\nname = \"a\"\n"));
        assert!(!is_under_the_lints("[lints]\nrust.unsafe_code = \"allow\"\n"));
    }
}
