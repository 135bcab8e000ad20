//! Rule `words`: no crate, folder or module has a meaningless name.

use std::path::Path;

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const BANNED: &[&str] = &["util", "utils", "common", "helper", "helpers", "types"];
const ADVICE: &str = "name these after their contents, because a generic name attracts unrelated code";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let packages = workspace.metadata.workspace_packages();
    let names = packages.iter().map(|package| package.name.as_str());
    let mut places: Vec<String> =
        names.filter(|name| is_banned(name)).map(|name| format!("crate {name}")).collect();
    for path in workspace.rust_files() {
        if path_is_banned(path) {
            places.push(path.to_owned());
        }
        let text = workspace.text(path)?.unwrap_or_default();
        let inline = text.lines().filter_map(inline_module).filter(|name| is_banned(name));
        places.extend(inline.map(|name| format!("{path}: mod {name}")));
    }
    Ok(Verdict::broken(ADVICE, places))
}

fn is_banned(name: &str) -> bool {
    BANNED.contains(&name)
}

fn path_is_banned(path: &str) -> bool {
    Path::new(path).with_extension("").iter().any(|part| part.to_str().is_some_and(is_banned))
}

/// Finds an inline module, even if it is `pub` or `pub(crate)`. Skips `mod name;`, because the path of its file is
/// checked.
fn inline_module(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip_while(|word| word.starts_with("pub"));
    (words.next() == Some("mod")).then(|| words.next()).flatten().filter(|_| line.trim_end().ends_with('{'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bans_names_of_files_folders_and_inline_modules() {
        let paths = ["crates/x/src/utils.rs", "tests/common/mod.rs", "crates/helpers/src/lib.rs"];
        assert!(paths.into_iter().all(path_is_banned));
        assert!(!path_is_banned("crates/x/src/common_mode.rs"));
        assert!(inline_module("pub(crate) mod types {").is_some_and(is_banned));
        assert!(inline_module("    mod types {").is_some_and(is_banned));
        assert!(!inline_module("// the mod types {").is_some_and(is_banned));
    }
}
