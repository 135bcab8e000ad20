//! Product files changed by a commit: the cost of adding a kind. Tests, documents and generated files do not count.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use quote::ToTokens;

use crate::source::Module;

pub(crate) fn touched(root: &Path, commit: &str) -> Result<Vec<String>> {
    let names = git(root, &["diff", "--name-only", "--no-renames", &format!("{commit}^"), commit])?;
    let mut files = Vec::new();
    for file in names.lines().filter(|file| is_code(file)) {
        let [before, after] = [format!("{commit}^"), commit.to_owned()].map(|at| product(root, &at, file));
        if before? != after? {
            files.push(file.to_owned());
        }
    }
    Ok(files)
}

fn is_code(file: &str) -> bool {
    let is_test = file.split('/').any(|part| matches!(part, "tests" | "tests.rs" | "fixtures.rs" | "golden"));
    let is_text = [".md", ".json", ".lock"].iter().any(|ending| file.ends_with(ending));
    !is_test && !is_text && !file.starts_with("docs/") && !file.starts_with("fuzz/corpus/")
}

/// Omits tests; empty if the file does not exist.
fn product(root: &Path, commit: &str, file: &str) -> Result<String> {
    let Ok(text) = git(root, &["show", &format!("{commit}:{file}")]) else { return Ok(String::new()) };
    if !file.ends_with(".rs") {
        return Ok(text);
    }
    let module = Module::parse("", Vec::new(), file, &text)?;
    Ok(module.items.iter().map(|item| item.to_token_stream().to_string()).collect())
}

fn git(root: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git").args(["-c", "safe.directory=*"]).args(args).current_dir(root).output();
    let output = output.context("start git")?;
    let why = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {}", args.join(" "), why.trim());
    String::from_utf8(output.stdout).context("git's output is not UTF-8")
}

#[cfg(test)]
mod tests {
    use super::is_code;

    #[test]
    fn excludes_tests_and_documents() {
        for file in ["crates/lab/src/run.rs", "crates/probe/src/cpu_attribution/tasks.h", "Makefile"] {
            assert!(is_code(file), "{file}");
        }
        for file in ["tests/vm/main.rs", "crates/a/src/b/tests.rs", "docs/guide/lab.md", "CHANGELOG.md"] {
            assert!(!is_code(file), "{file}");
        }
    }
}
