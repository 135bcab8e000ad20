//! Rule `links`: the targets of relative links and anchors in Markdown exist.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use anyhow::Result;

use super::Verdict;
use crate::workspace::Workspace;

const ADVICE: &str = "correct these links: the file or the heading does not exist";

pub(crate) fn hold(workspace: &Workspace) -> Result<Verdict> {
    let mut places = Vec::new();
    for path in workspace.files.iter().filter(|path| is_page(path)) {
        let text = workspace.text(path)?.unwrap_or_default();
        for (line, target) in links(&text) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let to = if file.is_empty() { path.clone() } else { resolved(path, file) };
            let found = workspace.root.join(&to);
            let has_anchor = || match std::fs::read_to_string(&found) {
                Ok(text) => anchors(&text).contains(anchor),
                Err(_) => false,
            };
            if !found.exists() || !anchor.is_empty() && is_page(&to) && !has_anchor() {
                places.push(format!("{path}:{line}: {target}"));
            }
        }
    }
    Ok(Verdict::broken(ADVICE, places))
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == "md") && !path.contains("/data/")
}

fn resolved(page: &str, file: &str) -> String {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path.to_string_lossy().into_owned()
}

/// Returns inline links outside of code, with their lines. Links to other sites are skipped.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for part in line.split('`').step_by(2) {
            let targets = part.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            found.extend(targets.filter(|target| !target.contains("://")).map(|target| (number, target)));
        }
    }
    found
}

/// Creates anchors like code hosting sites: in lower case, without punctuation, and with hyphens for spaces.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let name = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = name.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_outside_code_only() {
        let text = "[a](b.md#c) `[x](y.md)` [web](https://a.b/c)\n```\n[d](e.md)\n```\n![f](g.svg)\n";
        assert_eq!(links(text), [(1, "b.md#c"), (5, "g.svg")]);
        assert_eq!(resolved("docs/guide/a.md", "../../README.md"), "README.md");
    }

    #[test]
    fn anchors_are_lower_case_without_punctuation() {
        let found = anchors("# `a-b`: Why, now?\n## Until 2\n");
        assert_eq!(found, ["a-b-why-now", "until-2"].map(str::to_owned).into());
    }
}
